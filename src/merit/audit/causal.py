"""The four causal checks over the record of one recall, restated without the memory's engine.

(i) only entries of finalised episodes, (ii) never the current question's own, (iii) only earlier positions, (iv) no
reference: an entry has no place for one, but for a simulated reviewer's correction, which `audit.reviews` checks too;
the record names entries by their id alone.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from merit.agent import Recalled, Task
from merit.errors import AuditFailed, counted
from merit.memory import Databases, Entry, Precedent, RecallPolicy, Repair, TypeFilter
from merit.types import FailureType, Grade, Polarity

RELIABLE = (FailureType.SYNTAX, FailureType.SCHEMA_LINKING, FailureType.EXECUTION)
_COUNTS = ("polarity", "stored", "legal", "same_type", "typed", "fallback", "size")
_POOL = {*_COUNTS, "dense_range", "lexical_range", "matches"}
_MATCH = {"entry", "rank", "score", "dense", "lexical", "dense_normalised", "lexical_normalised", "bonus"}


@dataclass(frozen=True, slots=True)
class RecallOccasion:
    """When and for what something was recalled."""

    policy: RecallPolicy
    task: Task
    type: FailureType
    committed: Mapping[str, Entry]  # what finished episodes had left by then
    where: str


def check_recall(pools: Any, occasion: RecallOccasion) -> Recalled:
    """Complain unless everything recalled was legal and every pool was what it says; returns what was recalled."""
    policy = occasion.policy
    limits: dict[Polarity | None, int] = {Polarity.POSITIVE: policy.positives, Polarity.NEGATIVE: policy.negatives}
    if policy.one_pool:
        limits = {None: policy.positives + policy.negatives}
    limits[Polarity.PRECEDENT] = policy.precedents
    wanted = [(polarity, limit) for polarity, limit in limits.items() if limit]
    if not isinstance(pools, list) or len(pools) != len(wanted):
        raise AuditFailed(f"{occasion.where}: {len(wanted)} pools should have been recalled from")
    recalled: list[Entry] = []
    for pool, (polarity, limit) in zip(pools, wanted, strict=True):
        recalled += _check_pool(pool, polarity, limit, occasion)
    repairs = [entry for entry in recalled if isinstance(entry, Repair)]
    return Recalled(
        [repair for repair in repairs if repair.polarity is Polarity.POSITIVE],
        [repair for repair in repairs if repair.polarity is Polarity.NEGATIVE],
        [entry for entry in recalled if isinstance(entry, Precedent)],
    )


def _check_pool(pool: Any, polarity: Polarity | None, limit: int, occasion: RecallOccasion) -> list[Entry]:
    where, policy = occasion.where, occasion.policy
    entries = _named(pool, occasion)
    for entry in entries:
        if why := illegal(entry, policy, occasion.task):
            raise AuditFailed(f"{where}: entry {entry.id} was recalled, but {why}")
    members_of = (Polarity.POSITIVE, Polarity.NEGATIVE) if polarity is None else (polarity,)
    stored = [entry for entry in occasion.committed.values() if entry.polarity in members_of]
    legal = [entry for entry in stored if illegal(entry, policy, occasion.task) is None]
    same_type = [entry for entry in legal if entry.type is occasion.type]
    filters = policy.type_filter is TypeFilter.HARD
    filters |= policy.type_filter is TypeFilter.RELIABILITY and occasion.type in RELIABLE
    filters &= polarity is not Polarity.PRECEDENT
    typed = filters and len(same_type) >= policy.typed_threshold
    members = {entry.id for entry in (same_type if typed else legal)}
    counts = [polarity, len(stored), len(legal), len(same_type), typed, filters and not typed, len(members)]
    says = [pool[name] for name in _COUNTS]
    if says != counts:
        raise AuditFailed(f"{where}: the pool is recorded as {says}, but the memory then gives {counts}")
    if strangers := [entry.id for entry in entries if entry.id not in members]:
        raise AuditFailed(f"{where}: entry {strangers[0]} was recalled, but is not in the pool")
    if len(entries) != min(limit, len(members)) or len({entry.id for entry in entries}) != len(entries):
        were = counted(len(entries), "entry was", "entries were")
        raise AuditFailed(f"{where}: {were} recalled from a pool of {len(members)}, at most {limit}")
    if [match["rank"] for match in pool["matches"]] != list(range(1, len(entries) + 1)):
        raise AuditFailed(f"{where}: the ranks do not count up from 1")
    return entries


def _named(pool: Any, occasion: RecallOccasion) -> list[Entry]:
    """The entries that a record names; whatever else it says must be what a recall says."""
    shaped = isinstance(pool, dict) and set(pool) == _POOL and isinstance(pool["matches"], list)
    if not shaped or not all(isinstance(match, dict) and set(match) == _MATCH for match in pool["matches"]):
        raise AuditFailed(f"{occasion.where}: not the record of a recall")
    entries = []
    for match in pool["matches"]:
        if not isinstance(match["entry"], str) or match["entry"] not in occasion.committed:
            raise AuditFailed(
                f"{occasion.where}: entry {match['entry']} was recalled before any finished episode had left it"
            )
        entries.append(occasion.committed[match["entry"]])
    return entries


def illegal(entry: Entry, policy: RecallPolicy, task: Task) -> str | None:
    """Why an entry may not be recalled, if it may not."""
    source = entry.provenance
    if str(source.question_id) == str(task.question.id):
        return "it comes from the question's own attempts"
    if source.position >= task.reads_from:
        return f"it comes from position {source.position}, and only earlier ones than {task.reads_from} may be read"
    if policy.databases is Databases.OTHER and source.db_id == task.question.db_id:
        return "it was learned on the same database"
    if policy.databases is Databases.SAME and source.db_id != task.question.db_id:
        return "it was learned on another database"
    wanted = Grade.CONFIRMED if entry.polarity is Polarity.POSITIVE else policy.least_grade
    if not entry.grade.at_least(wanted):
        return f"it is in quarantine: {entry.grade}, and at least {wanted} is wanted"
    return None
