"""The prompt family merit-prompts-v3 (paper, appendix "Prompt Templates"): one user message, no system prompt."""

import hashlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import TypeVar

from merit.errors import InputError, one_line
from merit.memory import Precedent, Repair
from merit.prompts.fence import CLOSE, OPEN, escaped, fenced
from merit.prompts.live import LiveContext
from merit.prompts.template import LIVE, OWN, fill, names, read
from merit.types import Demonstration, Failure, Grade, Question, Verdict

T = TypeVar("T")
VERSION = "merit-prompts-v3"
LIVE_VERSION = "merit-live-v1"
VERSIONS = {"paper": VERSION, "live": LIVE_VERSION}  # the prompt families by the names that users give
_NONE = "(none)"
_LONGEST_TEXT = 4000  # characters of a question or a statement that someone else wrote, in a fenced prompt
_LONGEST_SQL = 1000  # characters of a statement that failed before
_LONGEST_ERROR = 300  # and of what the database said
Tried = tuple[str, Verdict]  # an attempt's SQL and what the judge said


@dataclass(frozen=True, slots=True)
class Family:
    """What a prompt is for: the name in its version line, whether there is evidence, and the SQL that is asked for."""

    name: str
    evidence: bool
    dialect: str = "sqlite"  # a key of `merit.types.DIALECTS`
    live: bool = False  # the family for live use instead of the paper's
    fenced: bool = False  # whether data is fenced, as on a person's own database


SPIDER = Family("spider", evidence=False)
BIRD = Family("bird", evidence=True)


def family_named(benchmark: str, version: str = VERSION) -> Family:
    """The prompt family of a benchmark, by the name of its layout."""
    return replace(BIRD if benchmark == BIRD.name else SPIDER, live=version == LIVE_VERSION)


@dataclass(frozen=True, slots=True)
class Prompt:
    """A message to a model."""

    version: str
    text: str

    @property
    def sha256(self) -> str:
        """The hash that records keep of it; `merit audit` renders the text again."""
        return hashlib.sha256(self.text.encode()).hexdigest()


def initial(
    family: Family,
    question: Question,
    schema: str,
    precedents: Sequence[Precedent] = (),
    live: LiveContext | None = None,
    draw: int = 0,
) -> Prompt:
    """Ask for a first answer (Listing "Shared initial SQL-generation prompt"), or for one as if it were the first.

    The family for live use words later draws differently: answers that agree across prompts are more often right.
    """
    if family.live and live is not None:
        return _live_prompt(family, question, live, precedents, draw)
    shown = _precedents(precedents, question, family)
    return _prompt("initial", family, question, schema, {"PRECEDENTS_IF_ANY": shown})


def repair(
    family: Family,
    question: Question,
    schema: str,
    tried: Sequence[Tried],
    failure: Failure,
    *,
    positives: Sequence[Repair] = (),
    negatives: Sequence[Repair] = (),
    precedents: Sequence[Precedent] = (),
    reflections: Sequence[str] = (),
    demonstrations: Sequence[Demonstration] = (),
) -> Prompt:
    """Ask for a revision (Listing "MERIT repair prompt"); the static examples are the baseline `vanilla`'s alone."""
    verdict = tried[-1][1]
    return _prompt(
        "repair",
        family,
        question,
        schema,
        {
            "STATIC_EXAMPLES_IF_ANY": _static_examples(demonstrations),
            "PRECEDENTS_IF_ANY": _precedents(precedents, question, family),
            "RETRIEVED_POSITIVE_MEMORIES_OR_(none)": _data(
                family, "\n".join(_positive(i, entry) for i, entry in _numbered(positives))
            ),
            "RETRIEVED_NEGATIVE_MEMORIES_OR_(none)": _data(
                family, "\n".join(_negative(i, entry) for i, entry in _numbered(negatives))
            ),
            "LOCAL_REFLECTIONS_OR_(none)": _data(
                family, "\n".join(f"[Local reflection {i}] {text}" for i, text in _numbered(reflections))
            ),
            "STATUS": verdict.status,
            "ERROR_TYPE": failure.type.in_words,
            "DATABASE_ERROR_OR_(none)": _data(family, verdict.error or ""),
            "ALL_PREVIOUS_SQL_ATTEMPTS": _data(
                family, "\n\n".join(_attempt(i, attempt) for i, attempt in _numbered(tried))
            ),
        },
    )


def reflection(family: Family, question: Question, schema: str, tried: Sequence[Tried], failure: Failure) -> Prompt:
    """Ask what went wrong (Listing "Reflection-generation prompt"); only the Reflexion-style baseline does."""
    values = {"ERROR_TYPE": failure.type.in_words, "ATTEMPTS_AND_OUTCOMES": outcomes(family, tried)}
    return _prompt("reflection", family, question, schema, values)


def outcomes(family: Family, tried: Sequence[Tried]) -> str:
    """Every attempt and what became of it."""
    shown = []
    for number, (sql, verdict) in _numbered(tried):
        about = {"INDEX": str(number), "STATUS": verdict.status, "DATABASE_ERROR_OR_(none)": verdict.error or _NONE}
        shown.append(fill("outcome", {**about, "SQL": sql}))
    return _data(family, "\n\n".join(shown))


def templates_hash(version: str = VERSION) -> str:
    """One hash over all template files of a family; the one for live use shares most with the paper's."""
    used = names() if version == VERSION else [*names(), *names(LIVE)]
    text = "".join(f"{name}\0{read(name)}\0" for name in used)
    return hashlib.sha256(text.encode()).hexdigest()


def _live_prompt(
    family: Family, question: Question, live: LiveContext, precedents: Sequence[Precedent], draw: int
) -> Prompt:
    purpose = "initial" if not draw else "odd_draw" if draw % 2 else "even_draw"
    mentions, evidence = "\n".join(live.mentions), question.evidence or ""
    values = {
        "DATABASE_SCHEMA": _data(family, live.tables if draw else live.bare),
        "MENTIONED_VALUES_IF_ANY": fill(f"{LIVE}/mentioned", {"VALUES": _data(family, mentions)}) if mentions else "",
        "NOTES_IF_ANY": _known(family, live),
        "PRECEDENTS_IF_ANY": _precedents(precedents, question, family),
        "EVIDENCE_IF_ANY": fill(f"{LIVE}/evidence", {"EVIDENCE": evidence}) if evidence else "",
        "QUESTION": question.text,
    }
    text = fill(f"{LIVE}/{purpose}", values, family.dialect)
    if live.declinable:
        text = f"{text}\n\n{read(f'{OWN}/decline')}"
    return Prompt(f"{family.name}-live-{purpose}-v1", _with_rule(family, text))


def _known(family: Family, live: LiveContext) -> str:
    """What people wrote down, asked before and rejected, and what earlier candidates came to."""
    notes = "\n".join(f"- {note}" for note in live.notes)
    turns = "\n".join(f"Question: {_short(question)}\nSQL: {_short(sql)}" for question, sql in live.conversation)
    rejected = "\n".join(f"- {_short(sql)}" for sql in live.rejected)
    blocks = [fill(f"{LIVE}/notes", {"NOTES": _data(family, notes)})] if notes else []
    blocks += [fill(f"{OWN}/conversation", {"TURNS": _data(family, turns)})] if turns else []
    blocks += [fill(f"{OWN}/rejected", {"REJECTED": _data(family, rejected)})] if rejected else []
    if live.failed:
        failed = "\n".join(fill(f"{OWN}/failed_statement", _failed_statement(*pair)) for pair in live.failed)
        shown = f"{OPEN}\n{failed}\n{CLOSE}" if family.fenced else failed
        blocks.append(fill(f"{OWN}/failed", {"STATEMENTS": shown}))
    return "\n\n".join(blocks)


def _failed_statement(sql: str, error: str) -> dict[str, str]:
    """A statement that stays in its fence, and a message that stays in its line."""
    return {"SQL": escaped(sql, _LONGEST_SQL), "ERROR": escaped(one_line(error), _LONGEST_ERROR)}


def _with_rule(family: Family, text: str) -> str:
    return f"{read(f'{OWN}/fence')}\n\n{text}" if family.fenced else text


def _data(family: Family, text: str) -> str:
    """Something that a database or a person wrote, as this family shows it."""
    return (fenced(text) if family.fenced else text) or _NONE


def _short(text: str) -> str:
    return escaped(text, _LONGEST_TEXT)


def _prompt(purpose: str, family: Family, question: Question, schema: str, values: dict[str, str]) -> Prompt:
    return framed(purpose, f"{family.name}-{purpose}-v3", family, question, schema, values)


def framed(
    template: str, version: str, family: Family, question: Question, schema: str, values: dict[str, str]
) -> Prompt:
    """A template filled in with what every prompt says: its version, the schema, the evidence, the question."""
    common = {
        "PROMPT_VERSION": version,
        "DATABASE_SCHEMA": _data(family, schema) if schema else "",
        "BIRD_CONTEXT_IF_APPLICABLE": _evidence(question, family.dialect) if family.evidence else "",
        "QUESTION": question.text,
    }
    return Prompt(version, _with_rule(family, fill(template, {**common, **values}, family.dialect)))


def _evidence(question: Question, dialect: str) -> str:
    if question.evidence is None:
        raise InputError(
            f"question {question.id}: the field 'evidence' is missing, and BIRD's prompts need it; "
            "add it to the questions file (an empty text where there is none)"
        )
    formula = fill("evidence_formula", {}, dialect) if question.evidence else ""
    heading = fill("evidence_heading", {"BIRD_EVIDENCE": question.evidence}, dialect) if question.evidence else ""
    return fill("evidence", {"EVIDENCE_IF_ANY": heading, "FORMULA_RULE_IF_ANY": formula}, dialect)


def _attempt(number: int, attempt: Tried) -> str:
    """An earlier attempt; one that ran, where no reference decides, was not seen to fail."""
    sql, verdict = attempt
    observed = "executed" if verdict.satisfied else "observed unsuccessful"
    return fill("history", {"INDEX": str(number), "OBSERVED": observed, "SQL": sql})


def _positive(number: int, entry: Repair) -> str:
    if entry.grade is not Grade.CONFIRMED:
        raise ValueError(f"entry {entry.id} is {entry.grade}, and would be shown as confirmed")
    return fill(
        "positive",
        {
            "INDEX": str(number),
            "ENTRY_ID": entry.id,
            "ERROR_TYPE": entry.type.in_words,
            "PREVIOUS_FAILURE_CONTEXT": entry.failure_context,
            "FAILED_SQL_TO_CORRECT_SQL_TRANSITION": entry.successful_direction,
            "SQL_CHANGE": entry.delta,
        },
    )


def _negative(number: int, entry: Repair) -> str:
    return fill(
        "negative",
        {
            "INDEX": str(number),
            "ENTRY_ID": entry.id,
            "ERROR_TYPE": entry.type.in_words,
            "FAILURE_CONTEXT": entry.failure_context,
            "SQL_CHANGE": entry.delta,
            "OUTCOME": entry.outcome,
            "DATABASE_ERROR": entry.observed_error,
        },
    )


def _precedents(entries: Sequence[Precedent], question: Question, family: Family) -> str:
    """Confirmed answers, the nearest last, where it influences a model most."""
    if not entries:
        return ""
    shown = []
    for number, entry in _numbered(list(reversed(entries))):
        db_id = entry.provenance.db_id
        values = {
            "GRADE": entry.grade.capitalize(),
            "INDEX": str(number),
            "DATABASE_IF_ANOTHER": f"Database: {db_id}" if db_id != question.db_id else "",
            "QUESTION": _short(entry.question) if family.fenced else entry.question,
            "SQL": _short(entry.sql) if family.fenced else entry.sql,
        }
        shown.append(fill("precedent", values))
    return fill("precedents", {"PRECEDENTS": _data(family, "\n".join(shown))})


def _static_examples(demonstrations: Sequence[Demonstration]) -> str:
    if not demonstrations:
        return ""
    examples = [
        fill(
            "demonstration",
            {
                "INDEX": str(i),
                "QUESTION": demonstration.question,
                "EVIDENCE_IF_ANY": f"Evidence: {demonstration.evidence}" if demonstration.evidence else "",
                "SQL": demonstration.sql,
            },
        )
        for i, demonstration in _numbered(demonstrations)
    ]
    return fill("demonstrations", {"EXAMPLES": "\n".join(examples)})


def _numbered(items: Sequence[T]) -> Iterable[tuple[int, T]]:
    return enumerate(items, 1)
