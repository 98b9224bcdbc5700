"""`merit correct`: how an answer should have been."""

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
@click.argument("sql")
@DATABASE
@KEPT_IN
@MEMORY
@NAME
@AUTHOR
@SCOPE
@TEAM
@JSON
def correct(
    answer: str,
    sql: str,
    url: str | None,
    folder: Path,
    memory: str,
    name: str,
    author: str,
    scope: str | None,
    team: str,
    as_json: bool,
) -> None:
    """Say that SQL is how ANSWER, by its id or the beginning of it, should have been; it is executed first.

    --json prints one object.
    """
    check_asked_in(folder)
    with open_agent(url, folder, name, memory=memory, scope=scope, team=team) as agent:
        said = agent.correct(answer, sql, author=author_or_user(author))
        show_judged(said, agent.contradictions(said.entries, author=said.author), as_json=as_json)
