"""Every number of every table, against the same number worked out here from the letters of what happened."""

import math
import statistics
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from making.reports import LEVELS, RUN_METHODS, SEEDS, Letters, course, letters, questions, write_all
from merit.agent import METHODS
from merit.report import Cell, Mark, Report, ReportTable, TokenPrices, build, summary_table
from merit.report.figure import Figure
from merit.report.latex import latex_report
from merit.report.markdown import markdown_report
from merit.report.names import method_label
from merit.runs import stream_order

SIZE = 36
ASKED = questions(SIZE)
ONLINE = [name for name in RUN_METHODS if METHODS[name].online]
LABELS = {name: method_label(METHODS[name]) for name in RUN_METHODS}
PRICES = TokenPrices(0.5, 2.0)
ABLATIONS = ("no_bm25", "positive_only")
TYPES = {"W": "Result mismatch", "C": "Schema linking", "S": "Syntax", "T": "Execution"}


@pytest.fixture(scope="module", params=[1, 2, 3])
def made(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> tuple[Letters, Report]:
    known = letters(SIZE, request.param)
    return known, build(write_all(tmp_path_factory.mktemp("runs"), known, ASKED), PRICES)


def table(report: Report, name: str) -> ReportTable:
    return next(one for one in report.tables if one.id == name)


def row(found: ReportTable, **keys: str) -> dict[str, Cell]:
    rows = [one for one in found.rows if all(one[key].text == text for key, text in keys.items())]
    assert len(rows) == 1, keys
    return dict(rows[0])


def over_seeds(known: Letters, method: str, measure: Callable[[dict[int | str, str]], float]) -> list[float]:
    return [measure(known[method, seed]) for seed in SEEDS]


def accuracy(words: dict[int | str, str]) -> float:
    return 100 * sum(word.endswith("R") for word in words.values()) / len(words)


def initial(words: dict[int | str, str]) -> float:
    return 100 * sum(word.startswith("R") for word in words.values()) / len(words)


def leaders(values: dict[str, str], *, low: bool = False) -> dict[str, Mark | None]:
    """Best and second by what is printed; nobody where all are alike."""
    ranked = sorted({float(text.split()[0]) for text in values.values()}, reverse=not low)
    marks = dict(zip(ranked, (Mark.BEST, Mark.SECOND), strict=False)) if len(ranked) > 1 else {}
    return {name: marks.get(float(text.split()[0])) for name, text in values.items()}


def test_every_table_and_figure_is_there(made: tuple[Letters, Report]) -> None:
    _, report = made
    assert [one.id for one in report.tables] == [
        "main", "paired", "mcnemar", "repair", "cost", "ablation", "failures", "by_database", "by_failure",
        "by_difficulty", "learning", "steps", "memory", "by_similarity",
    ]  # fmt: skip
    assert [one.id for one in report.figures] == [
        "accuracy", "paired", "frontier-spider", "learning-spider", "steps-spider",
    ]  # fmt: skip
    assert (report.notes, report.refused) == ((), ())
    for one in report.tables:
        for said in (
            "n = 36",
            "model qwen (r1)",
            "encoder wordllama (e1)",
            "protocol suite, DISTINCT kept",
            "seeds 0, 1, 2",
        ):
            assert said in one.note, (one.id, said)
        assert all(set(found) == {column.key for column in one.columns} for found in one.rows), one.id


def test_accuracy(made: tuple[Letters, Report]) -> None:
    known, report = made
    found = table(report, "main")
    assert [one["method"].text for one in found.rows] == [LABELS[n] for n in RUN_METHODS if n not in ABLATIONS]
    printed = {}
    for name in RUN_METHODS:
        if name not in ABLATIONS:
            one = row(found, method=LABELS[name])
            values = over_seeds(known, name, accuracy)
            mean, std = statistics.mean(values), statistics.stdev(values)
            assert one["accuracy"].value == pytest.approx(mean, abs=1e-6)
            assert one["accuracy"].text == f"{mean:.2f} ± {std:.2f}"
            assert one["std"].value == pytest.approx(std, abs=1e-6)
            first = initial(known[name, 0])
            assert one["initial"].text == f"{first:.2f}"
            assert one["gain"].value == pytest.approx(mean - first, abs=1e-6)
            assert one["gain"].text == (f"{mean - first:+.2f}" if f"{mean - first:.2f}" != "0.00" else "0.00")
            printed[name] = one["accuracy"].text
            if not METHODS[name].online:
                assert one["accuracy"].mark is None
    expected = leaders({name: text for name, text in printed.items() if METHODS[name].online})
    assert {name: row(found, method=LABELS[name])["accuracy"].mark for name in expected} == expected
    assert LABELS["transductive_batch"] == "Transductive batch (not online)"


def test_ablations(made: tuple[Letters, Report]) -> None:
    known, report = made
    found = table(report, "ablation")
    full = statistics.mean(over_seeds(known, "merit", accuracy))
    assert [one["method"].text for one in found.rows] == ["MERIT Full", "Positive only", "No BM25"]
    assert row(found, method="MERIT Full")["delta"].text == "--"
    for name in ABLATIONS:
        values = over_seeds(known, name, accuracy)
        one = row(found, method=LABELS[name])
        assert one["accuracy"].text == f"{statistics.mean(values):.2f} ± {statistics.stdev(values):.2f}"
        assert one["delta"].value == pytest.approx(statistics.mean(values) - full, abs=1e-6)
    printed = {one["method"].text: one["accuracy"].text for one in found.rows}
    assert {one["method"].text: one["accuracy"].mark for one in found.rows} == leaders(printed)


def differences(known: Letters, other: str) -> list[float]:
    return [
        100 * sum(known[other, s][q].endswith("R") - known["merit", s][q].endswith("R") for s in SEEDS) / len(SEEDS)
        for q in range(SIZE)
    ]


def test_paired_comparison(made: tuple[Letters, Report]) -> None:
    known, report = made
    found = table(report, "paired")
    others = [name for name in METHODS if name in RUN_METHODS and name != "merit"]
    assert [one["method"].text for one in found.rows] == [LABELS[name] for name in others]
    assert {one["comparison"].text for one in found.rows} == {"MERIT"}
    assert "95% percentile intervals of 10,000 resamples" in found.note
    for name in others:
        values = differences(known, name)
        one = row(found, method=LABELS[name])
        assert one["delta"].value == pytest.approx(statistics.mean(values), abs=1e-6)
        generator = np.random.default_rng(0)
        means = [np.array(values)[generator.integers(0, SIZE, SIZE)].mean() for _ in range(10_000)]
        low, high = np.percentile(means, [2.5, 97.5])
        assert (one["low"].value, one["high"].value) == pytest.approx((low, high), abs=1e-6)
        assert one["interval"].text == f"[{one['low'].text}, {one['high'].text}]"
        assert one["wins"].value == sum(value > 0 for value in values)
        assert one["losses"].value == sum(value < 0 for value in values)
        assert one["ties"].value == sum(value == 0 for value in values)
        assert (one["questions"].value, one["seeds"].text) == (SIZE, "0 1 2")


def test_delta_means_one_thing_wherever_it_stands(made: tuple[Letters, Report]) -> None:
    """The terminal's table, the paired one and the ablations: the row's method minus MERIT, the same number."""
    _, report = made
    summary, paired, ablation = (
        summary_table(report.groups, "merit"),
        table(report, "paired"),
        table(report, "ablation"),
    )
    for one in paired.rows:
        assert one["comparison"].text == "MERIT"
        same = row(summary, method=one["method"].text)["delta"]
        assert (same.value, same.text) == (one["delta"].value, f"{one['delta'].text} {one['interval'].text}")
    for name in ABLATIONS:
        ablated, other = row(ablation, method=LABELS[name])["delta"], row(paired, method=LABELS[name])["delta"]
        assert ablated.text == other.text
    delta = "minus that of {}, in percentage points (pp)"
    for found, base in ((summary, "MERIT"), (paired, "MERIT"), (ablation, "MERIT Full")):
        assert delta.format(base) in found.note
        assert "above zero, the row's method is right more often" in found.note
    labels = [column.label for found in (summary, *report.tables) for column in found.columns if "Δ" in column.label]
    assert set(labels) <= {"Δ pp", "Δ pp to MERIT [95% CI]"}  # nothing else is called so
    assert "Δ" not in "".join(column.label for column in table(report, "main").columns)


def test_figures_stand_under_the_tables_they_draw(made: tuple[Letters, Report]) -> None:
    _, report = made
    names = [("figure " if isinstance(one, Figure) else "") + one.id for one in report.blocks]
    for above, figure in (
        ("main", "accuracy"), ("paired", "paired"), ("repair", "frontier-spider"), ("learning", "learning-spider"),
        ("steps", "steps-spider"),
    ):  # fmt: skip
        assert names[names.index(above) + 1] == f"figure {figure}"
    assert len(names) == len(set(names)) == len(report.tables) + len(report.figures)
    text = markdown_report(report, "figures")
    assert text.index("figures/accuracy.svg") < text.index("## Paired comparison with MERIT")
    assert latex_report(report, "t", "f").index("f/accuracy.png") < latex_report(report, "t", "f").index("t/paired.tex")


def test_steps_beyond_the_budget_are_explained(tmp_path: Path) -> None:
    known: Letters = {("resample", 0): {0: "R", 1: "WR"}, ("iterative", 0): {0: "R", 1: "WR"}}
    found = build(write_all(tmp_path / "drawn", known, questions(2)))
    why = "is set aside and drawn again, at the price of a model call but not of the budget"
    assert "Steps beyond 7" in table(found, "steps").note
    assert why in table(found, "steps").note
    assert why in next(one for one in found.figures if one.beside == "steps").note
    (steps,) = (column for column in table(found, "repair").columns if column.key == "steps")
    assert "above the budget where draws are set aside (they count here, not in the budget)" in steps.note
    del known["resample", 0]
    assert why not in table(build(write_all(tmp_path / "greedy", known, questions(2))), "steps").note


def test_wins_and_losses_by_seed(made: tuple[Letters, Report]) -> None:
    known, report = made
    found = table(report, "mcnemar")
    assert len(found.rows) == (len(RUN_METHODS) - 1) * len(SEEDS)
    for name in RUN_METHODS:
        for seed in SEEDS if name != "merit" else ():
            ours, theirs = known[name, seed], known["merit", seed]
            wins = sum(ours[q].endswith("R") and not theirs[q].endswith("R") for q in ours)
            losses = sum(theirs[q].endswith("R") and not ours[q].endswith("R") for q in ours)
            one = row(found, method=LABELS[name], seed=str(seed))
            assert (one["wins"].value, one["losses"].value) == (wins, losses)
            n = wins + losses
            tail = sum(math.comb(n, k) for k in range(min(wins, losses) + 1)) / 2**n
            assert one["p"].value == pytest.approx(min(1.0, 2 * tail))


def spent(known: Letters, name: str, seed: int, *, first: bool = True) -> tuple[int, int]:
    """Prompt and output tokens of a run, with or without those of the first answers."""
    prompt = output = 0
    for question, word in known[name, seed].items():
        tried = course(name, seed, question, word)
        again = tried[1:] if METHODS[name].online else [*tried[1:], *tried[1:]]  # a control goes through them twice
        for one in [*(tried[:1] if first else ()), *again]:
            prompt, output = prompt + one.prompt, output + one.output
        if METHODS[name].reflects:
            prompt, output = prompt + 50 * unsuccessful(word), output + 5 * unsuccessful(word)
    return prompt, output


def unsuccessful(word: str) -> int:
    return sum(letter != "R" for letter in word)


def repairs(words: dict[int | str, str]) -> int:
    return sum(len(word) - 1 for word in words.values())


def calls(known: Letters, name: str, seed: int) -> int:
    words = known[name, seed]
    reflections = sum(map(unsuccessful, words.values())) if METHODS[name].reflects else 0
    return SIZE + repairs(words) * (1 if METHODS[name].online else 2) + reflections


def oscillation(name: str, seed: int, words: dict[int | str, str]) -> float:
    twice = 0
    for question, word in words.items():
        sqls = [one.sql for one in course(name, seed, question, word)]
        twice += len(set(sqls)) < len(sqls)
    return 100 * twice / len(words)


def test_repair_behaviour(made: tuple[Letters, Report]) -> None:
    known, report = made
    found = table(report, "repair")
    assert [column.label for column in found.columns[2:]] == ["Rep.↑", "Steps↓", "Osc.↓", "Tok.↓", "Calls↓", "Seeds"]
    for name in RUN_METHODS:
        one = row(found, method=LABELS[name])
        wrong = sum(not word.startswith("R") for word in known[name, 0].values())
        expected: dict[str, list[float]] = {
            "repaired": [sum(w.endswith("R") and w[0] != "R" for w in known[name, s].values()) for s in SEEDS],
            "steps": [repairs(known[name, s]) / wrong for s in SEEDS],
            "oscillation": [oscillation(name, s, known[name, s]) for s in SEEDS],
            "tokens": [sum(spent(known, name, s)) / 1e6 for s in SEEDS],
            "calls": [calls(known, name, s) for s in SEEDS],
        }
        digits = {"repaired": 1, "steps": 3, "oscillation": 2, "tokens": 3, "calls": 0}
        for key, values in expected.items():
            assert one[key].value == pytest.approx(statistics.mean(values), abs=1e-6), (name, key)
            assert one[key].text == f"{statistics.mean(values):.{digits[key]}f}", (name, key)
    ranked = [
        "iterative",
        "reflexion",
        "merit",
    ]  # zero-shot repairs nothing, the control is not online, two are ablations
    for key in ("repaired", "steps", "oscillation", "tokens", "calls"):
        printed = {name: row(found, method=LABELS[name])[key].text for name in ranked}
        expected_marks = {**dict.fromkeys(RUN_METHODS), **leaders(printed, low=key != "repaired")}
        assert {name: row(found, method=LABELS[name])[key].mark for name in RUN_METHODS} == expected_marks, key


def test_cost(made: tuple[Letters, Report]) -> None:
    known, report = made
    found = table(report, "cost")
    for name in RUN_METHODS:
        one = row(found, method=LABELS[name])
        prompts, outputs = zip(*(spent(known, name, seed) for seed in SEEDS), strict=True)
        assert one["prompt_tokens"].value == pytest.approx(statistics.mean(prompts) / 1e6, abs=1e-6)
        assert one["output_tokens"].value == pytest.approx(statistics.mean(outputs) / 1e6, abs=1e-6)
        money = [(0.5 * p + 2.0 * o) / 1e6 for p, o in zip(prompts, outputs, strict=True)]
        assert one["money"].value == pytest.approx(statistics.mean(money), abs=1e-6)
        extra = sum(w.endswith("R") and w[0] != "R" for seed in SEEDS for w in known[name, seed].values())
        more = [spent(known, name, seed, first=False) for seed in SEEDS]
        if extra:
            assert one["tokens_extra"].value == pytest.approx(sum(p + o for p, o in more) / extra, abs=1e-6)
            price = sum(0.5 * p + 2.0 * o for p, o in more) / 1e6 / extra
            assert one["money_extra"].value == pytest.approx(price, abs=1e-6)
        else:
            assert (one["tokens_extra"].text, one["money_extra"].text) == ("--", "--")
        method = METHODS[name]
        steps = [repairs(known[name, seed]) for seed in SEEDS]
        entries = sum(len(word) > 1 for word in known[name, 0].values()) if method.writes else 0
        recalls = steps if method.recall else [0, 0, 0]
        passes = 1 if method.online else 2
        judged = [passes * (SIZE + one_run) for one_run in steps]
        assert one["retrieval_calls"].value == pytest.approx(statistics.mean(recalls))
        encoded = [many + entries for many in recalls] if method.encodes else [0, 0, 0]
        assert one["embedding_calls"].value == pytest.approx(statistics.mean(encoded))
        assert one["db_executions"].value == pytest.approx(statistics.mean(judged))
        seconds = [one[key].value for key in ("wall_s", "model_s", "embedding_s", "retrieval_s", "database_s")]
        assert seconds == [2.5, 1.0, 0.125, 0.25, 0.5]
    assert "0.5 per million prompt and 2 per million output tokens" in found.note


def test_failure_composition(made: tuple[Letters, Report]) -> None:
    known, report = made
    (one,) = table(report, "failures").rows
    first = [word[0] for word in known["merit", 0].values() if word[0] != "R"]
    share = {letter: 100 * first.count(letter) / len(first) for letter in "WCST"}
    assert one["failures"].value == len(first)
    for key, letter in (("result_mismatch", "W"), ("schema_linking", "C"), ("syntax", "S"), ("execution", "T")):
        assert one[key].value == pytest.approx(share[letter], abs=1e-6)
    assert one["other"].value == pytest.approx(share["S"] + share["T"], abs=1e-6)
    assert "accuracy" not in one


@pytest.mark.parametrize(
    ("name", "part"),
    [
        ("by_database", lambda q, _: ASKED[q].db_id),
        ("by_difficulty", lambda q, _: ASKED[q].difficulty),
        ("by_failure", lambda _, word: TYPES.get(word[0])),
    ],
)
def test_accuracy_by_part(
    made: tuple[Letters, Report], name: str, part: Callable[[int | str, str], str | None]
) -> None:
    known, report = made
    found = table(report, name)
    parts = {part(q, word) for q, word in known["merit", 0].items()} - {None}
    assert {one["part"].text for one in found.rows} == parts
    order = {"by_difficulty": list(LEVELS), "by_failure": ["Result mismatch", "Schema linking", "Execution", "Syntax"]}
    listed = [one["part"].text for one in found.rows]
    assert listed == [one for one in order.get(name, sorted(listed)) if one in parts]
    for one in found.rows:
        mine = [q for q, word in known["merit", 0].items() if part(q, word) == one["part"].text]
        assert one["questions"].value == len(mine)
        for method in RUN_METHODS:
            right = sum(known[method, seed][q].endswith("R") for seed in SEEDS for q in mine)
            assert one[method].value == pytest.approx(100 * right / (len(mine) * len(SEEDS)), abs=1e-6)
        may = [method for method in ONLINE if METHODS[method].repairs or name != "by_failure"]
        expected = {**dict.fromkeys(RUN_METHODS), **leaders({method: one[method].text for method in may})}
        assert {method: one[method].mark for method in RUN_METHODS} == expected


def test_learning_along_the_stream(made: tuple[Letters, Report]) -> None:
    known, report = made
    order = {seed: [question.id for question in stream_order(ASKED, seed)] for seed in SEEDS}
    seen = 0
    for one in table(report, "learning").rows:
        first, last = map(int, one["part"].text.split("-"))
        assert first == seen + 1
        seen = last
        for method in RUN_METHODS:
            words = [known[method, seed][q] for seed in SEEDS for q in order[seed][first - 1 : last]]
            wrong = [word for word in words if word[0] != "R"]
            expected = 100 * sum(word.endswith("R") for word in wrong) / len(wrong)
            assert one[method].value == pytest.approx(expected, abs=1e-6)
            assert one["questions"].value == len(wrong)
        may = [method for method in ONLINE if METHODS[method].repairs]
        marks = {**dict.fromkeys(RUN_METHODS), **leaders({method: one[method].text for method in may})}
        assert {method: one[method].mark for method in RUN_METHODS} == marks
    assert seen == SIZE
    assert "Bold and underlined are the best and the second of a row" in table(report, "learning").note
    figure = next(one for one in report.figures if one.id == "learning-spider")
    assert [series.name for series in figure.series] == [LABELS[name] for name in METHODS if name in RUN_METHODS]
    curve = next(series for series in figure.series if series.name == "MERIT")
    assert curve.x == tuple(range(1, SIZE + 1))
    assert curve.low is not None
    assert curve.high is not None
    for place, upto in enumerate(range(1, SIZE + 1)):
        gains = [
            100 * sum(known["merit", s][q].endswith("R") - known["merit", s][q].startswith("R") for q in order[s][:upto]) / upto
            for s in SEEDS
        ]  # fmt: skip
        mean, std = statistics.mean(gains), statistics.stdev(gains)
        assert (curve.y[place], curve.low[place], curve.high[place]) == pytest.approx((mean, mean - std, mean + std))


def test_repairs_by_step(made: tuple[Letters, Report]) -> None:
    known, report = made
    found = table(report, "steps")
    figure = next(one for one in report.figures if one.id == "steps-spider")
    for name in RUN_METHODS:
        one = row(found, method=LABELS[name])
        at = {
            step: statistics.mean(
                sum(word.endswith("R") and len(word) == step + 1 for word in known[name, seed].values())
                for seed in SEEDS
            )
            for step in range(1, 8)
        }
        assert {step: one[f"step_{step}"].value for step in at} == pytest.approx(at, abs=1e-6)
        assert one["all"].value == pytest.approx(sum(at.values()), abs=1e-6)
        if name != "zero_shot":
            curve = next(series for series in figure.series if series.name == LABELS[name])
            assert curve.y == pytest.approx([sum(at[k] for k in range(1, step + 1)) for step in range(8)])


def test_figures_hold_the_numbers_of_their_tables(made: tuple[Letters, Report]) -> None:
    known, report = made
    figures = {one.id: one for one in report.figures}
    (series,) = figures["accuracy"].series
    assert series.low is not None
    assert series.high is not None
    for place, (label, low, high) in enumerate(zip(series.x, series.low, series.high, strict=True)):
        name = next(name for name in RUN_METHODS if LABELS[name] == label)
        values = over_seeds(known, name, accuracy)
        assert series.y[place] == pytest.approx(statistics.mean(values))
        assert low is not None
        assert high is not None
        assert high - low == pytest.approx(2 * statistics.stdev(values))
    (series,) = figures["paired"].series
    rows = table(report, "paired").rows
    assert list(series.x) == [one["method"].text for one in rows]
    assert [list(series.y), list(series.low or ()), list(series.high or ())] == [
        [one[key].value for one in rows] for key in ("delta", "low", "high")
    ]


def test_one_seed_has_no_deviation(tmp_path: Path) -> None:
    known = {key: words for key, words in letters(SIZE, 5, ("merit",)).items() if key[1] == 0}
    report = build(write_all(tmp_path, known, ASKED))
    (one,) = table(report, "main").rows
    assert one["accuracy"].text == f"{accuracy(known['merit', 0]):.2f}"
    assert (one["std"].value, one["accuracy"].mark) == (None, None)  # nobody to lead
    assert "paired" not in [found.id for found in report.tables]


def test_ties_lead_together(tmp_path: Path) -> None:
    """The paper's Table 1: two methods at the top are both bold, the next is underlined."""
    known: Letters = {
        ("iterative", 0): {0: "R", 1: "WR", 2: "WW", 3: "WW"},
        ("merit", 0): {0: "R", 1: "WW", 2: "WR", 3: "WR"},
        ("reflexion", 0): {0: "R", 1: "WR", 2: "WR", 3: "WW"},
        ("transductive_batch", 0): {0: "R", 1: "WR", 2: "WR", 3: "WR"},
    }
    report = build(write_all(tmp_path, known, questions(4)))
    found = {one["method"].text: (one["accuracy"].text, one["accuracy"].mark) for one in table(report, "main").rows}
    assert found == {
        "Iterative": ("50.00", Mark.SECOND),
        "Reflexion-style": ("75.00", Mark.BEST),
        "MERIT": ("75.00", Mark.BEST),
        "Transductive batch (not online)": ("100.00", None),
    }
    paired = {one["method"].text: one for one in table(report, "paired").rows}
    assert [paired["Iterative"][key].value for key in ("delta", "wins", "losses", "ties")] == [-25.0, 1, 2, 1]
    assert paired["Reflexion-style"]["delta"].text == "0.00"
    assert table(report, "mcnemar").rows[0]["p"].value == pytest.approx(1.0)  # 2 against 1


def test_seeds_that_only_one_method_ran_are_not_paired(tmp_path: Path) -> None:
    known = letters(SIZE, 6, ("iterative", "merit"))
    del known["iterative", 2]
    report = build(write_all(tmp_path, known, ASKED))
    (one,) = table(report, "paired").rows
    values = [
        100 * sum(known["iterative", s][q].endswith("R") - known["merit", s][q].endswith("R") for s in (0, 1)) / 2
        for q in range(SIZE)
    ]
    assert one["delta"].value == pytest.approx(statistics.mean(values), abs=1e-6)
    assert one["seeds"].text == "0 1"
    assert "seeds 0, 1 (but merit 0, 1, 2)" in report.groups[0].about


def test_a_difference_is_over_the_seeds_that_both_ran_and_leaders_ran_them_all(tmp_path: Path) -> None:
    """The seed that an ablation did not run was MERIT's worst: without it, the ablation would seem to lose less."""
    known: Letters = {
        ("merit", 0): {0: "WR", 1: "WR", 2: "WR", 3: "WW"},
        ("merit", 1): {0: "WW", 1: "WW", 2: "WW", 3: "WW"},
        ("positive_only", 0): {0: "WR", 1: "WR", 2: "WW", 3: "WW"},
        ("iterative", 0): {0: "WR", 1: "WR", 2: "WR", 3: "WR"},
        ("reflexion", 0): {0: "WR", 1: "WW", 2: "WW", 3: "WW"},
        ("reflexion", 1): {0: "WW", 1: "WW", 2: "WW", 3: "WW"},
        ("dynamic_rag", 0): {0: "WW", 1: "WW", 2: "WW", 3: "WW"},
        ("dynamic_rag", 1): {0: "WW", 1: "WW", 2: "WW", 3: "WW"},
    }
    report = build(write_all(tmp_path, known, questions(4)))
    assert row(table(report, "ablation"), method="Positive only")["delta"].text == "-25.00"  # 50 - 75, not 50 - 37.5
    main = table(report, "main")
    assert {one["method"].text: one["accuracy"].mark for one in main.rows} == {
        "Iterative": None,  # 100, but of one seed
        "Reflexion-style": Mark.SECOND,
        "Dyn. RAG": None,
        "MERIT": Mark.BEST,
    }
    assert "or was not run with all seeds, takes no part" in main.note
    assert {one["method"].text: one["seeds"].text for one in main.rows}["Iterative"] == "0"
    for name in ("main", "ablation", "repair", "cost"):
        assert next(column for column in table(report, name).columns if column.key == "seeds").shown, name
    for name in ("by_database", "by_failure", "learning"):
        assert {one[method].mark for one in table(report, name).rows for method in ("iterative", "positive_only")} == {
            None
        }


def test_seeds_are_not_shown_where_all_have_the_same(made: tuple[Letters, Report]) -> None:
    _, report = made
    for name in ("main", "ablation", "repair", "cost"):
        assert not next(column for column in table(report, name).columns if column.key == "seeds").shown, name


def test_nobody_leads_where_all_are_alike(tmp_path: Path) -> None:
    words: dict[int | str, str] = {0: "R", 1: "WR", 2: "WW", 3: "WW"}
    report = build(write_all(tmp_path, {("iterative", 0): words, ("merit", 0): words}, questions(4)))
    for name in ("main", "by_database", "by_failure", "learning"):
        assert {cell.mark for one in table(report, name).rows for cell in one.values()} == {None}, name


def test_what_repairs_nothing_is_not_second_at_repairing(tmp_path: Path) -> None:
    known: Letters = {("zero_shot", 0): {0: "R", 1: "W"}, ("iterative", 0): {0: "R", 1: "WR"}}
    report = build(write_all(tmp_path, known, questions(2)))
    for name, marks in (("by_failure", {None}), ("learning", {None}), ("main", {Mark.BEST, Mark.SECOND, None})):
        assert {cell.mark for one in table(report, name).rows for cell in one.values()} == marks, name


def test_one_seed_is_a_point_without_a_bar(tmp_path: Path) -> None:
    known = letters(SIZE, 7, ("iterative", "merit"))
    del known["iterative", 1], known["iterative", 2]
    figures = {one.id: one for one in build(write_all(tmp_path, known, ASKED)).figures}
    (series,) = figures["accuracy"].series
    assert (series.x, series.low is None) == (("Iterative", "MERIT"), False)
    assert [None in ends for ends in zip(series.low or (), series.high or (), strict=True)] == [True, False]
    assert [one.low == (None,) for one in figures["frontier-spider"].series] == [True, False]
    assert [one.low is None for one in figures["learning-spider"].series] == [True, False]
    for name in ("accuracy", "frontier-spider"):
        assert "a hollow point is of one seed, which has none" in figures[name].note
