"""The database's tables, and what is known about each."""

from typing import Annotated, Any

from fastapi import Path

from merit.live.schema.tables import TableUse, answers_using, find_table, schema_record, table_record, table_uses
from merit.web.authentication import Reader, Served
from merit.web.records import short_record
from merit.web.replies import JsonRouter
from merit.web.routes.memory import entry_record
from merit.web.site import agent_of
from merit.web.visibility import entries_for, sight_of

router = JsonRouter(prefix="/api", tags=["schema"])
_MOST = 50  # entries and answers that are listed with a table


@router.get("/schema")
def schema(site: Served, who: Reader) -> dict[str, Any]:
    """All tables with their columns, and how many entries use each."""
    parts = agent_of(site).parts
    return {
        "database": parts.schema.db_id,
        "dialect": parts.engine.dialect,
        "tables": schema_record(parts, entries_for(site, who)),
    }


@router.get("/schema/{table:path}")  # a table's name may have a slash
def one_table(table: Annotated[str, Path(max_length=300)], site: Served, who: Reader) -> dict[str, Any]:
    """One table, with example values where they may be read, and the entries and answers that use it."""
    parts = agent_of(site).parts
    found = find_table(parts, table)
    answers = answers_using(parts, found, _MOST, sight_of(site, who))
    use = table_uses(parts, entries_for(site, who)).get(found.name.lower(), TableUse())
    return {
        **table_record(parts, found, use),
        "used_by_entries": [entry_record(item) for item in use.entries[::-1][:_MOST]],
        "used_by_answers": [short_record(asked, None) for asked in answers],
    }
