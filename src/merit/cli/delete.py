"""`merit memory delete`: an entry is shown to no later question."""

import shlex
from pathlib import Path

import click

from merit.cli.memory import LOCATION, Location, tell, warn_of_audit, writing
from merit.cli.options import JSON
from merit.cli.uses import later_uses, project_of
from merit.memory import curate


@click.command("delete")
@LOCATION
@click.argument("identity")
@click.option("--reason", required=True, help="Why; it is kept with the deletion.")
@JSON
def delete(location: Location, identity: str, reason: str, as_json: bool) -> None:
    """Take an entry out of every later recall."""
    with writing(location) as store:
        gone = curate.delete(store, identity, reason).id
    warn_of_audit(location)
    project = project_of(location)
    if project is None:
        tell(as_json, {"deleted": gone}, f"deleted {gone}")
        return
    shown = shlex.quote(str(project)) if isinstance(location, Path) else "MEMORY"  # a team's URL is not printed
    count, sentence = later_uses(project, [gone], shown)
    tell(as_json, {"deleted": gone, "later_answers": count}, f"deleted {gone}{sentence}")
