"""Every method, baseline and ablation of the paper as a value in one table (docs/spec.md, methods).

Five are our own; their ideas are fields like all others. Ideas of related work are in `merit.agent.related`.
"""

from dataclasses import replace
from typing import Any

from merit.agent.method import Method
from merit.memory import Databases, Grade, RecallPolicy, TypeFilter
from merit.types import Polarity

BOTH = frozenset({Polarity.POSITIVE, Polarity.NEGATIVE})
POSITIVE = frozenset({Polarity.POSITIVE})

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
RESAMPLE_GROUNDED = replace(
    RESAMPLE,
    name="resample_grounded",
    summary="Ours: resample whose candidates are grounded; where candidates vote, one that had to be grounded counts "
    "less.",
    grounds=True,
    grounded_vote=0.3,
)
PRECEDENT = replace(
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
)


def _ablation(name: str, summary: str, **policy: Any) -> Method:
    return replace(MERIT, name=name, summary=summary, recall=replace(RecallPolicy(), **policy))


_ALL = (
    replace(ITERATIVE, name="zero_shot", summary="The shared first answer, never repaired.", repairs=False),
    replace(
        ITERATIVE,
        name="grounded",
        summary="Ours: the shared first answer; what the database refuses is mended by what the schema knows, without "
        "a model.",
        repairs=False,
        grounds=True,
    ),
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
    RESAMPLE_GROUNDED,
    PRECEDENT,
    replace(
        PRECEDENT,
        name="precedent_grounded",
        summary="Ours: precedent whose candidates are grounded: what the database refuses is mended by what the schema "
        "knows.",
        grounds=True,
        grounded_vote=0.3,
    ),
)
METHODS = {method.name: method for method in _ALL}
