"""`merit confirm`: an answer is right."""

from pathlib import Path

import click

from merit.cli.contradictions import show_contradictions
from merit.cli.live import AUTHOR, DATABASE, KEPT_IN, MEMORY, NAME, SCOPE, TEAM, author_or_user, learned, opened


@click.command()
@click.argument("answer")
@DATABASE
@KEPT_IN
@MEMORY
@NAME
@AUTHOR
@SCOPE
@TEAM
def confirm(
    answer: str, url: str | None, folder: Path, memory: str, name: str, author: str, scope: str | None, team: str
) -> None:
    """Say that ANSWER, by its id or the beginning of it, is right: later questions will see it as an example."""
    with opened(url, folder, name, memory=memory, scope=scope, team=team) as agent:
        said = agent.confirm(answer, author=author_or_user(author))
        click.echo(f"{said.answer}: confirmed; {learned(said)}")
        show_contradictions(agent.contradictions(said.entries, author=said.author))
