"""Promotion: what is for one person becomes a team's or everyone's, once another look was taken at it.

The entry that is for more people has an id of its own and takes the place of the other one, which says so.
"""

from collections.abc import Iterable
from dataclasses import replace

from merit.errors import Conflict, InputError, NotFound
from merit.live.calls import check_text
from merit.memory import Deletion, Entry, Listed, Memory, Precedent, Restoration, with_id
from merit.memory.contents import PROMOTED
from merit.types import ScopeKind, covers, is_scope, scope_kind


def waiting_for_promotion(listed: Iterable[Listed]) -> list[Entry]:
    """What people keep to themselves and that may be shown to them: one entry for each answer that it is from."""
    found: dict[tuple[object, ...], Entry] = {}
    for item in listed:
        if item.recallable and scope_kind(item.entry.provenance.scope) is ScopeKind.PERSONAL:
            key = _episode(item.entry)
            if key not in found or isinstance(item.entry, Precedent):
                found[key] = item.entry
    return list(found.values())


def promote(memory: Memory, identity: str, team: str, author: str) -> list[Entry]:
    """Let an entry, and all else that was learned from the same answer, be for a team; without one, for everyone."""
    check_text(author + team, "the author or the team")
    scope = f"team:{team}" if team else None
    if scope is not None and not is_scope(scope):
        raise InputError("the team should be a name on one line, of at most 200 characters")
    listed = memory.listed()
    wanted = next((item for item in listed if item.entry.id == identity), None)
    if wanted is None:
        raise NotFound(f"there is no entry {identity!r} in this memory")
    if not wanted.recallable:
        raise Conflict(f"{identity}: is not recalled any more ({wanted.deleted or wanted.stale})")
    if covers(wanted.entry.provenance.scope, scope):
        raise Conflict(f"{identity}: is for these people already")
    same = [item.entry for item in listed if item.recallable and _episode(item.entry) == _episode(wanted.entry)]
    new = [with_id(replace(entry, provenance=replace(entry.provenance, scope=scope))) for entry in same]
    by = f" by {author}" if author else ""
    gone = {old.id: Deletion(old.id, f"{PROMOTED} {entry.id}{by}") for old, entry in zip(same, new, strict=True)}
    made = memory.commit_all(new, gone.values(), [Restoration(entry.id, f"promoted again{by}") for entry in new])
    after = {item.entry.id: item.deleted for item in memory.listed()}
    if any(after.get(identity) != deletion.reason for identity, deletion in gone.items()):
        memory.commit_all([], [Deletion(entry.id, "taken back while it was promoted") for entry in made])
        raise Conflict(f"{identity}: was taken back meanwhile; nothing was promoted")
    return made


def _episode(entry: Entry) -> tuple[object, ...]:
    source = entry.provenance
    return source.scope, source.run, str(source.question_id), source.db_id
