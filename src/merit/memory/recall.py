"""Recall: choose the pool, score both channels over it, rank, explain (paper, sections 3.2 and 3.3)."""

import random
from bisect import bisect
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import accumulate
from typing import TypeVar

import numpy as np
import numpy.typing as npt

from merit.memory.causal import CueCodes, Mask, legal
from merit.memory.lexical import mean_length, weigh
from merit.memory.policy import RELIABLE_TYPES, Cue, Match, PoolReport, Recall, RecallPolicy, TypeFilter
from merit.memory.rank import Dense, Floats, Ranking, Rows, Scored, rank
from merit.memory.segment import Segment
from merit.memory.vectors import Matrix
from merit.types import Entry, FailureType, Polarity
from merit.vectors import products

_EXACT_ROWS = 8192
Number = TypeVar("Number", bound=np.floating)
_COPIED_BELOW = 0.3  # of a segment: then the pool's rows are copied out instead of scoring all
_UNIT_ROUNDOFF = 2.0**-24  # of single precision


@dataclass(frozen=True, slots=True)
class Catalogue:
    """What there is to recall from, and the cue's own codes in it."""

    segments: Sequence[Segment]
    own: CueCodes
    read: Callable[[Segment, int], Entry]
    encode: Callable[[str], Matrix]


@dataclass(frozen=True)
class PoolPart:
    """The rows of one segment that are in a pool."""

    segment: Segment
    mask: Mask | None  # None where all of it takes part
    size: int

    @cached_property
    def rows(self) -> Rows:
        """The rows that take part."""
        return np.arange(self.size) if self.mask is None else np.flatnonzero(self.mask)


class Pool:
    """The members of a pool, one part after the other."""

    def __init__(self, parts: Sequence[PoolPart]) -> None:
        self.parts = [part for part in parts if part.size]
        self.size = sum(part.size for part in self.parts)
        self._starts = list(accumulate((part.size for part in self.parts), initial=0))

    def row_of(self, at: int) -> tuple[Segment, int]:
        """The segment and row of member number `at`."""
        which = bisect(self._starts, at) - 1
        part = self.parts[which]
        return part.segment, int(part.rows[at - self._starts[which]])

    def id_of(self, at: int) -> str:
        """The entry id of member number `at`."""
        segment, row = self.row_of(at)
        return segment.ids[row]

    def lexical(self, query: str) -> Floats:
        """Every member's BM25 score, with the pool's own statistics."""
        masked = [(part.segment.postings, part.mask) for part in self.parts]
        weights = weigh(query, masked, self.size)
        mean = mean_length(masked, self.size)
        return _joined([postings.score(weights, mean, mask) for postings, mask in masked])

    def dense(self, query: Matrix) -> Dense:
        """Every member's dense score."""
        near = _joined([_near(part, query) for part in self.parts])
        exactly = query.astype(np.float64)

        def exact(members: Rows) -> Floats:
            scores = np.empty(len(members))
            for start in range(0, len(members), _EXACT_ROWS):
                block = slice(start, start + _EXACT_ROWS)
                # Not a matrix product: there a row's last bits depend on where in the block it stands.
                scores[block] = (self._vectors(members[block]) * exactly).sum(axis=1)
            return scores

        return Dense(near, exact, 1.01 * (len(query) + 1) * _UNIT_ROUNDOFF)

    def types(self, kind: FailureType) -> Floats:
        """1 for every member of a failure type, 0 for the others."""
        return _joined([np.full(part.size, float(part.segment.type is kind)) for part in self.parts])

    def in_database(self, database: int) -> Floats:
        """1 for every member learned on a database, 0 for the others."""
        return _joined([(part.segment.databases[part.rows] == database).astype(np.float64) for part in self.parts])

    def ages(self, position: int) -> Floats:
        """How many questions before a position each member was learned."""
        return _joined([(position - part.segment.positions[part.rows]).astype(np.float64) for part in self.parts])

    def _vectors(self, members: Rows) -> Matrix:
        """The vectors of some members."""
        if len(self.parts) == 1:
            return _matrix(self.parts[0])[self.parts[0].rows[members]]
        which = np.searchsorted(self._starts, members, side="right") - 1
        gathered = np.empty((len(members), self._dimension()), np.float32)
        for number in set(which.tolist()):
            part, here = self.parts[number], which == number
            gathered[here] = _matrix(part)[part.rows[members[here] - self._starts[number]]]
        return gathered

    def _dimension(self) -> int:
        return int(_matrix(self.parts[0]).shape[1])


def recall(catalogue: Catalogue, cue: Cue, policy: RecallPolicy) -> Recall:
    """Answer one cue under one policy."""
    reports = [_recall_from(catalogue, cue, policy, *wanted) for wanted in policy.pools.items()]
    return Recall(policy, tuple(reports))


def _recall_from(
    catalogue: Catalogue, cue: Cue, policy: RecallPolicy, polarity: Polarity | None, limit: int
) -> PoolReport:
    takes = (Polarity.POSITIVE, Polarity.NEGATIVE) if polarity is None else (polarity,)
    segments = [s for s in catalogue.segments if s.count and s.polarity in takes]
    trusted = [segment for segment in segments if segment.grade.at_least(policy.least_grade_of(segment.polarity))]
    parts = [_part_of(segment, catalogue, cue, policy) for segment in trusted]
    same_type = [part for part in parts if part.segment.type is cue.type]
    enough = sum(part.size for part in same_type) >= policy.typed_threshold
    filters = policy.type_filter is TypeFilter.HARD or (
        policy.type_filter is TypeFilter.RELIABILITY and cue.type in RELIABLE_TYPES
    )
    filters = filters and polarity is not Polarity.PRECEDENT  # an answer has no failure
    pool = Pool(same_type if filters and enough else parts)
    ranking = Ranking((), None, None)
    if pool.size:
        draws = policy.random_seed is not None
        choose = _draw if draws else _rank
        ranking = choose(pool, cue, policy, polarity, limit, catalogue)
    return PoolReport(
        polarity=polarity,
        stored=sum(segment.present for segment in segments),
        legal=sum(part.size for part in parts),
        same_type=sum(part.size for part in same_type),
        typed=filters and enough,
        fallback=filters and not enough,
        size=pool.size,
        dense_range=ranking.dense_range,
        lexical_range=ranking.lexical_range,
        matches=tuple(_match(catalogue, pool, scored, i) for i, scored in enumerate(ranking.best, 1)),
    )


def _part_of(segment: Segment, catalogue: Catalogue, cue: Cue, policy: RecallPolicy) -> PoolPart:
    mask = legal(segment, cue, catalogue.own, policy.databases)
    size = segment.count if mask is None else int(np.count_nonzero(mask))
    return PoolPart(segment, None if size == segment.count else mask, size)


def _rank(
    pool: Pool, cue: Cue, policy: RecallPolicy, polarity: Polarity | None, limit: int, catalogue: Catalogue
) -> Ranking:
    bonus = None
    if polarity is Polarity.PRECEDENT:
        bonus = policy.database_bonus * pool.in_database(catalogue.own.database)
    elif policy.type_filter is TypeFilter.RELIABILITY and cue.type not in RELIABLE_TYPES:
        bonus = policy.type_bonus * pool.types(cue.type)
    if policy.recency:
        recent = policy.recency * policy.recency_decay ** pool.ages(cue.position)
        bonus = recent if bonus is None else bonus + recent

    def same_type(at: int) -> bool:
        return policy.type_filter is not TypeFilter.NONE and pool.row_of(at)[0].type is cue.type

    return rank(
        pool.dense(catalogue.encode(cue.dense_text(polarity))) if policy.dense else None,
        pool.lexical(cue.lexical_text(polarity)) if policy.lexical else None,
        policy.dense_weight,
        bonus,
        same_type,
        pool.id_of,
        limit,
    )


def _draw(pool: Pool, cue: Cue, policy: RecallPolicy, polarity: Polarity | None, limit: int, _: Catalogue) -> Ranking:
    """The random ablation: the same pool and limit, an order that only seed, question, step and polarity decide."""
    members = sorted(range(pool.size), key=pool.id_of)
    generator = random.Random(f"{policy.random_seed}\0{cue.question_id}\0{cue.step}\0{polarity}")  # noqa: S311
    drawn = generator.sample(members, min(limit, len(members)))
    return Ranking(tuple(Scored(at, 0.0, None, None, None, None, 0.0) for at in drawn), None, None)


def _match(catalogue: Catalogue, pool: Pool, scored: Scored, number: int) -> Match:
    segment, row = pool.row_of(scored.at)
    return Match(
        entry=catalogue.read(segment, row),
        rank=number,
        score=scored.score,
        dense=scored.dense,
        lexical=scored.lexical,
        dense_normalised=scored.dense_normalised,
        lexical_normalised=scored.lexical_normalised,
        bonus=scored.bonus,
    )


def _matrix(part: PoolPart) -> Matrix:
    assert part.segment.vectors is not None
    return part.segment.vectors.matrix


def _near(part: PoolPart, query: Matrix) -> Matrix:
    matrix = _matrix(part)
    if part.mask is None:
        return products(matrix, query)
    if part.size < _COPIED_BELOW * len(matrix):
        return products(matrix[part.mask], query)
    return products(matrix, query)[part.mask]


def _joined(parts: list[npt.NDArray[Number]]) -> npt.NDArray[Number]:
    return parts[0] if len(parts) == 1 else np.concatenate(parts)
