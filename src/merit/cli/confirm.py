"""`merit confirm`: an answer is right."""

from pathlib import Path

import click

from merit.cli.judged import show_judged
from merit.cli.live import (
    AUTHOR,
    DATABASE,
    KEPT_IN,
    MEMORY,
    NAME,
    SCOPE,
    TEAM,
    author_or_user,
    check_asked_in,
    open_agent,
)
from merit.cli.options import JSON


@click.command()
@click.argument("answer")
@DATABASE
@KEPT_IN
@MEMORY
@NAME
@AUTHOR
@SCOPE
@TEAM
@JSON
def confirm(
    answer: str,
    url: str | None,
    folder: Path,
    memory: str,
    name: str,
    author: str,
    scope: str | None,
    team: str,
    as_json: bool,
) -> None:
    """Say that ANSWER, by its id or the beginning of it, is right: later questions will see it as an example.

    --json prints one object.
    """
    check_asked_in(folder)
    with open_agent(url, folder, name, memory=memory, scope=scope, team=team) as agent:
        said = agent.confirm(answer, author=author_or_user(author))
        show_judged(said, agent.contradictions(said.entries, author=said.author), as_json=as_json)
