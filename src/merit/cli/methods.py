"""`merit methods`: what can be run."""

import click

from merit.agent import Method, all_methods
from merit.cli.options import JSON
from merit.cli.terminal import Console, print_json


@click.command()
@JSON
def methods(as_json: bool) -> None:
    """List every method, baseline and ablation with what it changes.

    A method can be run with other fields, as NAME:field=value,field=value; --json lists the fields.
    """
    if as_json:
        print_json({"methods": [method.record() for method in all_methods().values()]})
        return
    console = Console()
    rows = [_row(method) for method in all_methods().values()]
    widths = [max(map(len, cells)) for cells in zip(*rows, strict=True)]
    for name, online, recalls, keeps, summary in rows:
        if console.soft_wrap:  # piped: a method is a line
            cells = [cell.ljust(width) for cell, width in zip((name, online, recalls, keeps), widths, strict=False)]
            console.print("  ".join([*cells, summary]))
        else:
            console.block(summary, widths[0] + 2, head=f"[bold]{name}[/]")
            console.block(f"{online}, {recalls}, {keeps}", widths[0] + 2, "dim")


def _row(method: Method) -> tuple[str, ...]:
    pools = method.recall.pools if method.recall is not None else {}
    recalled = " and ".join(f"{limit} {polarity or 'of one pool'}" for polarity, limit in pools.items()) or "nothing"
    written = " and ".join(sorted(method.writes)) or "nothing"
    online = "online" if method.online else "not online"
    summary = f"{method.summary} (from {method.origin.package})" if method.origin else method.summary
    return method.name, online, f"recalls {recalled}", f"keeps {written}", summary
