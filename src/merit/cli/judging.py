"""What a command says once a person has judged an answer."""

from collections.abc import Sequence

import click

from merit.cli.contradictions import show_contradictions
from merit.cli.live import learned
from merit.cli.terminal import print_json
from merit.live import Contradiction, Feedback


def show_judged(said: Feedback, found: Sequence[Contradiction] = (), *, as_json: bool) -> None:
    """What was said and learned, and answers to the same question that contradict it."""
    kind = type(said).__name__.lower()
    if as_json:
        record = {"answer": said.answer, "kind": kind, "entries": list(said.entries)}
        print_json({**record, "contradictions": [contradiction.record() for contradiction in found]})
        return
    click.echo(f"{said.answer}: {kind}; {learned(said)}")
    show_contradictions(found)
