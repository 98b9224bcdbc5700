"""`merit memory review`: what waits for a person's word, the most useful first."""

import json
import sys
from contextlib import closing
from dataclasses import asdict
from pathlib import Path

import click

from merit.cli.contradictions import show_contradictions
from merit.cli.live import (
    AUTHOR,
    DATABASE,
    KEPT_IN,
    MEMORY,
    NAME,
    TEAM,
    author_or_user,
    check_history,
    learned,
    memory_place,
    open_agent,
    place_shown,
)
from merit.cli.options import JSON, this_command
from merit.cli.terminal import Console, inline, say
from merit.errors import InputError, MeritError, counted
from merit.live import LiveAgent
from merit.live.judging.promoting import promote
from merit.live.judging.review import ReviewItem, waiting
from merit.memory import curate, open_store
from merit.types import shown_scope

_CHOICES = "[y]es, right  [n]o, wrong  [c]orrect it  [s]kip  [q]uit"


@click.command()
@DATABASE
@KEPT_IN
@MEMORY
@NAME
@AUTHOR
@TEAM
@JSON
def review(url: str | None, folder: Path, memory: str, name: str, author: str, team: str, as_json: bool) -> None:
    """Go through answers and entries that no person has judged, the most useful first.

    On a terminal, answers that contradict each other come first. Then each is shown, and you say whether it is right:
    the same as `merit confirm`, `merit reject` and `merit correct`. What people said for themselves alone is there,
    too: yes promotes it, to the team that is named, else to everyone. In a pipe they are listed, a line each; --json
    prints one object a line.
    """
    check_history(folder)
    place = memory_place(url, folder, memory)
    items = waiting(folder, name, place)
    if as_json:
        for item in items:
            click.echo(json.dumps(asdict(item)))
    elif sys.stdin.isatty() and Console().is_terminal:
        with open_agent(url, folder, name, memory=memory, team=team) as agent:
            delete = f"{this_command()} memory delete {place_shown(url, folder, memory)}"
            _go_through(items, agent, place, author_or_user(author), delete)
    elif not items:
        say("nothing waits for review")
    else:
        for item in items:
            times = f"{item.asked + item.recalled}x"
            state = f"for {shown_scope(item.scope)}" if item.promotes else item.state
            click.echo("\t".join(_plain(text) for text in (item.id, state, times, item.question, item.sql)))


def _plain(text: str) -> str:
    return "".join(character if character.isprintable() else " " for character in text)


def _go_through(items: list[ReviewItem], agent: LiveAgent, place: Path | str, author: str, delete: str) -> None:
    console = Console()
    if found := agent.contradictions(author=author):
        say("answers that contradict each other:")
        show_contradictions(found, delete=delete)
    if not items:
        say("nothing waits for review")
        return
    say(f"{counted(len(items), 'answer or entry waits', 'answers and entries wait')}: {_CHOICES}")
    for item in items:
        console.print(f"\n[bold]{inline(item.question)}[/]")
        console.block(item.sql or "(no SQL)", 2, "cyan")
        used = f"asked {item.asked}x, shown to the model {item.recalled}x"
        state = f"{item.state}, {item.agreement:.0%} agree"
        if item.promotes:
            state = inline(f"for {shown_scope(item.scope)}; yes makes it {_whose(agent)}")
        console.print(f"  [dim]{inline(item.id)}  {inline(item.database)}  {state}, {used}[/]")
        if not _judge(item, agent, place, author):
            return


def _judge(item: ReviewItem, agent: LiveAgent, place: Path | str, author: str) -> bool:
    """Ask until there is a choice that can be followed; False to stop."""
    while True:
        choice = click.prompt("  y n c s q", default="s", show_default=False).strip().lower()[:1]
        try:
            if choice in ("s", "q"):
                return choice == "s"
            if choice == "y":
                say(f"  {_accept(item, agent, place, author)}")
            elif choice == "n":
                reason = click.prompt("  why", default="", show_default=False)
                say(f"  rejected; {_reject(item, agent, place, author, reason)}")
            elif choice == "c":
                if item.is_entry:
                    raise InputError(f"{item.id}: no answer of this history; say whether it is right, or skip it")
                sql = click.prompt("  SQL")
                say(f"  corrected; {learned(agent.correct(item.id, sql, author=author))}")
            else:
                say(f"  {_CHOICES}")
                continue
        except MeritError as error:
            say(f"  merit: {error}", err=True)
            continue
        return True


def _whose(agent: LiveAgent) -> str:
    return f"the team {agent.parts.team}'s" if agent.parts.team else "everyone's"


def _accept(item: ReviewItem, agent: LiveAgent, place: Path | str, author: str) -> str:
    """Confirm an answer or an entry, or promote an entry; in words."""
    if not item.is_entry:
        return f"confirmed; {learned(agent.confirm(item.id, author=author))}"
    if item.promotes:
        made = [entry.id for entry in promote(agent.parts.memory, item.id, agent.parts.team, author)]
        show_contradictions(agent.contradictions(made, author=author))
        return f"promoted, {_whose(agent)} now as {', '.join(made)}"
    with closing(open_store(place)) as store:
        return f"confirmed; remembered as {curate.confirm(store, item.id)[1].id}"


def _reject(item: ReviewItem, agent: LiveAgent, place: Path | str, author: str, reason: str) -> str:
    if not item.is_entry:
        return learned(agent.reject(item.id, reason=reason, author=author))
    with closing(open_store(place)) as store:
        why = ": ".join(filter(None, [f"rejected by {author}" if author else "rejected", reason]))
        return f"{curate.delete(store, item.id, why).id} is deleted"
