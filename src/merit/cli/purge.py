"""`merit memory purge`: erase what was learned or asked from the files themselves."""

import os
import sys
from contextlib import closing
from pathlib import Path

import click

from merit.cli.live import memory_location
from merit.cli.memory import LOCATION, Location, tell, warn_of_audit
from merit.cli.options import JSON
from merit.cli.terminal import say
from merit.errors import InputError, counted
from merit.live import History
from merit.live.record.history import HISTORY
from merit.live.record.purging import MEMORY, Purge, Purged, erase_from_memory, purge_all
from merit.memory import FileStore, curate
from merit.memory.store import has_memory


@click.command("purge")
@LOCATION
@click.option("--entry", "entries", multiple=True, metavar="ID", help="This entry; the beginning of its id is enough.")
@click.option("--answer", "answers", multiple=True, metavar="ID", help="Everything about this answer.")
@click.option("--author", "authors", multiple=True, metavar="NAME", help="Everything that this person asked or said.")
@click.option("--database", "databases", multiple=True, metavar="NAME", help="Everything about this database.")
@click.option("--deleted", is_flag=True, help="Every entry that was deleted: keeps the file small.")
@click.option("--yes", is_flag=True, help="Do not ask.")
@JSON
def purge(
    location: Location,
    entries: tuple[str, ...],
    answers: tuple[str, ...],
    authors: tuple[str, ...],
    databases: tuple[str, ...],
    deleted: bool,
    yes: bool,
    as_json: bool,
) -> None:
    """Erase for good: from the memory, its index, the history and the cache of the model's answers.

    Unlike `delete`, nothing of it stays in any of these files; only that an entry was purged, under its number. Give
    at least one of --entry, --answer, --author, --database and --deleted. What was exported or copied is not reached.
    """
    if not isinstance(location, Path):
        raise InputError("only a memory in a folder can be purged; in a team's memory, `merit memory delete` entries")
    folder = location / MEMORY if (location / HISTORY).is_file() else location  # whose memory may be a team's
    project = folder.parent if (folder.parent / HISTORY).is_file() else None
    if not all((*entries, *answers, *authors, *databases)):
        raise InputError("an id or a name is empty; say what to purge")
    if answers and project is None:
        raise InputError(f"{folder}: has no history beside it, so there is no answer to purge")
    found: list[str] = []
    if entries or project is None or has_memory(folder):
        with closing(FileStore(folder, writable=False)) as store:
            found = [curate.find(store, identity).entry.id for identity in entries]
            found += curate.deleted_ids(store) if deleted else []
    if project is not None:
        answers = tuple(History(project).find(identity)[0].id for identity in answers)
    wanted = Purge(tuple(found), answers, authors, databases)
    if not wanted and not deleted:
        raise InputError("say what to purge: --entry, --answer, --author, --database or --deleted")
    _make_sure(yes)
    done = purge_all(project, wanted) if project is not None else Purged(erase_from_memory(folder, wanted, []))
    if done.entries:
        warn_of_audit(folder)
    gone, replies = counted(done.entries, "entry", "entries"), counted(done.replies, "reply", "replies")
    sentence = f"purged {gone}, {counted(done.events, 'event')} of the history and {replies} of the model"
    tell(as_json, {"entries": done.entries, "events": done.events, "replies": done.replies}, sentence)
    if project is not None and isinstance(memory_location(None, project, os.environ.get("MERIT_MEMORY", "")), str):
        say(
            "merit: the team's memory was not reached; `merit memory delete` takes entries out of recall there",
            err=True,
        )


def _make_sure(yes: bool) -> None:
    if yes:
        return
    if not sys.stdin.isatty():
        raise InputError("what is purged cannot be brought back; give --yes to purge without being asked")
    if not click.confirm("What is purged cannot be brought back. Purge it?"):
        raise InputError("nothing was purged")
