"""merit: an agent that repairs Text-to-SQL failures and remembers what it learned."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from merit.agent import (
        Attempt,
        Behaviour,
        Episode,
        Keep,
        Method,
        Moment,
        NotingBehaviour,
        PaperBehaviour,
        Part,
        Recalled,
        all_methods,
        find_method,
    )
    from merit.benchmark import Benchmark, DataSpec
    from merit.data import Dataset
    from merit.errors import MeritError
    from merit.library import load, open_benchmark, open_memory, repair_questions, run, score
    from merit.live import Answer, AnswerStatus, Found, LiveAgent, connect
    from merit.memory import Cue, Entry, Grade, Memory, Precedent, Recall, RecallPolicy, Repair
    from merit.prompts import Prompt
    from merit.runs import AnswerReview, ReviewPolicy, RunView, Turn, read_run
    from merit.scoring import Score
    from merit.sql import SQLiteEngine
    from merit.stream import RunSpec
    from merit.types import (
        Column,
        Completer,
        Completion,
        Encoder,
        Engine,
        Limits,
        Oracle,
        Polarity,
        Question,
        Regime,
        ReviewKind,
        ReviewOutcome,
        Sampling,
        Schema,
        Status,
        Store,
        Table,
        Verdict,
    )

__version__ = "0.2.0"

# Where each public name stands. A name is imported when it is first used, so `import merit` takes no time.
_HOMES = {
    "merit.agent": "Attempt Behaviour Episode Keep Method Moment NotingBehaviour PaperBehaviour Part Recalled "
    "all_methods find_method",
    "merit.benchmark": "Benchmark DataSpec",
    "merit.data": "Dataset",
    "merit.errors": "MeritError",
    "merit.live": "Answer AnswerStatus Found LiveAgent connect",
    "merit.library": "load open_benchmark open_memory repair_questions run score",
    "merit.memory": "Cue Entry Grade Memory Precedent Recall RecallPolicy Repair",
    "merit.prompts": "Prompt",
    "merit.runs": "AnswerReview ReviewPolicy RunView Turn read_run",
    "merit.scoring": "Score",
    "merit.sql": "SQLiteEngine",
    "merit.stream": "RunSpec",
    "merit.types": "Column Completer Completion Encoder Engine Limits Oracle Polarity "
    "Question Regime ReviewKind ReviewOutcome Sampling Schema Status Store Table Verdict",
}
_HOME_OF = {name: home for home, names in _HOMES.items() for name in names.split()}

__all__ = [
    "Answer",
    "AnswerReview",
    "AnswerStatus",
    "Attempt",
    "Behaviour",
    "Benchmark",
    "Column",
    "Completer",
    "Completion",
    "Cue",
    "DataSpec",
    "Dataset",
    "Encoder",
    "Engine",
    "Entry",
    "Episode",
    "Found",
    "Grade",
    "Keep",
    "Limits",
    "LiveAgent",
    "Memory",
    "MeritError",
    "Method",
    "Moment",
    "NotingBehaviour",
    "Oracle",
    "PaperBehaviour",
    "Part",
    "Polarity",
    "Precedent",
    "Prompt",
    "Question",
    "Recall",
    "RecallPolicy",
    "Recalled",
    "Regime",
    "Repair",
    "ReviewKind",
    "ReviewOutcome",
    "ReviewPolicy",
    "RunSpec",
    "RunView",
    "SQLiteEngine",
    "Sampling",
    "Schema",
    "Score",
    "Status",
    "Store",
    "Table",
    "Turn",
    "Verdict",
    "all_methods",
    "connect",
    "find_method",
    "load",
    "open_benchmark",
    "open_memory",
    "read_run",
    "repair_questions",
    "run",
    "score",
]


def __getattr__(name: str) -> Any:
    if name not in _HOME_OF:
        raise AttributeError(f"module 'merit' has no attribute {name!r}")
    value = globals()[name] = getattr(import_module(_HOME_OF[name]), name)
    return value


def __dir__() -> list[str]:
    return sorted([*globals(), *__all__])
