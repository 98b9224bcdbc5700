"""What `merit confirm`, `merit correct` and `merit reject` share: their options, and what they say afterwards."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import wraps
from pathlib import Path
from typing import Any

import click

from merit.cli.contradictions import show_contradictions
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
    learned,
    open_agent,
)
from merit.cli.options import JSON
from merit.cli.terminal import print_json
from merit.live import Contradiction, Feedback, LiveAgent
from merit.live.record.events import kind_of


@dataclass(frozen=True, slots=True)
class Judging:
    """Whose word about which database's answer is given, as the options say."""

    url: str | None
    folder: Path
    memory: str
    name: str
    given_author: str
    scope: str | None
    team: str
    as_json: bool

    @property
    def author(self) -> str:
        """Who says so."""
        return author_or_user(self.given_author)

    @contextmanager
    def agent(self) -> Iterator[LiveAgent]:
        """The agent that gave the answer."""
        check_asked_in(self.folder)
        with open_agent(
            self.url, self.folder, self.name, memory=self.memory, scope=self.scope, team=self.team
        ) as agent:
            yield agent

    def show(self, feedback: Feedback, contradictions: Sequence[Contradiction] = ()) -> None:
        """What was said and learned, and answers to the same question that contradict it."""
        kind = kind_of(feedback)
        if self.as_json:
            record = {"answer": feedback.answer, "kind": kind, "entries": list(feedback.entries)}
            print_json({**record, "contradictions": [contradiction.record() for contradiction in contradictions]})
            return
        click.echo(f"{feedback.answer}: {kind}; {learned(feedback)}")
        show_contradictions(contradictions)


def judging_options(command: Callable[..., None]) -> Callable[..., None]:
    """A command with the options of a judgement, which it gets as one value, `judging`."""

    @DATABASE
    @KEPT_IN
    @MEMORY
    @NAME
    @AUTHOR
    @SCOPE
    @TEAM
    @JSON
    @wraps(command)
    def with_judging(
        url: str | None,
        folder: Path,
        memory: str,
        name: str,
        author: str,
        scope: str | None,
        team: str,
        as_json: bool,
        **arguments: Any,
    ) -> None:
        command(judging=Judging(url, folder, memory, name, author, scope, team, as_json), **arguments)

    return with_judging
