"""A run as a user names it: the one description that the command line, grids and programs share."""

import shlex
from dataclasses import dataclass
from pathlib import Path
from types import NoneType

from merit.agent import find_method
from merit.benchmark import DataSpec
from merit.errors import InputError, check_type
from merit.reading import shown
from merit.runs import ReviewPolicy
from merit.runs.manifest import review_record
from merit.runs.run_mismatch import refuse_other_settings
from merit.types import Distinct, Regime, Sampling

DEFAULT_BUDGET = 7  # the paper's K
LARGEST_SEED = 2**53  # exact in every JSON reader; the seeds of draws, a thousand for each of these, have 64 bits


@dataclass(frozen=True, slots=True)
class RunSpec:
    """Data, first answers, method and stream of a run. Its model and encoder are those of its workshop."""

    data: DataSpec
    initial: Path
    method: str
    seed: int = 0
    budget: int = DEFAULT_BUDGET
    regime: Regime = Regime.DENOTATION_CONFIRMED
    limit: int | None = None  # only the first questions of the stream
    examples: Path | None = None  # for methods that show fixed examples: a file of them
    review: ReviewPolicy | None = None  # in the regime reviewed: which answers are reviewed, and how

    def __post_init__(self) -> None:
        check_type("data", self.data, DataSpec, "a merit.DataSpec")
        check_type("initial", self.initial, Path, "a file as a pathlib.Path")
        check_type("method", self.method, str, "the name of a method, such as 'merit'")
        check_type("seed", self.seed, int, "a number")
        check_type("budget", self.budget, int, "a number of repairs")
        check_type("regime", self.regime, Regime, "a merit.Regime")
        check_type("limit", self.limit, (int, NoneType), "a number of questions, or None")
        if abs(self.seed) > LARGEST_SEED:
            raise InputError(f"seed: expected a number from -{LARGEST_SEED} to {LARGEST_SEED}, not {shown(self.seed)}")
        if self.limit is not None and self.limit < 1:
            raise InputError(f"limit: expected a number of questions, 1 or more, not {shown(self.limit)}")
        check_type("examples", self.examples, (Path, NoneType), "a file as a pathlib.Path, or None")
        check_type("review", self.review, (ReviewPolicy, NoneType), "a merit.ReviewPolicy, or None")
        self._check_review()
        object.__setattr__(self, "data", self.data.for_runs())

    def _check_review(self) -> None:
        """Refuse a review where there is no reviewer, none where there is one, and a method that could not use it."""
        if self.regime is not Regime.REVIEWED:
            if self.review is not None:
                raise InputError(
                    f"review: there is a reviewer only in the regime {Regime.REVIEWED}; choose that regime, or leave "
                    "out how much is reviewed"
                )
            return
        if self.review is None:
            raise InputError(
                f"regime: {Regime.REVIEWED} needs the share of answers that the reviewer sees, such as 0.3 for 30%"
            )
        method = find_method(self.method)
        if not method.online:
            raise InputError(
                f"method: {self.method} reads what the whole stream left, and a review may be shown only to later "
                f"questions; with the regime {Regime.REVIEWED}, use an online method such as precedent_grounded"
            )
        if method.recall is None:
            raise InputError(
                f"method: {self.method} recalls nothing, so no review could change an answer; with the regime "
                f"{Regime.REVIEWED}, use one that does, such as precedent_grounded, and compare with a share of 0"
            )

    def check_place(self, out: Path) -> None:
        """Complain about a folder that holds a run over another dataset or of other settings."""
        settings = {
            "dataset": self.data.name,
            "method": self.method,
            "seed": self.seed,
            "budget": self.budget,
            "distinct": self.data.distinct,
            "regime": self.regime.value,
            "review": review_record(self.review) if self.review else None,
        }
        refuse_other_settings(out, settings)

    def predict_command(self, model: str, sampling: Sampling) -> str:
        """What to type to ask a model, where it has a name to type, for the first answers of this run."""
        data = self.data
        words: list[object] = ["merit", "predict", data.name]
        words += ["--data", data.root] if data.root is not None else []
        words += ["--split", data.split] if data.split != "dev" else []
        words += ["--protocol", data.protocol] if data.protocol else []
        words += ["--distinct", data.distinct] if data.distinct == Distinct.DROPPED else []
        words += ["--prompts", data.prompts] if data.prompts != "paper" else []
        words += ["--limit", self.limit, "--seed", self.seed] if self.limit is not None else []
        words += ["--model", model] if model else []
        cut = sampling.max_prompt_tokens
        words += ["--max-prompt-tokens", cut, "--truncate", "left"] if cut is not None else []
        return shlex.join(map(str, [*words, "--out", self.initial]))
