"""Contradictions as people and programs see them."""

from collections.abc import Sequence

from merit.cli.terminal import Console, inline
from merit.errors import counted
from merit.live import Contradiction
from merit.live.results import StatementResult


def show_contradictions(found: Sequence[Contradiction], *, delete: str = "") -> None:
    """Each question with its answers, newest first: who said so, the SQL, and what it gives now."""
    console = Console()
    for contradiction in found:
        doubt = "" if contradiction.certain else ", as far as they can be compared"
        head = f"[yellow]contradiction[/] ({counted(len(contradiction.entries), 'answer')} differ{doubt}) "
        console.block(contradiction.question, 2, head=head)
        for entry, result in zip(contradiction.entries, contradiction.results, strict=True):
            source = entry.provenance
            source_shown = f"{entry.grade} by {source.author or 'unknown'}, {source.time or 'at an unknown time'}"
            console.print(f"  [bold]{entry.id}[/] {inline(source_shown)}: {inline(_given(result))}", soft_wrap=True)
            console.block(entry.sql, 4, "cyan")
    if found and delete:
        console.print(f"[dim]delete what is wrong: {inline(delete)} ID --reason WHY[/]", soft_wrap=True)


def _given(result: StatementResult) -> str:
    if result.error is not None:
        return f"does not run: {result.error}"
    rows = f"result {result.digest[:8]}" if result.digest else "no rows"
    return rows if result.comparable else f"{rows}, which was cut off or differs each time"
