"""The command line: parses, shows, nothing else."""

from merit.cli.importing import ending_at_once

with ending_at_once():
    from merit.cli.main import main

__all__ = ["main"]
