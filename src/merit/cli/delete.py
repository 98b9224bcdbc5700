"""`merit memory delete`: an entry is shown to no later question."""

from pathlib import Path

import click

from merit.cli.memory import FOLDER, tell, warn_of_audit, writing
from merit.cli.options import JSON
from merit.cli.uses import later_uses
from merit.live.history import HISTORY
from merit.memory import curate


@click.command("delete")
@FOLDER
@click.argument("identity")
@click.option("--reason", required=True, help="Why; it is kept with the deletion.")
@JSON
def delete(folder: Path, identity: str, reason: str, as_json: bool) -> None:
    """Take an entry out of every later recall."""
    with writing(folder) as store:
        gone = curate.delete(store, identity, reason).id
    warn_of_audit(folder)
    if not (folder.parent / HISTORY).is_file():
        tell(as_json, {"deleted": gone}, f"deleted {gone}")
        return
    count, sentence = later_uses(folder.parent, [gone])
    tell(as_json, {"deleted": gone, "later_answers": count}, f"deleted {gone}{sentence}")
