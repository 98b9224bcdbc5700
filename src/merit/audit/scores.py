"""The scores and order of a recall's record: held against the same recall made again, or checked by themselves.

Without the run's encoder, the similarity of two texts cannot be computed. All that follows from the
recorded similarities can be checked all the same: their kinds and ranges, the weighted sums, the bonuses and the order.
"""

import json
from collections.abc import Callable
from dataclasses import replace
from typing import Any

from merit.agent import Recalled
from merit.audit.causal import RELIABLE, RecallOccasion
from merit.errors import AuditFailed
from merit.memory import Cue, Entry, Memory, RecallPolicy, TypeFilter
from merit.runs.retrievals import pool_records
from merit.runs.text import to_json
from merit.types import Polarity

_ROUNDING = 1e-4  # what machines differ in when they compute the same vectors
_ARITHMETIC = 1e-6  # what sums of recorded numbers may differ in
_LARGEST_COSINE = 1.001  # of two vectors of length 1, up to rounding
_LARGEST_LEXICAL = 1e9  # of BM25: far beyond any text that fits into a prompt
_COUNTS = {"stored": int, "legal": int, "same_type": int, "size": int, "typed": bool, "fallback": bool}
Pool = dict[str, Any]


def whole_pools(policy: RecallPolicy, entries: int) -> RecallPolicy:
    """The same policy, but with room for everything that a memory of so many entries has."""
    positives, negatives, precedents = (
        max(1, entries) if limit else 0 for limit in (policy.positives, policy.negatives, policy.precedents)
    )
    return replace(policy, positives=positives, negatives=negatives, precedents=precedents)


def same_ranking(there: Any, here: list[Pool], whole: Callable[[], list[Pool]], *, exact: bool) -> bool:
    """Whether two explanations of a recall agree, if not `exact` then but for an encoder's last digits.

    `whole` gives the explanation of the same recall over whole pools. It is asked for only where entries differ.
    """
    if exact:
        return bool(there == here) and _close(there, here)
    if _close(there, here):
        return True
    pairs = zip(there, here, whole(), strict=True)
    return all(_same_but_for_places(pool, again, everything) for pool, again, everything in pairs)


def _same_but_for_places(pool: Pool, again: Pool, everything: Pool) -> bool:
    """Whether pools agree but for entries that changed places, which only an encoder's last digit may decide."""
    if not _close({**pool, "matches": None}, {**again, "matches": None}):
        return False
    if len(pool["matches"]) != len(again["matches"]):
        return False
    scored = {match["entry"]: match for match in everything["matches"]}
    for match, other in zip(pool["matches"], again["matches"], strict=True):
        true = scored.get(match["entry"])
        if true is None or not _close(match, {**true, "rank": other["rank"]}):
            return False
        if not _close(true["score"], other["score"]):
            return False
    return True


def _close(there: Any, here: Any) -> bool:
    if isinstance(there, dict) and isinstance(here, dict):
        return set(there) == set(here) and all(_close(there[name], here[name]) for name in there)
    if isinstance(there, list) and isinstance(here, list):
        return len(there) == len(here) and all(map(_close, there, here))
    if type(there) is float and type(here) is float:
        return abs(there - here) <= _ROUNDING
    return type(there) is type(here) and bool(there == here)


def with_scores(recalled: Recalled, pools: Any) -> Recalled:
    """What was recalled with the scores that its record gives, once they were checked."""
    return replace(recalled, scores={match["entry"]: match["score"] for pool in pools for match in pool["matches"]})


def check_scores(pools: Any, occasion: RecallOccasion) -> None:
    """Complain unless what legal pools say of scores could be true, as far as that is known without the encoder."""
    for pool in pools:
        for name, kind in _COUNTS.items():
            if type(pool[name]) is not kind:
                raise AuditFailed(f"{occasion.where}: the field {name!r} of a pool is not of its kind")
        for match in pool["matches"]:
            if wrong := _wrong(match, pool, occasion):
                raise AuditFailed(f"{occasion.where}: entry {match['entry']}: {wrong}")
        for channel in ("dense", "lexical"):
            if not _is_range(pool[f"{channel}_range"], channel, used=_uses(channel, pool, occasion.policy)):
                raise AuditFailed(f"{occasion.where}: the field '{channel}_range' is not that of such a pool")
        keys = [_order(match, occasion) for match in pool["matches"]]
        if occasion.policy.random_seed is None and keys != sorted(keys):
            raise AuditFailed(f"{occasion.where}: the entries are not in the order of their scores")


def _wrong(match: Pool, pool: Pool, occasion: RecallOccasion) -> str | None:
    """Which field of a match cannot be what it says, if one cannot."""
    policy = occasion.policy
    total = bonus = _bonus(occasion.committed[match["entry"]], occasion)
    both = policy.dense and policy.lexical
    weights = {"dense": policy.dense_weight, "lexical": 1.0 - policy.dense_weight} if both else {}
    if type(match["rank"]) is not int:
        return "the field 'rank' should be a whole number"
    for channel in ("dense", "lexical"):
        value, scaled = match[channel], match[f"{channel}_normalised"]
        extremes = pool[f"{channel}_range"]
        if not _uses(channel, pool, policy):
            if value is not None or scaled is not None:
                return f"it has a {channel} score, which the method does not use"
            continue
        if not _is_range(extremes, channel, used=True) or not _is_number(value, channel):
            return f"the field {channel!r} or its range is not a possible score"
        low, high = extremes
        expected = (value - low) / (high - low) if high > low else 0.0
        if not low <= value <= high or not _agrees(scaled, expected):
            return f"the field '{channel}_normalised' does not follow from {channel!r} and its range"
        total += weights.get(channel, 1.0) * scaled
    if not _agrees(match["bonus"], bonus):
        return "the field 'bonus' is not the bonus of this entry"
    return None if _agrees(match["score"], total) else "the field 'score' does not follow from the others"


def _bonus(entry: Entry, occasion: RecallOccasion) -> float:
    policy = occasion.policy
    if policy.random_seed is not None:
        return 0.0
    recent = policy.recency * policy.recency_decay ** (occasion.task.reads_from - entry.provenance.position)
    if entry.polarity is Polarity.PRECEDENT:
        return recent + policy.database_bonus * (entry.provenance.db_id == occasion.task.question.db_id)
    prefers = policy.type_filter is TypeFilter.RELIABILITY and occasion.type not in RELIABLE
    return recent + policy.type_bonus * (prefers and entry.type is occasion.type)


def _order(match: Pool, occasion: RecallOccasion) -> tuple[float, float, float, bool, str]:
    """What decides a match's place: the smallest comes first."""
    entry = occasion.committed[match["entry"]]
    same_type = occasion.policy.type_filter is not TypeFilter.NONE and entry.type is occasion.type
    return -match["score"], -(match["dense"] or 0.0), -(match["lexical"] or 0.0), not same_type, entry.id


def _uses(channel: str, pool: Pool, policy: RecallPolicy) -> bool:
    """Whether a pool was scored in a channel."""
    return policy.random_seed is None and bool(getattr(policy, channel)) and pool["size"] > 0


def _is_range(extremes: Any, channel: str, *, used: bool) -> bool:
    if not used:
        return extremes is None
    pair = isinstance(extremes, list) and len(extremes) == 2
    return pair and all(_is_number(value, channel) for value in extremes) and extremes[0] <= extremes[1]


def _is_number(value: Any, channel: str) -> bool:
    largest = _LARGEST_COSINE if channel == "dense" else _LARGEST_LEXICAL
    return type(value) is float and abs(value) <= largest


def _agrees(value: Any, expected: float) -> bool:
    return type(value) is float and abs(value - expected) <= _ARITHMETIC


def explained(memory: Memory, cue: Cue, policy: RecallPolicy) -> list[dict[str, Any]]:
    """A recall's explanation as a file gives it back."""
    records: list[dict[str, Any]] = json.loads(to_json(pool_records(memory.recall(cue, policy))))
    return records
