"""`merit reject`: an answer is wrong."""

import click

from merit.cli.judging import Judging, judging_options


@click.command()
@click.argument("answer")
@click.argument("reason", default="")
@judging_options
def reject(answer: str, reason: str, judging: Judging) -> None:
    """Say that ANSWER, by its id or the beginning of it, is wrong, with a REASON if you like.

    --json prints one object.
    """
    with judging.agent() as agent:
        feedback = agent.reject(answer, reason=reason, author=judging.author)
    judging.show(feedback)
