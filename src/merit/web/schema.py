"""The database's tables, and what is known about each."""

from functools import partial
from typing import Annotated, Any

from fastapi import Path

from merit.live.tables import TableUse, answers_using, find_table, schema_record, table_record, table_uses
from merit.web.answers import agent_of
from merit.web.asked import short_record
from merit.web.memory import entry_record
from merit.web.people import Reader, Served
from merit.web.replies import JsonRouter
from merit.web.seeing import seen_entries, sees

router = JsonRouter(prefix="/api", tags=["schema"])
_MOST = 50  # entries and answers that are listed with a table


@router.get("/schema")
def schema(site: Served, who: Reader) -> dict[str, Any]:
    """All tables with their columns, and how many entries use each."""
    parts = agent_of(site).parts
    return {
        "database": parts.schema.db_id,
        "dialect": parts.engine.dialect,
        "tables": schema_record(parts, table_uses(parts, seen_entries(parts, who))),
    }


@router.get("/schema/{table}")
def one_table(table: Annotated[str, Path(max_length=300)], site: Served, who: Reader) -> dict[str, Any]:
    """One table, with example values where they may be read, and the entries and answers that use it."""
    parts = agent_of(site).parts
    found = find_table(parts, table)
    use = table_uses(parts, seen_entries(parts, who)).get(found.name.lower(), TableUse())
    answers = answers_using(parts, found, _MOST, partial(sees, parts, who))
    return {
        **table_record(parts, found, use),
        "used_by_entries": [entry_record(item) for item in use.entries[::-1][:_MOST]],
        "used_by_answers": [short_record(asked, None) for asked in answers],
    }
