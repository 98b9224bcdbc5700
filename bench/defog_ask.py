"""What the live agent answers on defog's databases, each question judged by its own acceptable references.

    python bench/defog_ask.py --answers FOLDER [--engines postgresql,mariadb,sqlite] [--json]

The model is on another machine: answers are read from FOLDER/*.jsonl.xz, and prompts that have none are written to
FOLDER/wanted.jsonl.gz, to be answered with bench/offline.py. Run it again with each batch of answers until nothing is
wanted; then the table is final. All rounds must be of one day, since rows of the databases follow the calendar.

bare    one greedy answer to the live prompt with the schema alone; not grounded
voted   up to eight candidates with stored values, grounded, voting
ruled   the same with a question's instructions as a rule, where it has some
exact   right by the official rule; `contains` also takes more columns
declined  answered by saying that the database holds no answer: right for the 75 unanswerable questions only

Servers are found through MERIT_TEST_POSTGRES and MERIT_TEST_MARIADB. No reference reaches a prompt.
"""

import argparse
import csv
import json
import os
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

sys.path.append(str(Path(__file__).parents[1] / "tests"))  # its databases are loaded as the tests load them
from making.defog_load import Place, read_dump
from making.defog_questions import DefogQuestion, places, read_questions
from making.offline import OfflineCompleter
from merit.errors import NotRecorded
from merit.live import AnswerStatus, LiveAgent
from merit.live.opening import open_live
from merit.oracle import Acceptance, acceptance, asks_for_order
from merit.settings import AskingSettings, DatabaseSettings, ModelSettings, Settings
from merit.sql.connect import open_engine
from merit.types import Limits, ModelIdentity, Row, Rows

ENGINES = ("postgresql", "mariadb", "sqlite")
UNANSWERABLE = "unanswerable"


@dataclass(frozen=True, slots=True)
class Condition:
    """One way to ask."""

    name: str
    method: str
    candidates: int
    rows: str  # whether prompts show stored values
    rules: bool = False


CONDITIONS = (
    Condition("bare", "zero_shot", 1, "never"),
    Condition("voted", "resample_grounded", 8, "prompt"),
    Condition("ruled", "resample_grounded", 8, "prompt", rules=True),
)


@dataclass(slots=True)
class Score:
    """What came of one condition on the questions of one file."""

    asked: int = 0
    pending: int = 0  # no answer of the model is at hand yet
    exact: int = 0
    contains: int = 0
    declined: int = 0
    failed: int = 0
    right: list[str] = field(default_factory=list)  # the keys of exact ones, for pairs


def instructions(data: Path, dialect: str) -> Mapping[str, str]:
    """What people wrote down for single questions, by their keys."""
    notes = {}
    for path in sorted((data / "questions").glob(f"*_{dialect}.csv")):
        with path.open(newline="") as file:
            for number, row in enumerate(csv.DictReader(file), 1):
                notes[f"{path.stem}:{number}"] = (row.get("instructions") or "").strip()
    return {key: note for key, note in notes.items() if note}


def unanswerable(data: Path) -> list[DefogQuestion]:
    """Questions that the databases cannot answer."""
    with (data / "questions" / f"{UNANSWERABLE}.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    return [
        DefogQuestion(f"{UNANSWERABLE}:{n}", row["db_name"], row["question"], "", ()) for n, row in enumerate(rows, 1)
    ]


class Experiment:
    """All questions of one engine under all conditions."""

    def __init__(self, place: Place, data: Path, completer: OfflineCompleter, folder: Path) -> None:
        self._place, self._completer, self._folder = place, completer, folder
        self._questions = read_questions(data, place.questions) + unanswerable(data)
        self._notes = instructions(data, place.questions)
        self._references: dict[str, list[list[Row]]] = {}
        self.scores: dict[tuple[str, str], Score] = {}

    def run(self) -> None:
        """Ask everything, as far as answers are at hand."""
        for db in sorted({question.db for question in self._questions}):
            questions = [question for question in self._questions if question.db == db]
            self._read_references(db, questions)
            for condition in CONDITIONS:
                for agent, asked in self._agents(db, questions, condition):
                    with agent:
                        for question in asked:
                            self._ask(agent, question, condition)

    def _read_references(self, db: str, questions: list[DefogQuestion]) -> None:
        engine = open_engine(self._place.url(db))
        for question in questions:
            results = [engine.execute(statement, Limits()) for statement in question.references]
            self._references[question.key] = [list(rows.rows) for rows in results if isinstance(rows, Rows)]
        engine.close()

    def _agents(
        self, db: str, questions: list[DefogQuestion], condition: Condition
    ) -> Iterator[tuple[LiveAgent, list[DefogQuestion]]]:
        """One agent for a database, or one for each question that has rules of its own."""
        if not condition.rules:
            yield self._agent(db, condition, ""), questions
            return
        for question in questions:
            if question.key in self._notes:
                yield self._agent(db, condition, self._notes[question.key]), [question]

    def _agent(self, db: str, condition: Condition, rule: str) -> LiveAgent:
        settings = Settings(
            Path("merit.toml"),
            DatabaseSettings(db, self._place.url(db), rows=condition.rows),
            ModelSettings(),
            asking=AskingSettings(candidates=condition.candidates),
            rules={"instructions": rule} if rule else {},
        )
        folder = Path(tempfile.mkdtemp(dir=self._folder))
        return open_live(settings, folder, self._completer, method=condition.method)

    def _ask(self, agent: LiveAgent, question: DefogQuestion, condition: Condition) -> None:
        score = self.scores.setdefault((condition.name, question.key.split(":")[0]), Score())
        score.asked += 1
        try:
            answer = agent.ask(question.question)
        except NotRecorded:
            score.pending += 1
            return
        if answer.status is AnswerStatus.UNANSWERABLE:
            score.declined += 1
        if answer.rows is None:
            score.failed += answer.status is AnswerStatus.FAILED
            return
        judged = self._judged(question, list(answer.rows.rows))
        score.exact += judged.exact
        score.contains += judged.contains
        score.right += [question.key] if judged.exact else []

    def _judged(self, question: DefogQuestion, rows: list[Row]) -> Acceptance:
        ordered = asks_for_order(question.question, question.category)
        return acceptance(rows, self._references[question.key], ordered=ordered)


def main() -> None:
    """Load, ask, judge, drop."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--answers", type=Path, required=True, help="the folder of answers, and of what is wanted")
    parser.add_argument("--engines", default=",".join(ENGINES))
    parser.add_argument("--data", type=Path, default=Path(os.environ.get("MERIT_DATA", "../shared/data")) / "defog")
    parser.add_argument("--model", default="openai:qwen2.5-coder-1.5b-instruct")
    parser.add_argument("--revision", default=os.environ.get("MERIT_MODEL_REVISION", ""))
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    options.answers.mkdir(parents=True, exist_ok=True)
    completer = OfflineCompleter(
        ModelIdentity(options.model, options.revision), sorted(options.answers.glob("*.jsonl.xz"))
    )
    dumps = [read_dump(path) for path in sorted((options.data / "databases").glob("*.sql"))]
    shown: dict[str, dict[str, Score]] = {}
    with tempfile.TemporaryDirectory() as folder:
        for name, place in places(options.engines.split(","), Path(folder)).items():
            for dump in dumps:
                place.load(dump)
            experiment = Experiment(place, options.data, completer, Path(folder))
            experiment.run()
            shown[name] = {f"{way} {file}": score for (way, file), score in experiment.scores.items()}
            for dump in dumps:
                place.drop(dump.name)
    wanted = completer.write_wanted(options.answers / "wanted.jsonl.gz")
    _show(shown, wanted, options.json)


def _show(scores: dict[str, dict[str, Score]], wanted: int, as_json: bool) -> None:
    plain = {
        name: {key: {one: getattr(score, one) for one in Score.__slots__} for key, score in found.items()}
        for name, found in scores.items()
    }
    if as_json:
        print(json.dumps({"wanted": wanted, "scores": plain}, indent=1))
        return
    print(f"{wanted} prompts are wanted" if wanted else "nothing is wanted: final")
    for name, found in plain.items():
        for key, score in found.items():
            counts = Counter({one: count for one, count in score.items() if isinstance(count, int)})
            print(f"{name:<11} {key:<34} " + "  ".join(f"{one} {count}" for one, count in counts.items()))


if __name__ == "__main__":
    main()
