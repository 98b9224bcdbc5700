"""The memory: looked through, reviewed, and changed by hand."""

from dataclasses import asdict
from typing import Annotated, Any, Literal

from fastapi import Path, Query
from pydantic import BaseModel, ConfigDict, Field

from merit.live.browsing import MemorySearch, search_memory, state_of
from merit.live.curating import Curator
from merit.live.review import Waiting, waiting_in
from merit.memory import Listed, Precedent
from merit.types import Entry
from merit.web.answers import Limit, Name, Words, agent_of
from merit.web.asked import use_record
from merit.web.judging import Reason
from merit.web.people import Curating, Reader, Served
from merit.web.replies import JsonRouter
from merit.web.site import Site

router = JsonRouter(prefix="/api", tags=["memory"])
EntryId = Annotated[str, Path(pattern="^[a-z]{3}-[0-9a-f]{1,32}$")]
_FLAG = Annotated[bool, Query(description="Only list what it would concern.")]


class Edit(BaseModel):
    """A question and its right statement."""

    model_config = ConfigDict(extra="forbid", strict=True)

    question: str = Field(min_length=1, max_length=10_000)
    sql: str = Field(min_length=1, max_length=100_000)


@router.get("/memory")
def entries(
    site: Served,
    _: Reader,
    words: Words = "",
    grade: Literal["", "confirmed", "tested", "agreed", "executed"] = "",
    kind: Literal["", "positive", "negative", "precedent"] = "",
    database: Annotated[str, Query(max_length=300)] = "",
    author: Name = "",
    scope: Name = "",
    state: Literal["live", "stale", "retracted", "all"] = "live",
    limit: Limit = 50,
    before: Annotated[str, Query(max_length=40, description="`next` of the page before.")] = "",
) -> dict[str, Any]:
    """Entries with their state, newest first."""
    search = MemorySearch(words, grade, kind, database, author, scope, state)
    page = search_memory(agent_of(site).parts.memory.listed(), search, limit, before)
    return {"entries": [entry_record(item) for item in page.items], "next": page.after}


@router.get("/memory/review")
def review(site: Served, _: Reader, limit: Limit = 100) -> dict[str, Any]:
    """What waits for a person, most useful first; answers that contradict each other before all else."""
    agent = agent_of(site)
    parts = agent.parts
    waiting = waiting_in(parts.history, parts.memory.listed(), parts.schema.db_id)
    return {
        "contradictions": [one.record() for one in agent.contradictions()],
        "waiting": [_waiting_record(item) for item in waiting[:limit]],
        "count": len(waiting),
    }


@router.get("/memory/conflicts")
def conflicts(site: Served, _: Reader) -> dict[str, Any]:
    """Answers to one question that give different results."""
    return {"contradictions": [one.record() for one in agent_of(site).contradictions()]}


@router.get("/memory/{entry}")
def show(entry: EntryId, site: Served, _: Reader) -> dict[str, Any]:
    """One entry in full, and the later answers that rest on it."""
    curator = curator_of(site)
    item = curator.find(entry)
    return {**entry_record(item), **_whole(item.entry), "uses": [use_record(use) for use in curator.uses(entry)]}


@router.delete("/memory/{entry}")
def retract(
    entry: EntryId,
    site: Served,
    who: Curating,
    dry_run: _FLAG = False,
    reason: Annotated[str, Query(max_length=2000)] = "",
) -> dict[str, Any]:
    """Take an entry out of every later recall; the answers that rest on it are listed."""
    curator = curator_of(site)
    curator.find(entry)
    uses = curator.uses(entry)
    if not dry_run:
        curator.retract(entry, who.author, reason)
    return {"retracted": not dry_run, "uses": [use_record(use) for use in uses]}


@router.post("/memory/{entry}/restore")
def restore(entry: EntryId, site: Served, who: Curating) -> dict[str, Any]:
    """Take a retraction back."""
    curator = curator_of(site)
    curator.restore(entry, who.author)
    return entry_record(curator.find(entry))


@router.post("/memory/{entry}/confirm")
def confirm_entry(entry: EntryId, site: Served, who: Curating, given: Reason | None = None) -> dict[str, Any]:  # noqa: ARG001 - a body may be sent
    """Say that an entry which waits for a person is right: a confirmed one takes its place."""
    curator = curator_of(site)
    return entry_record(curator.find(curator.confirm(entry, who.author).id))


@router.put("/memory/{entry}")
def edit(entry: EntryId, given: Edit, site: Served, who: Curating) -> dict[str, Any]:
    """Rewrite an answer: it is executed first, enters as confirmed by its author, and the old one is retracted."""
    curator = curator_of(site)
    new = curator.edit(entry, given.question, given.sql, who.author)
    against = agent_of(site).contradictions([new.id])
    return {**entry_record(curator.find(new.id)), "contradictions": [one.record() for one in against]}


def curator_of(site: Site) -> Curator:
    """Changes the memory of the site's agent."""
    agent = agent_of(site)
    return Curator(agent.parts, agent.limits)


def entry_record(item: Listed) -> dict[str, Any]:
    """An entry with its state."""
    entry, source = item.entry, item.entry.provenance
    return {
        "id": entry.id,
        "kind": entry.polarity,
        "grade": entry.grade,
        "question": entry.question,
        "sql": entry.sql if isinstance(entry, Precedent) else entry.after,
        "before": None if isinstance(entry, Precedent) else entry.before,
        "database": source.db_id,
        "author": source.author,
        "time": source.time,
        "scope": getattr(source, "scope", None),
        "state": state_of(item),
        "deleted": item.deleted,
        "stale": item.stale,
        "sequence": item.sequence,
    }


def _whole(entry: Entry) -> dict[str, Any]:
    record = {name: value for name, value in asdict(entry).items() if name not in ("schema", "id", "question")}
    return {"entry": record, "provenance": record.pop("provenance")}


def _waiting_record(item: Waiting) -> dict[str, Any]:
    return asdict(item)
