"""The four causal checks over the record of one recall, restated without the memory's engine.

(i) only entries of finalised episodes, (ii) never the current question's own, (iii) only earlier positions, (iv) no
reference: an entry has no place for one, and the record names entries by their id alone.
"""

from collections.abc import Mapping
from typing import Any

from merit.agent import Task
from merit.errors import AuditFailed
from merit.memory import Databases, Entry, RecallPolicy, TypeFilter
from merit.types import FailureType, Polarity

_RELIABLE = ("SYNTAX", "SCHEMA_LINKING", "EXECUTION")


def check_recall(
    pools: Any, policy: RecallPolicy, task: Task, kind: FailureType, committed: Mapping[str, Entry], where: str
) -> tuple[list[Entry], list[Entry]]:
    """Complain unless everything recalled was legal and every pool was what it says; returns what was recalled."""
    wanted: list[tuple[Polarity | None, int]] = [
        (Polarity.POSITIVE, policy.positives),
        (Polarity.NEGATIVE, policy.negatives),
    ]
    if policy.one_pool:
        wanted = [(None, policy.positives + policy.negatives)]
    wanted = [(polarity, limit) for polarity, limit in wanted if limit]
    if not isinstance(pools, list) or len(pools) != len(wanted):
        raise AuditFailed(f"{where}: {len(wanted)} pools should have been recalled from")
    recalled: list[Entry] = []
    for pool, (polarity, limit) in zip(pools, wanted, strict=True):
        recalled += _check_pool(pool, polarity, limit, policy, task, kind, committed, where)
    split = {p: [entry for entry in recalled if entry.polarity is p] for p in Polarity}
    return split[Polarity.POSITIVE], split[Polarity.NEGATIVE]


def _check_pool(
    pool: Any,
    polarity: Polarity | None,
    limit: int,
    policy: RecallPolicy,
    task: Task,
    kind: FailureType,
    committed: Mapping[str, Entry],
    where: str,
) -> list[Entry]:
    stored = [entry for entry in committed.values() if polarity in (None, entry.polarity)]
    legal = [entry for entry in stored if not _illegal(entry, policy, task)]
    same_type = [entry for entry in legal if entry.type is kind]
    filters = policy.type_filter is TypeFilter.HARD or (
        policy.type_filter is TypeFilter.RELIABILITY and kind in _RELIABLE
    )
    typed = filters and len(same_type) >= policy.typed_threshold
    members = {entry.id for entry in (same_type if typed else legal)}
    try:
        found = [committed.get(match["entry"]) or _unknown(match["entry"], where) for match in pool["matches"]]
        says = [pool[name] for name in ("polarity", "stored", "legal", "same_type", "typed", "fallback", "size")]
    except (KeyError, TypeError) as error:
        raise AuditFailed(f"{where}: not the record of a recall ({error!r})") from None
    for entry in found:
        if why := _illegal(entry, policy, task):
            raise AuditFailed(f"{where}: entry {entry.id} was recalled, but {why}")
        if entry.id not in members:
            raise AuditFailed(f"{where}: entry {entry.id} was recalled, but is not in the pool")
    counted = [len(stored), len(legal), len(same_type), typed, filters and not typed, len(members)]
    if says != [polarity, *counted]:
        raise AuditFailed(f"{where}: the pool is recorded as {says}, but the memory then gives {[polarity, *counted]}")
    if len(found) != min(limit, len(members)) or len({entry.id for entry in found}) != len(found):
        raise AuditFailed(f"{where}: {len(found)} entries were recalled from a pool of {len(members)}, at most {limit}")
    return found


def _unknown(identity: Any, where: str) -> Entry:
    raise AuditFailed(f"{where}: entry {identity} was recalled before any finished episode had left it")


def _illegal(entry: Entry, policy: RecallPolicy, task: Task) -> str | None:
    source = entry.provenance
    if str(source.question_id) == str(task.question.id):
        return "it comes from the question's own attempts"
    if source.position >= task.reads_from:
        return f"it comes from position {source.position}, and only earlier ones than {task.reads_from} may be read"
    if policy.databases is Databases.OTHER and source.db_id == task.question.db_id:
        return "it was learned on the same database"
    if policy.databases is Databases.SAME and source.db_id != task.question.db_id:
        return "it was learned on another database"
    return None
