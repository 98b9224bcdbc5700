"""`merit chat`: a conversation with a person's own database."""

import json
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import click

from merit.cli.ask import progress_shown, show_answer
from merit.cli.live import (
    AUTHOR,
    DATABASE,
    KEPT_IN,
    MEMORY,
    NAME,
    OWN_MODEL,
    SCOPE,
    TEAM,
    author_or_user,
    learned,
    open_agent,
)
from merit.cli.options import JSON
from merit.cli.terminal import Console, inline, json_line, say
from merit.errors import InputError, MeritError
from merit.live import Answer, Chat, Feedback, LiveAgent
from merit.live.answer_record import answer_record
from merit.live.record.events import kind_of

_HELP = ":yes  :no [REASON]  :sql SELECT ...  :why  :quit"
_LONGEST_LINE = 100_000  # characters: a question, or the SQL of a correction


@click.command()
@DATABASE
@OWN_MODEL
@KEPT_IN
@MEMORY
@NAME
@AUTHOR
@SCOPE
@TEAM
@JSON
def chat(
    url: str | None,
    model: str | None,
    folder: Path,
    memory: str,
    name: str,
    author: str,
    scope: str | None,
    team: str,
    as_json: bool,
) -> None:
    """Talk with a database of your own: a question may refer to the ones before it.

    One question a line, on a terminal or piped in. :yes says that the last answer is right, :no REASON that it is
    wrong, and :sql SELECT ... how it should have been. :why shows how it was found, and :quit ends. Piped in, the exit
    code is 1 if a line could not be followed. --json prints one object for every line of input: `kind` is answer (then
    the fields of `merit ask --json`), confirmed, rejected, corrected, why, help or error.
    """
    with open_agent(url, folder, name, model, memory=memory, scope=scope, team=team) as agent:
        conversation = _Conversation(agent, author_or_user(author), as_json)
        for line in _lines(as_json):
            if line.lower() == ":quit":
                break
            conversation.follow(line)
    if conversation.failed and not sys.stdin.isatty():
        raise SystemExit(1)


def _lines(as_json: bool) -> Iterator[str]:
    """What a person types, or what is piped in; empty lines are passed over."""
    asks = sys.stdin.isatty()
    if asks:
        say(f"ask, or say what you think of the last answer: {_HELP}", err=as_json)
    while True:
        if asks:
            click.echo("> ", nl=False, err=as_json)
        line = sys.stdin.readline(_LONGEST_LINE)
        if not line:
            return
        if line.strip():
            yield line.strip()


class _Conversation:
    """A chat, and the commands about its last answer."""

    def __init__(self, agent: LiveAgent, author: str, as_json: bool) -> None:
        self._agent = agent
        self._author = author
        self._as_json = as_json
        self._chat: Chat = agent.chat(author=author)
        self.failed = False  # a line could not be followed

    def follow(self, line: str) -> None:
        """Ask a question, or do what a command says; a mistake is told, and the conversation goes on."""
        try:
            if line.startswith(":"):
                self._command(*_parted(line))
            else:
                answer = self._chat.ask(line, progress=progress_shown())
                if self._as_json:
                    _tell("answer", **answer_record(answer))
                else:
                    show_answer(answer)
                self.failed |= answer.rows is None
        except MeritError as error:
            self.failed = True
            if self._as_json:
                _tell("error", error=str(error))
            else:
                say(f"merit: {error}", err=True)

    def _command(self, name: str, rest: str) -> None:
        commands: dict[str, Callable[[str], None]] = {
            ":yes": self._yes,
            ":no": self._no,
            ":sql": self._correct,
            ":why": self._why,
            ":help": self._help,
        }
        if name not in commands:
            raise InputError(f"there is no command {name}; there are {_HELP}")
        commands[name](rest)

    def _last(self) -> Answer:
        if not self._chat.answers:
            raise InputError("nothing was asked yet")
        return self._chat.answers[-1]

    def _yes(self, _rest: str) -> None:
        self._judged(self._agent.confirm(self._last().id, author=self._author))

    def _no(self, reason: str) -> None:
        self._judged(self._agent.reject(self._last().id, reason=reason, author=self._author))

    def _correct(self, sql: str) -> None:
        if not sql:
            raise InputError("write the SQL behind it, such as :sql SELECT count(*) FROM orders")
        self._judged(self._agent.correct(self._last().id, sql, author=self._author))

    def _judged(self, feedback: Feedback) -> None:
        kind = kind_of(feedback)
        if self._as_json:
            _tell(kind, answer=feedback.answer, entries=list(feedback.entries))
        else:
            say(f"{kind}; {learned(feedback)}")

    def _help(self, _rest: str) -> None:
        if self._as_json:
            _tell("help", commands=_HELP.split("  "))
        else:
            say(_HELP)

    def _why(self, _rest: str) -> None:
        answer, console = self._last(), Console()
        if self._as_json:
            attempts = [
                {"sql": attempt.sql, "status": attempt.verdict.status, "error": attempt.verdict.error}
                for attempt in answer.attempts
            ]
            known = {"recalled": list(answer.recalled), "passed": list(answer.passed)}
            _tell("why", answer=answer.id, agreement=round(answer.agreement, 4), attempts=attempts, **known)
            return
        console.print(f"answer {answer.id}, {100 * answer.agreement:.0f}% of {len(answer.attempts)} candidates' votes")
        for attempt in answer.attempts:
            console.block(attempt.sql or "(no SQL in the reply)", 2, "cyan")
            console.print(f"    {inline(attempt.verdict.error or attempt.verdict.status)}")
        shown = ", ".join(answer.recalled) or "none"
        console.print(f"examples that the model was shown: {inline(shown)}")
        for check in answer.passed:
            console.print(f"passed the check {inline(repr(check))}")


def _tell(kind: str, **fields: Any) -> None:
    """Print what became of one line of input, as one line; a reader gets it at once."""
    click.echo(json_line(json.dumps({"kind": kind, **fields})))


def _parted(line: str) -> tuple[str, str]:
    name, _, rest = line.partition(" ")
    return name.lower(), rest.strip()
