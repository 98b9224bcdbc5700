"""What a run is: everything that decides its content, so that two runs of one identity are the same bytes."""

import hashlib
import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, field
from typing import Any, Self

from merit.agent import Method
from merit.agent.feedback import SIMULATED_REVIEWER
from merit.data import Dataset, protocol_title
from merit.runs.reviews import ReviewPolicy
from merit.types import Demonstration, Distinct, EncoderIdentity, ModelIdentity, Regime, Sampling

FORMAT = 1
_HASH = re.compile("[0-9a-f]{64}")
Record = dict[str, Any]  # plain values, as JSON has them


@dataclass(frozen=True, slots=True)
class DatasetIdentity:
    """The data of a run."""

    name: str  # of its layout
    split: str
    sha256: str  # of questions, schemas and databases
    questions: int  # how many of them can be judged
    label: str = ""  # what its owner calls it; nothing is derived from it

    @classmethod
    def of(cls, dataset: Dataset, content_hash: str, usable: int) -> Self:
        """The identity of a dataset whose content hash is known, of which so many questions are usable."""
        return cls(dataset.layout.name, dataset.split, content_hash, usable, dataset.label)

    @property
    def title(self) -> str:
        """What people are shown as its name."""
        return self.label or self.name

    def record(self) -> Record:
        """As a manifest has it; the label only where there is one."""
        record = asdict(self)
        return record if self.label else {name: value for name, value in record.items() if name != "label"}


@dataclass(frozen=True, slots=True)
class PromptsIdentity:
    """The templates that a run's prompts were made of."""

    family: str
    sha256: str


@dataclass(frozen=True, slots=True)
class Identity:
    """Everything that decides a run's content. In the order of the manifest: the most telling fields come first."""

    method: Method
    seed: int
    budget: int
    dataset: DatasetIdentity
    protocol: str
    distinct: Distinct | None  # None where the benchmark's rule has no choice
    timeout_s: float
    regime: Regime
    review: ReviewPolicy | None  # only in the regime reviewed
    initial_sha256: str
    stream_sha256: str
    demonstrations: tuple[Demonstration, ...]
    # A control reads what the whole stream left, so how long that is decides its content; for all others a shorter run
    # is the beginning of a longer one, and this is None.
    length: int | None
    prompts: PromptsIdentity
    model: ModelIdentity
    sampling: Sampling
    encoder: EncoderIdentity | None
    code: str  # hash of the code that decides a run's content

    @property
    def judged_by(self) -> str:
        """Its protocol, as tables and captions name it."""
        return protocol_title(self.protocol, self.distinct)

    def record(self) -> Record:
        """As a manifest has it."""
        return {
            "method": self.method.record(),
            "seed": self.seed,
            "budget": self.budget,
            "dataset": self.dataset.record(),
            "protocol": self.protocol,
            "distinct": self.distinct,
            "timeout_s": self.timeout_s,
            "regime": self.regime.value,
            **({"review": review_record(self.review)} if self.review else {}),
            "initial_sha256": self.initial_sha256,
            "stream_sha256": self.stream_sha256,
            "demonstrations": [asdict(example) for example in self.demonstrations],
            "length": self.length,
            "prompts": asdict(self.prompts),
            "model": asdict(self.model),
            "sampling": self.sampling.record(),
            "encoder": asdict(self.encoder) if self.encoder else None,
            "code": self.code,
        }


@dataclass(frozen=True, slots=True)
class MadeWith:
    """What a run was made with, besides what decides its content."""

    merit: str
    python: str
    sqlite: str
    # The neutral penalties and cut-offs that requests at temperature 0 state, where the server takes them; empty where
    # no request is made, as from a recording, and in runs of earlier versions.
    greedy: Mapping[str, float] = field(default_factory=dict)

    def record(self) -> Record:
        """As a manifest has it; `greedy` only where there is something to say."""
        versions = {"merit": self.merit, "python": self.python, "sqlite": self.sqlite}
        greedy = {name: float(value) for name, value in self.greedy.items()}
        return {**versions, "greedy": greedy} if greedy else versions


@dataclass(frozen=True, slots=True)
class Manifest:
    """manifest.json."""

    run: str  # the run's name: a hash of its identity
    identity: Identity
    made_with: MadeWith

    def record(self) -> Record:
        """As the file has it."""
        return {
            "format": FORMAT,
            "run": self.run,
            "identity": self.identity.record(),
            "made_with": self.made_with.record(),
        }


def review_record(policy: ReviewPolicy) -> Record:
    """How answers were reviewed, and by what: corrections are the references of the questions that they are about."""
    return {"share": policy.share, "kind": policy.kind.value, "author": SIMULATED_REVIEWER}


def run_id(identity: Mapping[str, Any]) -> str:
    """The name of a run: a hash of its identity's record."""
    text = json.dumps(identity, sort_keys=True, ensure_ascii=False)
    return hashlib.sha256(text.encode("utf-8", "replace")).hexdigest()[:16]


def difference(there: Any, here: Any, field: str = "") -> str | None:
    """The first field in which two records differ, with both values; None where they do not."""
    for name, was, is_now in differences(there, here, field):
        return f"{name} is {short(was)} there and {short(is_now)} here"
    return None


def differences(there: Any, here: Any, field: str = "") -> Iterator[tuple[str, Any, Any]]:
    """Every field in which two records differ, with both values, in the manifest's order."""
    if isinstance(there, dict) and isinstance(here, dict):
        for name in dict.fromkeys([*there, *here]):
            yield from differences(there.get(name), here.get(name), f"{field}.{name}".strip("."))
    elif there != here:
        yield field, there, here


def short(value: Any) -> str:
    """A value for a message: of a hash its beginning, of a long text too."""
    if isinstance(value, str) and _HASH.fullmatch(value):
        return f"{value[:12]}..."
    text = json.dumps(value, ensure_ascii=False)
    return text if len(text) <= 80 else f"{text[:77]}..."
