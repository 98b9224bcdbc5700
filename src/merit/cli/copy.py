"""`merit memory copy`: a memory, in another place."""

from contextlib import closing

import click

from merit.cli.memory import Location, memory_at, reading, tell, warn_of_audit
from merit.cli.options import JSON
from merit.errors import counted
from merit.memory import curate, open_store


@click.command()
@click.argument("source", metavar="FROM", callback=memory_at)
@click.argument("target", metavar="TO", callback=memory_at)
@JSON
def copy(source: Location, target: Location, as_json: bool) -> None:
    """Copy a memory to a new one, in order, with its deletions; or bring an earlier copy up to date.

    FROM and TO are folders or postgresql://... URLs.
    """
    with reading(source) as old, closing(open_store(target)) as new:
        count, shown = curate.copy(old, new), new.name
    if count:
        warn_of_audit(target)
    tell(as_json, {"copied": count}, f"{counted(count, 'change')} copied to {shown}")
