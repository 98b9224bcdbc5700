"""The sets of runs behind the results, most important first, and the grid file of each.

    python results/sets.py list                             what there is, and how many runs each has
    python results/sets.py grid SET [METHOD] --model URI    a grid file, of all methods of the set or of one
    python results/sets.py jobs SET ...                     a line `SET METHOD` for each, to run them side by side

Grid files belong into results/work, where make.sh puts or links data: spider, bird, distinct (one question for each
reference of Spider dev) and tuning (684 questions of 14 databases of Spider train).
"""

import argparse
import json
from collections.abc import Iterable
from dataclasses import dataclass, replace

PAPER = (
    *("zero_shot", "iterative", "vanilla", "reflexion", "dynamic_rag", "merit", "merit_type_reliability"),
    *("positive_only", "no_type_filter", "no_dense", "no_bm25", "random_same_type", "cross_database_only"),
    "transductive_batch",
)
OURS = ("grounded", "resample", "resample_grounded", "precedent", "precedent_grounded")
PRINCIPAL = ("zero_shot", "iterative", "reflexion", "dynamic_rag", "merit", *OURS)
VOTING = ("zero_shot", *OURS)
PARTS = (
    *("precedents=1", "precedents=2", "precedents=8", "database_bonus=0.0", "dense=false", "lexical=false"),
    *("dense_weight=0.5", "draws=1", "temperature=0.0,draws=1", "temperature=0.6", "temperature=1.0", "history=true"),
)
RELATED = (
    *("self_debugging", "self_refine", "critic", "din_sql", "chase_sql", "dail_sql", "act_sql", "recode"),
    *("memo_sql", "sqlfix_agent", "magic", "expel", "reasoning_bank", "ace", "generative_agents", "memgpt"),
)
SEEDS = (0, 1, 2)
MINILM = "sentence-transformers:sentence-transformers/all-MiniLM-L6-v2"


@dataclass(frozen=True)
class Runs:
    """Runs that one grid file describes: methods over one dataset."""

    data: str
    methods: tuple[str, ...]
    seeds: tuple[int, ...] = SEEDS
    regime: str = "denotation_confirmed"
    distinct: str = "kept"
    prompts: str = "paper"
    small: bool = False  # asks the 0.5B model
    review_shares: tuple[float, ...] = ()

    @property
    def initial(self) -> str:
        """The file of first answers, which sets with the same model and first prompts share."""
        return f"initial/{self.data}-{self.prompts}{'-small' if self.small else ''}.jsonl"

    def grid(self, name: str, model: str, encoder: str, methods: Iterable[str]) -> str:
        """The grid file."""
        own = "wordllama" if self.data == "bundled" or self.review_shares else encoder
        lines = [
            f'out = "runs/{name}"',
            f'model = "{model}"',
            f'encoder = "{own}"',
            f"methods = {json.dumps(list(methods))}",
            f"seeds = {list(self.seeds)}",
            f'regime = "{self.regime}"',
        ]
        if self.review_shares:
            lines += [f"review_shares = {list(self.review_shares)}", 'review = ["corrections", "thumbs"]']
        layout = self.data if self.data in ("bird", "bundled") else "spider"
        lines += ["[[dataset]]", f'name = "{layout}"', f'initial = "{self.initial}"', f'prompts = "{self.prompts}"']
        if self.data != "bundled":
            lines += [f'data = "{self.data}"']
        if self.data in ("distinct", "tuning"):
            lines += [f'label = "spider-{self.data}"']
        if layout != "bird":
            lines += [f'distinct = "{self.distinct}"']
        return "\n".join(lines) + "\n"


def _on(base: Runs, suffix: str = "", benchmarks: tuple[str, ...] = ("spider", "bird", "bundled")) -> dict[str, Runs]:
    """The same runs on several benchmarks; BIRD lacks the four examples of its training split that vanilla shows."""
    without = {"bird": ("vanilla",)}
    return {
        f"{data}{suffix}": replace(
            base, data=data, methods=tuple(m for m in base.methods if m not in without.get(data, ()))
        )
        for data in benchmarks
    }


def _variants(method: str, *changes: str) -> tuple[str, ...]:
    return tuple(f"{method}:{change}" for change in changes)


BASE = Runs("spider", (*PAPER, *OURS))
MAIN = replace(BASE, methods=PRINCIPAL)
LIVE = replace(BASE, methods=VOTING, regime="dbms_only", prompts="live")
REVIEWED = replace(LIVE, methods=("precedent_grounded",), regime="reviewed", review_shares=(0, 0.1, 0.3, 1))
NO_ORACLE = replace(BASE, methods=tuple(m for m in PRINCIPAL if m != "reflexion"), regime="dbms_only")
OUR_PARTS = _variants("precedent_grounded", *PARTS)
LIVE_PARTS = _variants("precedent_grounded", "grounded_vote=1.0", "agreed=0.75", "least_grade=executed")
SETS: dict[str, Runs] = {
    **_on(BASE),
    "spider-dropped": replace(MAIN, distinct="dropped"),
    **_on(LIVE, "-live"),
    **_on(REVIEWED, "-reviewed"),
    "distinct": replace(MAIN, data="distinct"),
    **_on(replace(MAIN, small=True), "-small"),
    **_on(replace(BASE, methods=OUR_PARTS), "-parts", ("spider", "bird")),
    **_on(NO_ORACLE, "-no-oracle"),
    "spider-live-parts": replace(LIVE, methods=LIVE_PARTS),
    "distinct-live": replace(LIVE, data="distinct"),
    "distinct-reviewed": replace(REVIEWED, data="distinct"),
    "tuning": replace(BASE, data="tuning", methods=(*VOTING, *OUR_PARTS), seeds=(0,)),
    "tuning-live": replace(LIVE, data="tuning", seeds=(0,)),
    **_on(replace(BASE, methods=RELATED), "-related", ("spider", "bird")),
}


def listed() -> str:
    """What there is, a line a set."""
    rows = []
    for name, runs in SETS.items():
        shares = 2 * len(runs.review_shares) - 1 if runs.review_shares else 1  # a share of 0 is one run for both kinds
        rows.append(f"{name:20} {len(runs.methods):3} methods {len(runs.methods) * len(runs.seeds) * shares:4} runs")
    return "\n".join(rows)


def main() -> None:
    """Print what is asked for."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=("list", "grid", "jobs"))
    parser.add_argument("names", nargs="*", metavar="SET")
    parser.add_argument("--model", help="the model's URI")
    parser.add_argument("--encoder", default=MINILM, help="for all sets but bundled and reviewed ones")
    given = parser.parse_args()
    names = given.names[:1] if given.what == "grid" else given.names
    if given.what != "list" and (not names or not set(names) <= SETS.keys()):
        parser.error(f"name a set: {', '.join(SETS)}")
    if given.what == "list":
        print(listed())
    elif given.what == "jobs":
        print("\n".join(f"{name} {method}" for name in names for method in SETS[name].methods))
    else:
        if given.model is None:
            parser.error("--model is needed")
        runs = SETS[names[0]]
        if unknown := set(given.names[1:]) - set(runs.methods):
            parser.error(f"{names[0]} has no method {sorted(unknown)[0]}")
        print(runs.grid(names[0], given.model, given.encoder, given.names[1:] or runs.methods), end="")


if __name__ == "__main__":
    main()
