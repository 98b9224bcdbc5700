"""`merit correct`: how an answer should have been."""

import click

from merit.cli.judging import Judging, judging_options


@click.command()
@click.argument("answer")
@click.argument("sql")
@judging_options
def correct(answer: str, sql: str, judging: Judging) -> None:
    """Say that SQL is how ANSWER, by its id or the beginning of it, should have been; it is executed first.

    --json prints one object.
    """
    with judging.agent() as agent:
        feedback = agent.correct(answer, sql, author=judging.author)
        judging.show(feedback, agent.contradictions(feedback.entries, author=feedback.author))
