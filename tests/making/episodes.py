"""Run folders whose prompts, entries and recalls are real and whose verdicts, changes and scores are drawn."""

import random
from collections.abc import Sequence
from contextlib import closing
from dataclasses import asdict
from pathlib import Path

from making.outcomes import NO_COLUMN, RIGHT, SYNTAX, TIMES, WRONG, identity_record, made
from merit.agent import METHODS, Attempt, Episode, FirstAnswer, Method, Reflection, Task, finalise
from merit.agent.behaviour import Recalled, moment_of, reflection_prompt, repair_prompt
from merit.failure import classify
from merit.memory import Entry, Match, PoolReport, Recall
from merit.prompts import SPIDER, VERSION, templates_hash
from merit.runs import Phase, RunFolder, RunView, StreamQuestion, Turn, account, read_run, stream_order
from merit.runs.paths import METRICS, TIMINGS
from merit.types import Demonstration, Failure, Polarity, Question, Regime, Verdict

TABLES = [f"table_{letter}" for letter in "abcdefghijkl"]
COLUMNS = ["id", "name", "age", "country", "city", "year", "price", "rating", "owner_id", "weight"]
SCHEMA = "\n".join(f"CREATE TABLE {table} ({', '.join(f'{column} TEXT' for column in COLUMNS)})" for table in TABLES)
EXAMPLES = [Demonstration(f"Example {i}?", f"SELECT {i} FROM table_a") for i in range(4)]


def statement(draw: random.Random) -> str:
    a, b = draw.sample(TABLES, 2)
    x, y, z = draw.sample(COLUMNS, 3)
    where = f" WHERE T2.{z} {draw.choice(['=', '>', '<'])} {draw.randrange(3000)}" if draw.random() < 0.7 else ""
    return (
        f"SELECT T1.{x}, count(*) FROM {a} AS T1 JOIN {b} AS T2 ON T1.id = T2.owner_id{where} "
        f"GROUP BY T1.{y} ORDER BY count(*) DESC LIMIT {draw.randrange(1, 9)}"
    )


def changed(sql: str, draw: random.Random) -> str:
    """The statement with a word or two replaced; now and then the same again."""
    words = sql.split()
    for _ in range(draw.randrange(4)):
        words[draw.randrange(len(words))] = draw.choice(COLUMNS)
    return " ".join(words)


def write_episodes(
    path: Path, questions: Sequence[Question], method: str, *, seed: int = 0, luck: float = 0.1, finished: bool = True
) -> RunView:
    """Write a run over these questions; 55 first answers in 100 are right, and `luck` of the repairs."""
    firsts = random.Random("first answers")
    stream = {}
    for one in questions:
        sql = statement(firsts)
        stream[one.id] = StreamQuestion(
            one, f"-- {one.db_id}\n{SCHEMA}", FirstAnswer(sql, f"<answer>{sql}</answer>", 700, 40)
        )
    wrong = {one.id for one in questions if firsts.random() > 0.55}
    chosen = METHODS[method].seeded(seed)
    shown = EXAMPLES[: chosen.demonstrations]
    prompts = {"family": VERSION, "sha256": templates_hash()}
    identity = {
        **identity_record(chosen, seed, stream),
        "prompts": prompts,
        "demonstrations": [asdict(one) for one in shown],
    }
    manifest = made(identity)
    entries: list[Entry] = []
    draw = random.Random(f"{method} {seed}")
    with closing(RunFolder(path, manifest, stream)) as folder:
        for position, question in enumerate(stream_order(questions, seed)):
            place = stream[question.id]
            task = Task(question, place.schema, position, place.first_answer, position)
            first = draw.choice([WRONG, WRONG, NO_COLUMN, SYNTAX]) if question.id in wrong else RIGHT
            episode = _episode(task, chosen, first, entries, draw, luck)
            entry = finalise(episode, chosen, manifest.run, Regime.DENOTATION_CONFIRMED)
            if entry is not None:
                entries.append(entry)
            recalls = sum(attempt.recall is not None for attempt in episode.attempts)
            right = (episode.attempts[0].verdict.correct, episode.final.verdict.correct)
            folder.append(Turn(Phase.ANSWER, episode, entry.id if entry else None, *right, recalls))
        if finished:
            folder.write_whole(METRICS, account(folder.turns, chosen))
            folder.write_whole(TIMINGS, TIMES)
    return read_run(path)


def _episode(
    task: Task, method: Method, first: Verdict, entries: Sequence[Entry], draw: random.Random, luck: float
) -> Episode:
    first_answer = task.first_answer
    attempts = [
        Attempt(
            first_answer.sql,
            first_answer.reply,
            first_answer.prompt_tokens,
            first_answer.output_tokens,
            first,
            _failure(first),
        )
    ]
    reflections: list[Reflection] = []
    while method.repairs and attempts[-1].failure is not None:
        if method.reflects:
            prompt = reflection_prompt(SPIDER, task, attempts)
            text = f"The {draw.choice(COLUMNS)} was taken from the wrong table; join it first."
            reflections.append(Reflection(text, f"<reflection>{text}</reflection>", 800, 30, prompt.sha256))
        if len(attempts) > 7:
            break
        recall = _recall(method, entries, draw) if method.recall else None
        found = Recalled(recall.positives, recall.negatives) if recall else Recalled()
        prompt = repair_prompt(
            method, moment_of(SPIDER, task, attempts, reflections, EXAMPLES[: method.demonstrations]), found
        )
        sql = changed(attempts[-1].sql, draw)
        verdict = RIGHT if draw.random() < luck else draw.choice([WRONG, WRONG, NO_COLUMN, SYNTAX])
        reply = f"The query before failed, so it is changed.\n<answer>{sql}</answer>"
        attempts.append(Attempt(sql, reply, 900, 60, verdict, _failure(verdict), prompt.sha256, recall))
    return Episode(task, tuple(attempts), tuple(reflections))


def _failure(verdict: Verdict) -> Failure | None:
    return None if verdict.satisfied else classify(verdict)


def _recall(method: Method, entries: Sequence[Entry], draw: random.Random) -> Recall:
    assert method.recall is not None
    pools = []
    for polarity, most in ((Polarity.POSITIVE, method.recall.positives), (Polarity.NEGATIVE, method.recall.negatives)):
        stored = [entry for entry in entries if entry.polarity is polarity]
        best = draw.sample(stored, min(most, len(stored)))
        matches = tuple(_match(entry, rank, draw) for rank, entry in enumerate(best, 1))
        size, dense, lexical = len(stored), (0.1, 0.9) if stored else None, (0.0, 31.5) if stored else None
        pools.append(PoolReport(polarity, size, size, size // 3, False, False, size, dense, lexical, matches))
    return Recall(method.recall, tuple(pools))


def _match(entry: Entry, rank: int, draw: random.Random) -> Match:
    dense, lexical, low, high = (draw.random() for _ in range(4))
    return Match(entry, rank, 0.75 * low + 0.25 * high, dense, 31.5 * lexical, low, high, 0.0)
