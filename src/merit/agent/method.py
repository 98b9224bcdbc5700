"""A method: one way to repair, as a value."""

from dataclasses import asdict, dataclass, replace
from typing import Any

from merit.agent.behaviour import PAPER, Behaviour
from merit.errors import check_field_types, check_type
from merit.memory import RecallPolicy
from merit.types import Polarity


@dataclass(frozen=True, slots=True)
class Origin:
    """The package that a method comes from, where it is not merit itself; the hash is that of its source."""

    package: str
    version: str
    sha256: str


# Fields that runs of earlier versions lack, and what they mean there; records have them where they differ from it.
SINCE_0_2: dict[str, Any] = {"grounds": False, "grounded_vote": 1.0, "notes": 0}
POLICY_SINCE_0_2: dict[str, Any] = {"recency": 0.0, "recency_decay": 0.995}


@dataclass(frozen=True, slots=True)
class Method:
    """One way to repair; two methods that differ in a field differ in nothing else."""

    name: str
    summary: str
    repairs: bool = True  # whether failed first answers are repaired at all
    reflects: bool = False  # a reflection after every unsuccessful attempt, shown to the next one
    notes: int = 0  # what its behaviour may have the model write after one attempt besides, at most
    demonstrations: int = 0  # solved questions of the training split in every repair prompt
    recall: RecallPolicy | None = None  # what of the memory a repair prompt shows
    writes: frozenset[Polarity] = frozenset()  # what a finalised episode may leave behind
    history: bool = True  # whether a repair prompt shows what failed; otherwise it is a first prompt again
    temperature: float = 0.0  # at which repairs are drawn
    greedy_first: bool = False  # the first repair is drawn at temperature 0 all the same
    grounds: bool = False  # what the database refuses is mended by what the schema knows, without a model
    draws: int = 1  # a repair may take on average; with more than 1, a candidate that came before is drawn again
    votes: bool = False  # where the agent is not told what is right: draw on, and the most frequent result stands
    grounded_vote: float = 1.0  # what the vote of a grounded candidate counts, from 0 to 1
    agreed: float = 0.5  # the share of an episode's candidates that must give its result before it counts as agreed
    seed: int = 0  # of the draws; that of the stream, where draws depend on it
    online: bool = True  # False: reads the memory of the whole stream, so it is a control and not an online method
    behaviour: Behaviour = PAPER  # what it decides beyond these fields
    origin: Origin | None = None

    def __post_init__(self) -> None:
        check_field_types(self)
        for polarity in self.writes:
            check_type("writes", polarity, Polarity, "values of merit.Polarity")

    @property
    def encodes(self) -> bool:
        """Whether it needs an encoder."""
        return self.recall is not None and self.recall.dense and self.recall.random_seed is None

    def seeded(self, seed: int) -> "Method":
        """The method in the stream of a seed; only random recall and draws depend on it."""
        method = replace(self, seed=seed) if self.temperature else self
        if self.recall is None or self.recall.random_seed is None:
            return method
        return replace(method, recall=replace(self.recall, random_seed=seed))

    def record(self) -> dict[str, Any]:
        """All fields as plain values; a behaviour is named by its origin."""
        plain = replace(self, behaviour=PAPER, origin=None)
        record = {**asdict(plain), "writes": sorted(self.writes)}
        del record["behaviour"], record["origin"]
        record = _without(SINCE_0_2, record)
        if record["recall"] is not None:
            record["recall"] = _without(POLICY_SINCE_0_2, record["recall"])
        return record if self.origin is None else {**record, "origin": asdict(self.origin)}


def _without(defaults: dict[str, Any], record: dict[str, Any]) -> dict[str, Any]:
    """A record without the fields that have their default, which is what a missing field means."""
    return {name: value for name, value in record.items() if name not in defaults or value != defaults[name]}
