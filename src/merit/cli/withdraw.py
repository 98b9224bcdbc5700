"""`merit withdraw`: what was said about an answer is taken back."""

from pathlib import Path

import click

from merit.cache import cache_folder
from merit.cli.live import (
    AUTHOR,
    DATABASE,
    KEPT_IN,
    MEMORY,
    NAME,
    author_or_user,
    check_asked_in,
    database_name,
    location_shown,
    memory_location,
)
from merit.cli.options import JSON
from merit.cli.terminal import print_json, say
from merit.cli.uses import later_uses
from merit.errors import counted
from merit.live import History
from merit.live.calls import check_text
from merit.live.judging.withdrawing import Withdrawer
from merit.live.record.purging import finish_purge
from merit.memory import open_at


@click.command()
@click.argument("answer")
@DATABASE
@KEPT_IN
@MEMORY
@NAME
@AUTHOR
@click.option("--reason", default="", help="Why; it is kept in the history.")
@JSON
def withdraw(
    answer: str, url: str | None, folder: Path, memory: str, name: str, author: str, reason: str, as_json: bool
) -> None:
    """Take back what was said about ANSWER, by its id or the beginning of it; it can be judged again.

    What was learned from it is shown to no later question, from now on and in every process; what it had taken out of
    the memory comes back, unless another person's word stands against it.
    """
    check_asked_in(folder)
    check_text(reason + author, "the reason or the author")
    finish_purge(folder)  # one that was cut short
    location = memory_location(url, folder, memory)
    with open_at(location, None, cache_folder()) as learned:  # the database may be down: nothing is asked of it
        withdrawer = Withdrawer(History(folder), learned, database_name(url, name))
        taken_back = withdrawer.withdraw(answer, reason, author_or_user(author))
    count, sentence = later_uses(folder, taken_back.entries, location_shown(url, folder, memory))
    if as_json:
        about = {"answer": taken_back.answer, "deleted": list(taken_back.entries), "later_answers": count}
        print_json(about)
        return
    forgotten = counted(len(taken_back.entries), "entry", "entries")
    say(f"{taken_back.answer}: withdrawn; {forgotten} deleted{sentence}")
