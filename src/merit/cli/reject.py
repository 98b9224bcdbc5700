"""`merit reject`: an answer is wrong."""

from pathlib import Path

import click

from merit.cli.live import AUTHOR, DATABASE, KEPT_IN, MEMORY, NAME, SCOPE, TEAM, author_or_user, learned, opened


@click.command()
@click.argument("answer")
@click.argument("reason", default="")
@DATABASE
@KEPT_IN
@MEMORY
@NAME
@AUTHOR
@SCOPE
@TEAM
def reject(
    answer: str,
    reason: str,
    url: str | None,
    folder: Path,
    memory: str,
    name: str,
    author: str,
    scope: str | None,
    team: str,
) -> None:
    """Say that ANSWER, by its id or the beginning of it, is wrong, with a REASON if you like."""
    with opened(url, folder, name, memory=memory, scope=scope, team=team) as agent:
        said = agent.reject(answer, reason=reason, author=author_or_user(author))
    click.echo(f"{said.answer}: rejected; {learned(said)}")
