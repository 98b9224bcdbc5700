"""The command line: parses, shows, nothing else.

Each command is a module of its name, imported only when it is called (`main`). What commands share: `options`, `live`
(a person's own database), `judging` (saying whether an answer is right), `plain` (click's numbers and groups, said
plainly), `find_run` and `own_data` (the run, the question and the data that a command is about).

`terminal` is the only way to the terminal: its streams show control characters instead of sending them, and `inline`
and `Console.block` put texts from outside into a line or a paragraph.
"""

from merit.cli.importing import ending_at_once

with ending_at_once():
    from merit.cli.main import main

__all__ = ["main"]
