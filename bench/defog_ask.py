"""What the live agent answers on defog's databases, each question judged by its own acceptable references.

    python bench/defog_ask.py --answers FOLDER [--engines postgresql,mariadb,sqlite] [--wait] [--json]

The model is on another machine: answers are read from FOLDER/*.jsonl and *.jsonl.xz, and prompts that have none are
written to FOLDER/wanted.jsonl.gz, to be answered with bench/offline.py. Run it again with each batch of answers until
nothing is wanted; then the table is final. Of a question that goes on, all prompts are written down that it needs if no
more of its candidates fail: a failure is shown to the later ones, and changes their prompts.

Rows of the databases follow the moment of loading. MERIT_DEFOG_MOMENT (such as 2026-11-18T12:00:00, of the same day)
sets it, so that prompts are the same each time. With --wait the databases stay loaded and the program waits, which
makes a round short: put answers into the folder, then `touch FOLDER/next`, or `touch FOLDER/stop` for the table.

bare    one greedy answer to the live prompt with the schema alone; not grounded
voted   up to eight candidates with stored values, grounded, voting
ruled   the same with a question's instructions as a rule, where it has some
drawn, drawn-ruled   as voted and ruled, but no prompt shows what failed: one round answers them
exact   right by the official rule; `contains` also takes more columns
declined  answered by saying that the database holds no answer: right for the 75 unanswerable questions only

Servers are found through MERIT_TEST_POSTGRES and MERIT_TEST_MARIADB. No reference reaches a prompt.
"""

import argparse
import asyncio
import csv
import json
import os
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace
from multiprocessing import get_context
from multiprocessing.connection import Connection
from pathlib import Path

sys.path.append(str(Path(__file__).parents[1] / "tests"))  # its databases are loaded as the tests load them
from making.defog_load import Place, read_dump
from making.defog_questions import DefogQuestion, places, read_questions
from making.offline import LookAhead, OfflineCompleter, write_wanted
from merit.agent import Method, find_method
from merit.agent.method import Origin
from merit.errors import NotRecorded
from merit.live import AnswerStatus, LiveAgent
from merit.live.opening import open_live
from merit.live.shown import notes, with_context
from merit.models import AnswerStore, CachingCompleter
from merit.oracle import Acceptance, acceptance, asks_for_order
from merit.settings import AskingSettings, DatabaseSettings, ModelSettings, Settings
from merit.sql.connect import open_engine
from merit.types import Limits, ModelIdentity, Row, Rows, Sampling

ENGINES = ("postgresql", "mariadb", "sqlite")
UNANSWERABLE = "unanswerable"
_AT_A_TIME = 4  # questions of one engine: while one waits for the database, another goes on


@dataclass(frozen=True, slots=True)
class Condition:
    """One way to ask."""

    name: str
    method: str
    candidates: int
    rows: str  # whether prompts show stored values
    rules: bool = False
    told: bool = True  # whether prompts show which candidates failed, and why

    def asked_with(self) -> Method:
        """The method; where prompts show no failures, all of its draws are of prompts that no answer changes."""
        method = find_method(self.method)
        return method if self.told else replace(method, origin=Origin("bench", "", ""))


CONDITIONS = (
    Condition("bare", "zero_shot", 1, "never"),
    Condition("voted", "resample_grounded", 8, "prompt"),
    Condition("ruled", "resample_grounded", 8, "prompt", rules=True),
    Condition("drawn", "resample_grounded", 8, "prompt", told=False),
    Condition("drawn-ruled", "resample_grounded", 8, "prompt", rules=True, told=False),
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
    keys: list[str] = field(default_factory=list)  # of the questions
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


@dataclass(frozen=True, slots=True)
class Outcome:
    """What came of one question."""

    exact: bool = False
    contains: bool = False
    declined: bool = False
    failed: bool = False


class Experiment:
    """All questions of one engine under all conditions. What it opened stays open from round to round."""

    def __init__(self, place: Place, data: Path, completer: OfflineCompleter, folder: Path) -> None:
        self._place, self._completer, self._folder = place, completer, folder
        self._questions = read_questions(data, place.questions) + unanswerable(data)
        self._notes = instructions(data, place.questions)
        self._references: dict[str, list[list[Row]]] = {}
        self._agents: dict[tuple[str, str], LiveAgent] = {}  # by database and how it shows stored values
        self._outcomes: dict[tuple[Condition, str], Outcome] = {}

    def open(self) -> None:
        """Read the references, and make everything ready to ask."""
        for db in sorted({question.db for question in self._questions}):
            self._read_references(db, [question for question in self._questions if question.db == db])
            for condition in CONDITIONS:
                if (db, condition.rows) not in self._agents:
                    self._agents[db, condition.rows] = self._opened(db, condition)

    def close(self) -> None:
        """Close what is open."""
        for agent in self._agents.values():
            agent.close()

    def run(self) -> None:
        """Ask everything that has no outcome yet, as far as answers are at hand."""
        asyncio.run(self._run())

    async def _run(self) -> None:
        places = asyncio.Semaphore(_AT_A_TIME)

        async def ask(question: DefogQuestion, condition: Condition, rule: str) -> None:
            async with places:
                await self._ask(question, condition, rule)

        async with asyncio.TaskGroup() as tasks:
            for condition in CONDITIONS:
                for question in self._questions:
                    rule = self._notes.get(question.key, "") if condition.rules else ""
                    if (condition, question.key) not in self._outcomes and (rule or not condition.rules):
                        tasks.create_task(ask(question, condition, rule))

    def scores(self) -> dict[str, Score]:
        """What came of every condition and file."""
        scores: dict[str, Score] = {}
        for condition in CONDITIONS:
            for question in self._questions:
                if condition.rules and question.key not in self._notes:
                    continue
                score = scores.setdefault(f"{condition.name} {question.key.split(':')[0]}", Score())
                score.asked += 1
                score.keys.append(question.key)
                outcome = self._outcomes.get((condition, question.key))
                if outcome is None:
                    score.pending += 1
                    continue
                for name in ("exact", "contains", "declined", "failed"):
                    setattr(score, name, getattr(score, name) + getattr(outcome, name))
                score.right += [question.key] if outcome.exact else []
        return scores

    def _read_references(self, db: str, questions: list[DefogQuestion]) -> None:
        engine = open_engine(self._place.url(db))
        for question in questions:
            results = [engine.execute(statement, Limits()) for statement in question.references]
            self._references[question.key] = [list(rows.rows) for rows in results if isinstance(rows, Rows)]
        engine.close()

    def _settings(self, db: str, condition: Condition, rule: str = "") -> Settings:
        return Settings(
            Path("merit.toml"),
            DatabaseSettings(db, self._place.url(db), rows=condition.rows),
            ModelSettings(),
            rules={"instructions": rule} if rule else {},
        )

    def _opened(self, db: str, condition: Condition) -> LiveAgent:
        folder = Path(tempfile.mkdtemp(dir=self._folder))
        return open_live(self._settings(db, condition), folder, self._completer, method=condition.method)

    async def _ask(self, question: DefogQuestion, condition: Condition, rule: str) -> None:
        parts = self._agents[question.db, condition.rows]._parts
        if rule:  # what an agent of its own would be told, without reading the database again
            _, context = with_context(parts.schema, self._settings(question.db, condition, rule))
            parts = replace(parts, notes=notes(context))
        method = condition.asked_with()
        agent = LiveAgent(parts, method, asking=AskingSettings(candidates=condition.candidates))
        try:
            answer = await agent.ask_async(question.question)
        except NotRecorded:
            ahead = LookAhead(self._completer, condition.candidates)
            parts = replace(parts, completer=CachingCompleter(ahead, AnswerStore(None)))
            # With twice as many candidates the answers at hand cannot end the asking before all prompts are noted.
            agent = LiveAgent(parts, method, asking=AskingSettings(candidates=2 * condition.candidates))
            with suppress(NotRecorded):
                await agent.ask_async(question.question)
            return
        judged = Acceptance(False, False)
        if answer.rows is not None:
            judged = self._judged(question, list(answer.rows.rows))
        self._outcomes[condition, question.key] = Outcome(
            judged.exact,
            judged.contains,
            answer.status is AnswerStatus.UNANSWERABLE,
            answer.rows is None and answer.status is AnswerStatus.FAILED,
        )

    def _judged(self, question: DefogQuestion, rows: list[Row]) -> Acceptance:
        ordered = asks_for_order(question.question, question.category)
        return acceptance(rows, self._references[question.key], ordered=ordered)


Wanted = dict[bytes, tuple[str, Sampling]]


@dataclass(frozen=True, slots=True)
class Task:
    """What a process of one engine works on."""

    engine: str
    data: Path
    folder: Path
    identity: ModelIdentity


def work(task: Task, pipe: Connection) -> None:
    """Load the databases of one engine; then one round for each list of files that comes, until None comes."""
    place = places([task.engine], task.folder)[task.engine]
    dumps = [read_dump(path) for path in sorted((task.data / "databases").glob("*.sql"))]
    completer = OfflineCompleter(task.identity, [])
    experiment = Experiment(place, task.data, completer, task.folder)
    try:
        for dump in dumps:
            place.load(dump)
        experiment.open()
        while (files := pipe.recv()) is not None:
            completer.read(files)
            completer.wanted.clear()
            experiment.run()
            pipe.send((experiment.scores(), completer.wanted))
    finally:
        experiment.close()
        for dump in dumps:
            place.drop(dump.name)


def ask_round(pipes: Mapping[str, Connection], answers: Path) -> tuple[dict[str, dict[str, Score]], Wanted]:
    """One round of all engines; what is wanted is in a file when it returns."""
    files = sorted([*answers.glob("*.jsonl"), *answers.glob("*.jsonl.xz")])
    for pipe in pipes.values():
        pipe.send(files)
    scores: dict[str, dict[str, Score]] = {}
    wanted: Wanted = {}
    for name, pipe in pipes.items():
        scores[name], found = pipe.recv()
        wanted |= found
    write_wanted(answers / "wanted.jsonl.gz", wanted.values())
    return scores, wanted


def next_round(answers: Path) -> bool:
    """Wait until a file `next` or `stop` appears among the answers, and remove it; whether there is another round."""
    while True:
        for name in ("next", "stop"):
            if (answers / name).exists():
                (answers / name).unlink()
                return name == "next"
        time.sleep(0.2)


def main() -> None:
    """Load, ask, judge, drop."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--answers", type=Path, required=True, help="the folder of answers, and of what is wanted")
    parser.add_argument("--engines", default=",".join(ENGINES))
    parser.add_argument("--data", type=Path, default=Path(os.environ.get("MERIT_DATA", "../shared/data")) / "defog")
    parser.add_argument("--model", default="openai:qwen2.5-coder-1.5b-instruct")
    parser.add_argument("--revision", default=os.environ.get("MERIT_MODEL_REVISION", ""))
    parser.add_argument("--wait", action="store_true", help="keep everything open, and wait for the next answers")
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    options.answers.mkdir(parents=True, exist_ok=True)
    identity = ModelIdentity(options.model, options.revision)
    context = get_context("spawn")
    with tempfile.TemporaryDirectory() as folder:
        pipes, workers = {}, []
        for name in options.engines.split(","):
            pipes[name], far = context.Pipe()
            task = Task(name, options.data, Path(folder), identity)
            workers.append(context.Process(target=work, args=(task, far)))
            workers[-1].start()
            far.close()
        try:
            while True:
                started = time.monotonic()
                scores, wanted = ask_round(pipes, options.answers)
                seconds = time.monotonic() - started
                texts = len({prompt for prompt, _ in wanted.values()})
                print(f"{len(wanted)} answers to {texts} prompts are wanted ({seconds:.0f} s)", file=sys.stderr)
                if not wanted or not options.wait or not next_round(options.answers):
                    break
        finally:
            for pipe in pipes.values():
                with suppress(OSError):  # it has ended by an error that it told
                    pipe.send(None)
            for worker in workers:
                worker.join()
    _show(scores, len(wanted), options.json)


def _show(scores: dict[str, dict[str, Score]], wanted: int, as_json: bool) -> None:
    plain = {
        name: {key: {one: getattr(score, one) for one in Score.__slots__} for key, score in found.items()}
        for name, found in scores.items()
    }
    if as_json:
        print(json.dumps({"wanted": wanted, "scores": plain}, indent=1))
        return
    print(f"{wanted} answers are wanted" if wanted else "nothing is wanted: final")
    for name, found in plain.items():
        for key, score in found.items():
            counts = Counter({one: count for one, count in score.items() if isinstance(count, int)})
            print(f"{name:<11} {key:<34} " + "  ".join(f"{one} {count}" for one, count in counts.items()))


if __name__ == "__main__":
    main()
