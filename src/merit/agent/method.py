"""Every method, baseline and ablation of the paper as a value in one table (SPEC.md, methods that must exist).

Two of our own come last; their ideas are fields like all others.
"""

from dataclasses import asdict, dataclass, replace
from difflib import get_close_matches
from math import inf
from typing import Any

from merit.errors import InputError
from merit.memory import Databases, Grade, RecallPolicy, TypeFilter
from merit.types import Polarity

BOTH = frozenset({Polarity.POSITIVE, Polarity.NEGATIVE})
POSITIVE = frozenset({Polarity.POSITIVE})


@dataclass(frozen=True, slots=True)
class Method:
    """One way to repair; two methods that differ in a field differ in nothing else."""

    name: str
    summary: str
    repairs: bool = True  # whether failed first answers are repaired at all
    reflects: bool = False  # a reflection after every unsuccessful attempt, shown to the next one
    demonstrations: int = 0  # solved questions of the training split in every repair prompt
    recall: RecallPolicy | None = None  # what of the memory a repair prompt shows
    writes: frozenset[Polarity] = frozenset()  # what a finalised episode may leave behind
    history: bool = True  # whether a repair prompt shows what failed; otherwise it is a first prompt again
    temperature: float = 0.0  # at which repairs are drawn
    greedy_first: bool = False  # the first repair is drawn at temperature 0 all the same
    draws: int = 1  # a repair may take on average; with more than 1, a candidate that came before is drawn again
    votes: bool = False  # where nobody says what is right: draw on, and let the result that most agree on stand
    agreed: float = 0.5  # the share of an episode's candidates that must give its result before it counts as agreed
    seed: int = 0  # of the draws; that of the stream, where draws depend on it
    online: bool = True  # False: reads the memory of the whole stream, so it is a control and no online method

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
        """All fields as plain values."""
        return {**asdict(self), "writes": sorted(self.writes)}


ITERATIVE = Method("iterative", "Repairs from feedback and the episode's own history; remembers nothing.")
MERIT = Method(
    "merit",
    "Recalls up to 3 confirmed changes and 1 failed direction of the same failure type, ranked by both channels.",
    recall=RecallPolicy(),
    writes=BOTH,
)
RESAMPLE = Method(
    "resample",
    "The first prompt again and again, drawn at temperature 0.8; a candidate that came before is drawn again.",
    history=False,
    temperature=0.8,
    draws=3,
    votes=True,
)


def _ablation(name: str, summary: str, **policy: Any) -> Method:
    return replace(MERIT, name=name, summary=summary, recall=replace(RecallPolicy(), **policy))


_ALL = (
    replace(ITERATIVE, name="zero_shot", summary="The shared first answer, never repaired.", repairs=False),
    ITERATIVE,
    replace(
        ITERATIVE,
        name="vanilla",
        summary="iterative with 4 fixed examples of the training split in every repair prompt.",
        demonstrations=4,
    ),
    replace(
        ITERATIVE,
        name="reflexion",
        summary="iterative with a reflection after every unsuccessful attempt; reflections stay in their episode.",
        reflects=True,
    ),
    replace(
        _ablation(
            "dynamic_rag",
            "merit with one pool for everything, at most 4 entries, no failure type, and only confirmed changes kept.",
            one_pool=True,
            type_filter=TypeFilter.NONE,
        ),
        writes=POSITIVE,
    ),
    MERIT,
    _ablation(
        "merit_type_reliability",
        "merit that filters by reliable failure types only, and prefers the same type by 0.10 for the others.",
        type_filter=TypeFilter.RELIABILITY,
    ),
    replace(
        _ablation("positive_only", "merit without failed directions: neither recalled nor kept.", negatives=0),
        writes=POSITIVE,
    ),
    _ablation("no_type_filter", "merit over all failure types.", type_filter=TypeFilter.NONE),
    _ablation("no_dense", "merit ranked by BM25 alone.", dense=False),
    _ablation("no_bm25", "merit ranked by dense similarity alone.", lexical=False),
    _ablation("random_same_type", "merit that draws from its pools at random, seeded.", random_seed=0),
    _ablation(
        "cross_database_only", "merit that recalls nothing learned on the current database.", databases=Databases.OTHER
    ),
    replace(
        MERIT,
        name="transductive_batch",
        summary="NOT ONLINE, a control: all are repaired as by iterative, then again with merit's recall over what all "
        "the others left.",
        online=False,
    ),
    RESAMPLE,
    replace(
        RESAMPLE,
        name="precedent",
        summary="Ours: resample that also shows up to 4 confirmed answers to earlier questions, those on the same "
        "database first, and keeps every confirmed answer.",
        recall=RecallPolicy(
            positives=0,
            negatives=0,
            type_filter=TypeFilter.NONE,
            precedents=4,
            database_bonus=2.0,
            least_grade=Grade.AGREED,
        ),
        writes=frozenset({Polarity.PRECEDENT}),
    ),
)
METHODS = {method.name: method for method in _ALL}


def find_method(name: str) -> Method:
    """The method of a name, or `NAME:field=value,...` for one with other fields; the nearest is offered for a typo."""
    base, colon, changes = name.partition(":")
    if base not in METHODS:
        if "," in base:
            raise InputError(f"{name!r} names several methods, and one is expected; `merit grid` runs many")
        near = get_close_matches(base, METHODS, n=1, cutoff=0.5)
        offer = f"did you mean {near[0]!r}?" if near else "`merit methods` lists them"
        raise InputError(f"there is no method {base!r}; {offer}")
    method = METHODS[base]
    for change in changes.split(",") if colon else ():
        method = _changed(method, change, name)
    if why := _senseless(method):
        raise InputError(f"method {name!r}: {why}")
    return replace(method, name=name)


def _changed(method: Method, change: str, name: str) -> Method:
    field, _, text = change.partition("=")
    owner: Method | RecallPolicy | None = method if field in _FIELDS else method.recall
    if owner is None or field not in owner.__dataclass_fields__ or field in _FIXED:
        fields = "`merit methods --json` lists its fields"
        raise InputError(f"method {name!r}: {field!r} is not a field of it that can be changed; {fields}")
    try:
        changed: Any = replace(owner, **{field: _value(text, getattr(owner, field))})
    except ValueError:
        raise InputError(f"method {name!r}: {field!r} cannot be {text!r}") from None
    return changed if owner is method else replace(method, recall=changed)


_FIXED = ("name", "summary", "recall", "writes", "seed", "online", "random_seed")
_FIELDS = frozenset(Method.__dataclass_fields__)


def _value(text: str, old: Any) -> Any:
    """A field's new value, of the kind of its old one."""
    if isinstance(old, bool):
        if text not in ("true", "false"):
            raise ValueError(text)
        return text == "true"
    value = type(old)(text)
    if isinstance(value, int | float) and not 0 <= value < inf:
        raise ValueError(text)
    return value


def _senseless(method: Method) -> str | None:
    """Why fields do not go together, if they do not: what one asks for, another would silently take away."""
    policy = method.recall
    if method.draws < 1:
        return "'draws' should be 1 or more"
    if method.agreed > 1:
        return "'agreed' is a share of the candidates: 1 at most"
    if method.draws > 1 and not method.temperature:
        return "'draws' above 1 need a 'temperature', or the same answer is drawn again and again"
    if not method.history and (method.reflects or method.demonstrations):
        return "without 'history' a prompt is a first prompt, which shows neither reflections nor examples"
    if policy is None:
        return None
    if not method.history and (policy.positives or policy.negatives):
        return "without 'history' a prompt is a first prompt, which shows no changes; set positives=0,negatives=0"
    if unkept := [polarity for polarity in policy.pools if polarity is not None and polarity not in method.writes]:
        return f"it keeps no {unkept[0]} entries, so none could be recalled"
    if policy.random_seed is None and not (policy.dense or policy.lexical):
        return "'dense' and 'lexical' are both false, so nothing is left to rank by"
    return None
