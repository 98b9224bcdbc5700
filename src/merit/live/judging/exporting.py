"""What a memory may show to later questions, as pairs for other tools."""

from collections.abc import Iterable
from dataclasses import dataclass

from merit.errors import InputError
from merit.formats import Pair
from merit.live.record.lines import plain_question
from merit.live.record.visibility import visible
from merit.memory import Grade, Listed, Precedent
from merit.sql import canonical
from merit.types import DIALECTS, EVERYONE, Viewer


@dataclass(frozen=True, slots=True)
class Exported:
    """The pairs of one database, and how many entries of it are left behind."""

    database: str
    pairs: tuple[Pair, ...]
    withheld: int  # deleted or stale
    less_sure: int  # below the grade that was asked for
    changes: int  # repairs, which are not answers by themselves


def export_pairs(
    listed: Iterable[Listed], database: str = "", least: Grade = Grade.TESTED, viewer: Viewer = EVERYONE
) -> Exported:
    """The answers about a database that a person may be shown and are at least so sure, each once, oldest first."""
    entries = visible(listed, viewer)
    database = database or _only_database(entries)
    about = [item for item in entries if item.entry.provenance.db_id == database]
    kept = [item.entry for item in about if item.recallable]
    answers = [entry for entry in kept if isinstance(entry, Precedent)]
    sure = [entry for entry in answers if entry.grade.at_least(least)]
    pairs: dict[tuple[str, str], Pair] = {}
    for entry in sure:
        source = entry.provenance
        pair = Pair(entry.question.strip(), entry.sql.strip(), entry.id, source.author or "", source.time or "")
        dialect = source.dialect if source.dialect in DIALECTS else "sqlite"
        pairs[plain_question(entry.question), canonical(entry.sql, dialect)] = pair  # the newest stays
    return Exported(
        database, tuple(pairs.values()), len(about) - len(kept), len(answers) - len(sure), len(kept) - len(answers)
    )


def _only_database(entries: list[Listed]) -> str:
    names = sorted({item.entry.provenance.db_id for item in entries})
    if len(names) > 1:
        raise InputError(f"the memory is about several databases: {', '.join(names[:10])}; choose one with --name")
    return names[0] if names else ""
