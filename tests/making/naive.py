"""Recall straight from the paper's formulas: no index, no shortcut, everything recomputed from the entries.

Written for the tests, to be compared with; deliberately slow.
"""

import math
import random
import re
from collections.abc import Sequence
from dataclasses import dataclass

from merit.memory import Cue, Databases, Entry, RecallPolicy, TypeFilter
from merit.types import Encoder, FailureType, Polarity

RELIABLE = (FailureType.SYNTAX, FailureType.SCHEMA_LINKING, FailureType.EXECUTION)


@dataclass
class Found:
    id: str
    score: float
    dense: float | None
    lexical: float | None


def tokens(text: str) -> list[str]:
    return re.findall(r"[a-z0-9_]+", text.lower())


def bm25(query: str, documents: list[str]) -> list[float]:
    split = [tokens(document) for document in documents]
    mean = sum(map(len, split)) / len(split) or 1.0
    scores = []
    for document in split:
        score = 0.0
        for word in tokens(query):  # with repetition
            frequency = sum(word in other for other in split)
            idf = math.log(1 + (len(split) - frequency + 0.5) / (frequency + 0.5))
            times = document.count(word)
            score += idf * times * 2.5 / (times + 1.5 * (1 - 0.75 + 0.75 * len(document) / mean))
        scores.append(score)
    return scores


def min_max(scores: list[float]) -> list[float]:
    low, high = min(scores), max(scores)
    return [(score - low) / (high - low) if high > low else 0.0 for score in scores]


def is_legal(entry: Entry, cue: Cue, databases: Databases) -> bool:
    source = entry.provenance
    if not source.position < cue.position or source.question_id == cue.question_id:
        return False
    same = source.db_id == cue.db_id
    return {Databases.ANY: True, Databases.SAME: same, Databases.OTHER: not same}[databases]


def recall(memory: Sequence[Entry], cue: Cue, policy: RecallPolicy, encoder: Encoder) -> list[list[Found]]:
    """The pools' best entries, in order."""
    wanted: list[tuple[Polarity | None, int]] = [
        (Polarity.POSITIVE, policy.positives),
        (Polarity.NEGATIVE, policy.negatives),
    ]
    if policy.one_pool:
        wanted = [(None, policy.positives + policy.negatives)]
    wanted.append((Polarity.PRECEDENT, policy.precedents))
    return [best(memory, cue, policy, encoder, polarity, limit) for polarity, limit in wanted if limit]


def best(
    memory: Sequence[Entry], cue: Cue, policy: RecallPolicy, encoder: Encoder, polarity: Polarity | None, limit: int
) -> list[Found]:
    answers = polarity is Polarity.PRECEDENT
    members = (Polarity.POSITIVE, Polarity.NEGATIVE) if polarity is None else (polarity,)
    legal = [e for e in memory if e.polarity in members and is_legal(e, cue, policy.databases)]
    typed = [e for e in legal if e.type is cue.type]
    filters = {TypeFilter.HARD: True, TypeFilter.NONE: False, TypeFilter.RELIABILITY: cue.type in RELIABLE}
    narrows = filters[policy.type_filter] and not answers and len(typed) >= policy.typed_threshold
    pool = typed if narrows else legal
    if not pool:
        return []
    if policy.random_seed is not None:
        generator = random.Random(f"{policy.random_seed}\0{cue.question_id}\0{cue.step}\0{polarity}")
        ids = sorted(e.id for e in pool)
        return [Found(i, 0.0, None, None) for i in generator.sample(ids, min(limit, len(ids)))]
    dense = lexical = dense_n = lexical_n = None
    if policy.dense:
        query = encoder.encode([cue.question if answers else cue.text()])[0]
        vectors = encoder.encode([e.dense_text() for e in pool])
        dense = [round(math.fsum(float(a) * float(b) for a, b in zip(query, v, strict=True)), 12) for v in vectors]
        dense_n = min_max(dense)
    if policy.lexical:
        asked = f"{cue.question} {cue.sql}" if answers else cue.text()
        lexical = [round(score, 12) for score in bm25(asked, [e.lexical_text() for e in pool])]
        lexical_n = min_max(lexical)
    found = []
    for i, entry in enumerate(pool):
        if dense_n is not None and lexical_n is not None:
            score = policy.dense_weight * dense_n[i] + (1 - policy.dense_weight) * lexical_n[i]
        else:
            score = (dense_n or lexical_n or [0.0] * len(pool))[i]
        score += policy.recency * policy.recency_decay ** (cue.position - entry.provenance.position)
        same = entry.type is cue.type and policy.type_filter is not TypeFilter.NONE
        if answers:
            score += policy.database_bonus * (entry.provenance.db_id == cue.db_id)
        elif same and policy.type_filter is TypeFilter.RELIABILITY and cue.type not in RELIABLE:
            score += policy.type_bonus
        order = (
            -round(score, 12),
            -(dense or [0.0] * len(pool))[i],
            -(lexical or [0.0] * len(pool))[i],
            -same,
            entry.id,
        )
        channels = (None if scores is None else scores[i] for scores in (dense, lexical))
        found.append((order, Found(entry.id, score, *channels)))
    return [f for _, f in sorted(found, key=lambda pair: pair[0])[:limit]]
