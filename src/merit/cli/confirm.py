"""`merit confirm`: an answer is right."""

import click

from merit.cli.judging import Judging, judging_options


@click.command()
@click.argument("answer")
@judging_options
def confirm(answer: str, judging: Judging) -> None:
    """Say that ANSWER, by its id or the beginning of it, is right: later questions will see it as an example.

    --json prints one object.
    """
    with judging.agent() as agent:
        feedback = agent.confirm(answer, author=judging.author)
        judging.show(feedback, agent.contradictions(feedback.entries, author=feedback.author))
