"""Drift: which entries a change of the database's schema concerns, and whether it was undone.

An entry goes stale when a table or column that it certainly uses is gone, when such a column has another type, or when
its statement may mean something else now and does not run any more. It is fresh again when none of this holds.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass

from merit.live.schema.lineage import Columns, Lineage
from merit.memory import Entry, Listed, Precedent
from merit.types import Polarity

Runs = Callable[[str], str | None]  # runs a statement; the database's words where it fails


@dataclass(frozen=True, slots=True)
class Drift:
    """Entries whose state a look at the schema changes, by id, each with its reason."""

    stale: Mapping[str, str]
    fresh: Mapping[str, str]
    again: int = 0  # how many statements were run again


def statement(entry: Entry) -> str:
    """The statement whose working an entry rests on: the right one; of a direction seen to fail, where it began."""
    if isinstance(entry, Precedent):
        return entry.sql
    return entry.before if entry.polarity is Polarity.NEGATIVE else entry.after


def find_drift(listed: Iterable[Listed], lineage_of: Callable[[Entry], Lineage], now: Columns, runs: Runs) -> Drift:
    """Which of some entries are stale now and were not, or the other way round."""
    stale: dict[str, str] = {}
    fresh: dict[str, str] = {}
    again = 0
    for item in listed:
        if item.deleted is not None:
            continue
        entry, found = item.entry, lineage_of(item.entry)
        reason = gone(found, now)
        must_run = item.stale is not None or is_doubtful(found, now)
        if reason is None and must_run and entry.polarity is not Polarity.NEGATIVE:
            again += 1
            error = runs(statement(entry))
            reason = None if error is None else f"does not run any more: {error}"
        if reason is not None and item.stale is None:
            stale[entry.id] = reason
        elif reason is None and item.stale is not None:
            fresh[entry.id] = f"holds again, was stale because: {item.stale}"
    return Drift(stale, fresh, again)


def gone(found: Lineage, now: Columns) -> str | None:
    """What of a lineage is not there any more, or has another type, in words; None where all is as it was."""
    for table, columns in found.uses.items():
        if table not in now.types:
            return f"the table {table} is gone"
        for column, was in columns.items():
            present = now.types[table].get(column)
            if present is None:
                return f"{table}.{column} is gone"
            if present != was:
                return f"{table}.{column} was {was or 'of no type'} and is {present or 'of no type'} now"
    return None


def is_doubtful(found: Lineage, now: Columns) -> bool:
    """Whether only running a statement again tells if it still works."""
    return not found.known or any(now.owners(name, found.uses) != owners for name, owners in found.unqualified.items())
