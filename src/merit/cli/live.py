"""What the commands on a person's own database share: which database, and where what is learned is kept."""

import getpass
import os
import shlex
from dataclasses import replace
from pathlib import Path
from typing import Any

import click

from merit.cli.terminal import say
from merit.errors import InputError
from merit.live import Feedback, LiveAgent, connect, open_live
from merit.live.opening import FOLDER, full_url, name_of, refuse_run
from merit.live.record.history import HISTORY
from merit.memory.store import has_memory
from merit.models.completers import KNOWN
from merit.settings import FILE_NAME, SCOPES, Settings, read_settings
from merit.sql.address import masked
from merit.types import Viewer


def _not_of_a_run(_context: click.Context, _option: click.Parameter, folder: Path) -> Path:
    refuse_run(folder)
    return folder


def _none_if_settings_name_it(_context: click.Context, _option: click.Parameter, url: str | None) -> str | None:
    """None where merit.toml names this very database: then everything in the file holds."""
    path = Path(FILE_NAME)
    if url is None or not path.exists():
        return url
    database = read_settings(path).database
    named = os.environ.get(database.url_env, "") if database.url_env else database.url
    if full_url(url) == full_url(named):
        return None
    say(f"merit: {FILE_NAME} names another database, so nothing in it is used", err=True)
    return url


DATABASE = click.option(
    "--database",
    "url",
    envvar="MERIT_DATABASE",
    callback=_none_if_settings_name_it,
    metavar="URL",
    help="sqlite:///FILE, duckdb:///FILE, postgresql://..., mysql://... or a SQLite file's path (default: "
    "MERIT_DATABASE, or what merit.toml says).",
)
KEPT_IN = click.option(
    "--folder",
    type=click.Path(path_type=Path),
    default=FOLDER,
    show_default=True,
    callback=_not_of_a_run,
    help="Where memory and history are kept.",
)
MEMORY = click.option(
    "--memory",
    envvar="MERIT_MEMORY",
    default="",
    metavar="URL",
    help="postgresql://... of a memory that a team shares (default: MERIT_MEMORY, merit.toml's, or the folder's own).",
)
NAME = click.option(
    "--name", default="", help="What the memory calls the database (default: its file's name); copies may share one."
)
AUTHOR = click.option("--author", default="", help="Who asks or says so (default: the user's name on this machine).")


SCOPE = click.option(
    "--scope",
    type=click.Choice(SCOPES),
    help="Whom what you say is for: you alone, your team, or all who ask the database (default: merit.toml's).",
)
TEAM = click.option(
    "--team",
    envvar="MERIT_TEAM",
    default="",
    metavar="NAME",
    help="The team whose entries are recalled, and made with --scope team (default: MERIT_TEAM, or merit.toml's).",
)
OWN_MODEL = click.option("--model", metavar="URI", help=f"{KNOWN} (default: what merit.toml says).")


def has_learned(folder: Path) -> bool:
    """Whether something was asked or learned in a folder."""
    return (folder / HISTORY).is_file() or has_memory(folder / "memory")


def check_history(folder: Path) -> None:
    """Refuse a folder that is not there, where the history in it is meant."""
    if not folder.is_dir():
        raise _no_history(folder)


def check_learned(folder: Path) -> None:
    """Refuse a folder in which nothing was asked or learned, where that is what is meant: opening it would make one."""
    if not has_learned(folder):
        raise _no_history(folder)


def _no_history(folder: Path) -> InputError:
    return InputError(f"{folder}: there is no history here; ask something first, or name another --folder")


def check_asked_in(folder: Path) -> None:
    """Refuse a folder that is not there, where an answer in it is meant: a slip in its name must not make one."""
    if not folder.is_dir():
        raise InputError(f"{folder}: no such folder; give the --folder that the question was asked with")


def open_agent(
    url: str | None,
    folder: Path,
    name: str,
    model: str | None = None,
    *,
    memory: str = "",
    rows: bool | None = None,
    scope: str | None = None,
    team: str = "",
) -> LiveAgent:
    """The agent for a database, named by options or by merit.toml; without a model it only learns."""
    team = team or os.environ.get("MERIT_TEAM", "")
    if url is not None:
        told: dict[str, Any] = {"scope": scope or "database", "team": team}
        return connect(url, model=model, folder=folder, memory=memory, name=name, rows=rows is not False, **told)
    settings = settings_here(name, model)
    kept = replace(settings.memory, scope=scope or settings.memory.scope, team=team or settings.memory.team)
    settings = replace(settings, memory=kept)
    if rows is not None:
        database = replace(settings.database, rows="prompt" if rows else "never")
        settings = replace(settings, database=database)
    if memory:
        settings = replace(settings, memory=replace(settings.memory, url=memory, url_env=""))
    return open_live(settings, folder)


def settings_here(name: str = "", model: str | None = None) -> Settings:
    """What the merit.toml of this folder says, with another name or model where they are given."""
    path = Path(FILE_NAME)
    if not path.exists():
        raise InputError(
            f"no database was named: give --database, set MERIT_DATABASE, or write {FILE_NAME} with `merit init URL`"
        )
    settings = read_settings(path)
    if name:
        settings = replace(settings, database=replace(settings.database, name=name))
    return replace(settings, model=replace(settings.model, uri=model)) if model else settings


def database_name(url: str | None, name: str) -> str | None:
    """What the memory calls the database that is meant, without opening it; None where none is named."""
    if name or (url is None and not Path(FILE_NAME).exists()):
        return name or None
    return name_of(full_url(url)) if url is not None else settings_here().database.name


def memory_location(url: str | None, folder: Path, memory: str) -> Path | str:
    """Where the memory is that `open_agent` opens: a team's, or the folder's own."""
    if not memory and url is None and Path(FILE_NAME).exists():
        memory = read_settings(Path(FILE_NAME)).memory.resolved_url()
    return memory or folder / "memory"


def viewer_here(url: str | None) -> Viewer:
    """What the person at the keyboard may be shown of a memory; the team is named by MERIT_TEAM or merit.toml."""
    team = os.environ.get("MERIT_TEAM", "")
    if not team and url is None and Path(FILE_NAME).exists():
        team = read_settings(Path(FILE_NAME)).memory.team
    return Viewer(author_or_user(""), team)


def location_shown(url: str | None, folder: Path, memory: str) -> str:
    """What a proposed `merit memory` command calls that memory; a team's URL is not printed."""
    return shlex.quote(str(folder)) if isinstance(memory_location(url, folder, memory), Path) else "MEMORY"


def again(url: str | None, folder: Path, name: str, memory: str = "", author: str = "", team: str = "") -> str:
    """The options of a command that is proposed, so that it works as it is printed."""
    words = [] if url is None or _left_out(url, "MERIT_DATABASE") else ["--database", url]
    words += ["--folder", str(folder)] if folder != FOLDER else []
    words += ["--memory", memory] if memory and not _left_out(memory, "MERIT_MEMORY") else []
    words += ["--name", name] if name else []
    words += ["--author", author] if author else []
    words += ["--team", team] if team and not _left_out(team, "MERIT_TEAM") else []
    return "".join(f" {shlex.quote(word)}" for word in words)


def _left_out(url: str, variable: str) -> bool:
    """Whether a URL is not printed: it is in the environment, or holds a password."""
    return os.environ.get(variable) == url or masked(url) != url


def author_or_user(author: str) -> str:
    """The author that was given, or the user's name, as far as the system knows it."""
    try:
        return author or getpass.getuser()
    except (KeyError, OSError):
        return ""


def learned(feedback: Feedback) -> str:
    """What was kept, in words."""
    if not feedback.entries:
        return "nothing to remember"
    return f"remembered as {', '.join(feedback.entries)}"
