"""`merit memory promote`: what is for one person becomes a team's, or everyone's."""

import click

from merit.cli.live import AUTHOR, TEAM, author_or_user
from merit.cli.memory import LOCATION, Location, reading, tell, warn_of_audit
from merit.cli.options import JSON
from merit.live.judging.promoting import promote as promote_entry
from merit.memory import Memory, curate, open_store


@click.command("promote")
@LOCATION
@click.argument("identity")
@TEAM
@AUTHOR
@JSON
def promote(location: Location, identity: str, team: str, author: str, as_json: bool) -> None:
    """Let an entry of one person, and all else from the same answer, be for --team; without one, for everyone.

    An entry of a team becomes everyone's. The new entries have ids of their own; the old ones are deleted and say so.
    """
    with reading(location) as store:
        old = curate.find(store, identity).entry.id
    with Memory(open_store(location), None, keep_index=False) as memory:
        made = [entry.id for entry in promote_entry(memory, old, team, author_or_user(author))]
    warn_of_audit(location)
    whose = f"the team {team}" if team else "everyone"
    tell(as_json, {"promoted": old, "as": made}, f"promoted {old}: for {whose} now as {', '.join(made)}")
