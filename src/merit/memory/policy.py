"""How recall chooses, as one value: the paper's policy, its variants and every retrieval-side ablation."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from enum import StrEnum

from merit.errors import check_field_types
from merit.types import EVERYONE, Entry, FailureType, Grade, Polarity, Precedent, QuestionId, Repair, Viewer

# Types that database diagnostics support directly: h(tau) = 1 (section 3.3).
RELIABLE_TYPES = frozenset({FailureType.SYNTAX, FailureType.SCHEMA_LINKING, FailureType.EXECUTION})
_LARGEST_BONUS = 1000.0


class Databases(StrEnum):
    """Which databases' entries are legal."""

    ANY = "any"
    SAME = "same"
    OTHER = "other"


class TypeFilter(StrEnum):
    """What the predicted failure type does."""

    HARD = "hard"  # filters, where enough entries of the type exist
    RELIABILITY = "reliability"  # filters reliable types; a bonus for the others
    NONE = "none"


@dataclass(frozen=True, slots=True)
class RecallPolicy:
    """One retrieval policy; the defaults are full MERIT (paper, appendix on retrieval)."""

    positives: int = 3
    negatives: int = 1
    one_pool: bool = False  # positives and negatives compete for `positives + negatives` places (Dynamic RAG)
    type_filter: TypeFilter = TypeFilter.HARD
    typed_threshold: int = 3
    type_bonus: float = 0.10  # of the reliability filter
    dense: bool = True
    lexical: bool = True
    dense_weight: float = 0.75  # the lexical channel has the rest; one channel alone ranks by itself
    databases: Databases = Databases.ANY
    random_seed: int | None = None  # draw at random instead of ranking
    least_grade: Grade = Grade.EXECUTED  # what is less sure is kept, but not recalled until it is confirmed
    precedents: int = 0  # confirmed answers, of whatever failure type
    database_bonus: float = 0.0  # for precedents of the current database: above 1, no other one comes before them
    recency: float = 0.0  # a bonus of `recency * recency_decay ** age`, where an entry's age is counted in questions
    recency_decay: float = 0.995

    def __post_init__(self) -> None:
        check_field_types(self)

    def out_of_bounds(self) -> str | None:
        """What is out of bounds, in words, if anything is: an infinite score could not be recorded."""
        if not 0 <= self.dense_weight <= 1:
            return "'dense_weight' should be a number from 0 to 1; the lexical channel has the rest"
        if not 0 < self.recency_decay <= 1:
            return "'recency_decay' should be a number above 0, 1 at most"
        for name in ("type_bonus", "database_bonus", "recency"):
            if not 0 <= getattr(self, name) <= _LARGEST_BONUS:
                return f"{name!r} should be a number from 0 to {_LARGEST_BONUS:g}; above 1 it outweighs all scores"
        return None

    def least_grade_of(self, polarity: Polarity) -> Grade:
        """The least grade of an entry that may be recalled; a successful change must be confirmed (section 3.2)."""
        return Grade.CONFIRMED if polarity is Polarity.POSITIVE else self.least_grade

    @property
    def pools(self) -> dict[Polarity | None, int]:
        """Which pools are recalled from, and how many of each at most."""
        wanted: dict[Polarity | None, int] = {Polarity.POSITIVE: self.positives, Polarity.NEGATIVE: self.negatives}
        if self.one_pool:
            wanted = {None: self.positives + self.negatives}
        wanted[Polarity.PRECEDENT] = self.precedents
        return {polarity: limit for polarity, limit in wanted.items() if limit > 0}


@dataclass(frozen=True, slots=True)
class Cue:
    """What recall starts from: the current question and its latest failure."""

    question: str
    question_id: QuestionId
    db_id: str
    position: int
    step: int
    sql: str
    failure_context: str
    type: FailureType
    until: int | None = None  # only what was committed up to this sequence number; None for all that is there
    viewer: Viewer = EVERYONE  # who asks: what is for other people is not recalled

    def text(self) -> str:
        """The retrieval query of both channels."""
        return " ".join([self.question, self.sql, self.failure_context, self.type.in_words])

    def dense_text(self, polarity: Polarity | None) -> str:
        """What the encoder reads: precedents are found by the question alone."""
        return self.question if polarity is Polarity.PRECEDENT else self.text()

    def lexical_text(self, polarity: Polarity | None) -> str:
        """What BM25 reads: precedents by question and SQL, since theirs is right and the failed one is close to it."""
        return f"{self.question} {self.sql}" if polarity is Polarity.PRECEDENT else self.text()


@dataclass(frozen=True, slots=True)
class Match:
    """A recalled entry with the scores that brought it up."""

    entry: Entry
    rank: int
    score: float
    dense: float | None
    lexical: float | None
    dense_normalised: float | None
    lexical_normalised: float | None
    bonus: float


@dataclass(frozen=True, slots=True)
class PoolReport:
    """How one pool was chosen and ranked: what logs and pages show."""

    polarity: Polarity | None  # None where confirmed changes and failed directions share the pool
    stored: int  # entries of the polarity
    legal: int  # after the checks of cause, database and grade
    same_type: int  # of those
    typed: bool  # whether the pool was narrowed to the type
    fallback: bool  # whether it would have been, with more entries of the type
    size: int
    dense_range: tuple[float, float] | None
    lexical_range: tuple[float, float] | None
    matches: tuple[Match, ...]


@dataclass(frozen=True, slots=True)
class Recall:
    """The answer to one cue."""

    policy: RecallPolicy
    pools: tuple[PoolReport, ...]
    sequence: int = field(default=0, compare=False)  # the number of the last change of the memory that it knew

    @property
    def positives(self) -> list[Repair]:
        """Confirmed changes, best first."""
        return self._repairs(Polarity.POSITIVE)

    @property
    def negatives(self) -> list[Repair]:
        """Failed directions, best first."""
        return self._repairs(Polarity.NEGATIVE)

    @property
    def precedents(self) -> list[Precedent]:
        """Confirmed answers, best first."""
        return [entry for entry in self._entries() if isinstance(entry, Precedent)]

    @property
    def matches(self) -> list[Match]:
        """Every entry with its scores."""
        return [match for pool in self.pools for match in pool.matches]

    def _repairs(self, polarity: Polarity) -> list[Repair]:
        repairs = (entry for entry in self._entries() if isinstance(entry, Repair))
        return [repair for repair in repairs if repair.polarity is polarity]

    def _entries(self) -> Iterator[Entry]:
        return (match.entry for match in self.matches)
