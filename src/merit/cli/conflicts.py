"""`merit memory conflicts`: answers that contradict each other."""

from pathlib import Path

import click

from merit.cli.contradictions import show_contradictions
from merit.cli.live import (
    DATABASE,
    KEPT_IN,
    MEMORY,
    NAME,
    author_or_user,
    check_learned,
    location_shown,
    memory_location,
    open_agent,
)
from merit.cli.options import JSON, this_command
from merit.cli.terminal import print_json, say


@click.command()
@DATABASE
@KEPT_IN
@MEMORY
@NAME
@JSON
def conflicts(url: str | None, folder: Path, memory: str, name: str, as_json: bool) -> None:
    """List questions whose remembered answers give different results on your own database now, newest first.

    Where a question has several statements, each is executed, read-only. Their rows are compared and not kept.
    """
    if isinstance(memory_location(url, folder, memory), Path):  # a team's memory is elsewhere
        check_learned(folder)
    with open_agent(url, folder, name, memory=memory) as agent:
        found = agent.contradictions(author=author_or_user(""))
    if as_json:
        print_json({"contradictions": [contradiction.record() for contradiction in found]})
    elif found:
        show_contradictions(found, delete=f"{this_command()} memory delete {location_shown(url, folder, memory)}")
    else:
        say("no two answers to one question give different results")
