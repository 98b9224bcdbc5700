"""Parts that the prompts of both families have: what a family is, fences around data, confirmed answers."""

import hashlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import TypeVar

from merit.memory import Precedent
from merit.prompts.fence import escaped, fenced
from merit.prompts.template import OWN, fill, read
from merit.types import Question

T = TypeVar("T")
VERSION = "merit-prompts-v3"
LIVE_VERSION = "merit-live-v1"
VERSIONS = {"paper": VERSION, "live": LIVE_VERSION}  # the prompt families by the names that users give
NONE = "(none)"
_LONGEST_TEXT = 4000  # characters of a question or a statement that someone else wrote, in a fenced prompt


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


def with_fence_rule(family: Family, text: str) -> str:
    """A prompt after the sentence that says what fences mean, where data is fenced."""
    return f"{read(f'{OWN}/fence')}\n\n{text}" if family.fenced else text


def shown_data(family: Family, text: str) -> str:
    """Something that a database or a person wrote, as this family shows it."""
    return (fenced(text) if family.fenced else text) or NONE


def shortened(text: str) -> str:
    """A text that someone else wrote: it stays in its fence, and is not longer than prompts have room for."""
    return escaped(text, _LONGEST_TEXT)


def precedents_block(entries: Sequence[Precedent], question: Question, family: Family) -> str:
    """Confirmed answers, the nearest last, where it influences a model most."""
    if not entries:
        return ""
    shown = []
    for number, entry in numbered(list(reversed(entries))):
        db_id = entry.provenance.db_id
        values = {
            "GRADE": entry.grade.capitalize(),
            "INDEX": str(number),
            "DATABASE_IF_ANOTHER": f"Database: {db_id}" if db_id != question.db_id else "",
            "QUESTION": shortened(entry.question) if family.fenced else entry.question,
            "SQL": shortened(entry.sql) if family.fenced else entry.sql,
        }
        shown.append(fill("precedent", values))
    return fill("precedents", {"PRECEDENTS": shown_data(family, "\n".join(shown))})


def numbered(items: Sequence[T]) -> Iterable[tuple[int, T]]:
    """Items with their numbers in a prompt, from 1."""
    return enumerate(items, 1)
