"""The memory: looked through, reviewed, and changed by hand."""

from dataclasses import asdict
from typing import Annotated, Any, Literal

from fastapi import Path, Query
from pydantic import BaseModel, ConfigDict, Field
from starlette.convertors import Convertor, register_url_convertor

from merit.live.judging.curating import Curator
from merit.live.judging.review import ReviewItem, waiting_in
from merit.live.record.browsing import MemorySearch, search_memory, state_of
from merit.memory import Listed, Precedent
from merit.types import Entry
from merit.web.authentication import Curating, Person, Reader, Served
from merit.web.replies import JsonRouter
from merit.web.routes.answers import Limit, Name, Words
from merit.web.routes.judging import Reason
from merit.web.site import Site, agent_of
from merit.web.visibility import curates, entries_for, sight_of, uses_for


class EntryConvertor(Convertor[str]):
    """An entry's id in a path. Other words do not match, so /memory/review is not read as an entry."""

    regex = "[a-z]{3}-[0-9a-f]{1,32}"

    def convert(self, value: str) -> str:
        """As it is."""
        return value

    def to_string(self, value: str) -> str:
        """As it is."""
        return value


router = JsonRouter(prefix="/api", tags=["memory"])
register_url_convertor("entry", EntryConvertor())
EntryId = Annotated[str, Path(pattern=f"^{EntryConvertor.regex}$")]
_FLAG = Annotated[bool, Query(description="Only list what it would concern.")]


class Edit(BaseModel):
    """A question and its right statement."""

    model_config = ConfigDict(extra="forbid", strict=True)

    question: str = Field(min_length=1, max_length=10_000)
    sql: str = Field(min_length=1, max_length=100_000)


@router.get("/memory")
def entries(
    site: Served,
    who: Reader,
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
    search = MemorySearch(
        words=tuple(words.split()), grade=grade, kind=kind, database=database, author=author, scope=scope, state=state
    )
    page = search_memory(entries_for(site, who), search, limit, before)
    return {"entries": [entry_record(item) for item in page.items], "next": page.after}


@router.get("/memory/review")
def review(site: Served, who: Reader, limit: Limit = 100) -> dict[str, Any]:
    """What waits for a person, most useful first; answers that contradict each other before all else."""
    agent = agent_of(site)
    parts = agent.parts
    seen = sight_of(site, who)
    waiting = waiting_in(parts.history, entries_for(site, who), parts.schema.db_id, lambda asked: seen(asked, None))
    return {
        "contradictions": [contradiction.record() for contradiction in agent.contradictions(author=who.author)],
        "waiting": [_waiting_record(item) for item in waiting[:limit]],
        "count": len(waiting),
    }


@router.get("/memory/conflicts")
def conflicts(site: Served, who: Reader) -> dict[str, Any]:
    """Answers to one question that give different results."""
    found = agent_of(site).contradictions(author=who.author)
    return {"contradictions": [contradiction.record() for contradiction in found]}


@router.get("/memory/{entry:entry}")
def show(entry: EntryId, site: Served, who: Reader) -> dict[str, Any]:
    """One entry in full, and the later answers that rest on it."""
    curator = curator_of(site, who)
    item = curator.find(entry)
    uses = uses_for(site, who, curator.uses(entry))
    return {**entry_record(item), **_whole(item.entry), "uses": [use.record() for use in uses]}


@router.delete("/memory/{entry:entry}")
def retract(
    entry: EntryId,
    site: Served,
    who: Curating,
    dry_run: _FLAG = False,
    reason: Annotated[str, Query(max_length=2000)] = "",
) -> dict[str, Any]:
    """Take an entry out of every later recall; the answers that rest on it are listed."""
    curator = curator_of(site, who)
    curator.find(entry)
    uses = uses_for(site, who, curator.uses(entry))
    if not dry_run:
        curator.retract(entry, who.author, reason)
    return {"retracted": not dry_run, "uses": [use.record() for use in uses]}


@router.post("/memory/{entry:entry}/restore")
def restore(entry: EntryId, site: Served, who: Curating) -> dict[str, Any]:
    """Take a retraction back."""
    curator = curator_of(site, who)
    curator.restore(entry, who.author)
    return entry_record(curator.find(entry))


@router.post("/memory/{entry:entry}/confirm")
def confirm_entry(entry: EntryId, site: Served, who: Curating, given: Reason | None = None) -> dict[str, Any]:  # noqa: ARG001 - a body may be sent
    """Say that an entry which waits for a person is right: a confirmed one takes its place."""
    curator = curator_of(site, who)
    return entry_record(curator.find(curator.confirm(entry, who.author).id))


@router.post("/memory/{entry:entry}/promote")
def promote(entry: EntryId, site: Served, who: Curating) -> dict[str, Any]:
    """Let what a person said for themselves be their team's, or everyone's where the server names no team."""
    made = [item.id for item in curator_of(site).promote(entry, who.author)]
    against = agent_of(site).contradictions(made, author=who.author)
    return {"promoted": entry, "entries": made, "contradictions": [contradiction.record() for contradiction in against]}


@router.put("/memory/{entry:entry}")
def edit(entry: EntryId, given: Edit, site: Served, who: Curating) -> dict[str, Any]:
    """Rewrite an answer: it is executed first, enters as confirmed by its author, and the old one is retracted."""
    curator = curator_of(site, who)
    new = curator.edit(entry, given.question, given.sql, who.author)
    against = agent_of(site).contradictions([new.id], author=who.author)
    return {
        **entry_record(curator.find(new.id)),
        "contradictions": [contradiction.record() for contradiction in against],
    }


def curator_of(site: Site, who: Person | None = None) -> Curator:
    """Changes the memory of the site's agent; a person who does not curate sees only what is for them."""
    agent = agent_of(site)
    viewer = None if who is None or curates(who) else agent.parts.viewer(who.author)
    return Curator(agent.parts, agent.limits, viewer)


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
        "scope": source.scope,
        "state": state_of(item),
        "deleted": item.deleted,
        "stale": item.stale,
        "sequence": item.sequence,
    }


def _whole(entry: Entry) -> dict[str, Any]:
    record = {name: value for name, value in asdict(entry).items() if name not in ("schema", "id", "question")}
    return {"entry": record, "provenance": record.pop("provenance")}


def _waiting_record(item: ReviewItem) -> dict[str, Any]:
    return asdict(item)
