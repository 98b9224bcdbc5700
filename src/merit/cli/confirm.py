"""`merit confirm`: an answer is right."""

from pathlib import Path

import click

from merit.cli.contradictions import show_contradictions
from merit.cli.live import AUTHOR, DATABASE, KEPT_IN, MEMORY, NAME, author_or_user, learned, opened


@click.command()
@click.argument("answer")
@DATABASE
@KEPT_IN
@MEMORY
@NAME
@AUTHOR
def confirm(answer: str, url: str | None, folder: Path, memory: str, name: str, author: str) -> None:
    """Say that ANSWER, by its id or the beginning of it, is right: later questions will see it as an example."""
    with opened(url, folder, name, memory=memory) as agent:
        said = agent.confirm(answer, author=author_or_user(author))
        click.echo(f"{said.answer}: confirmed; {learned(said)}")
        show_contradictions(agent.contradictions(said.entries))
