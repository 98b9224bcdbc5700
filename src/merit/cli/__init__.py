"""The command line: parses, shows, nothing else."""

from merit.cli.main import main

__all__ = ["main"]
