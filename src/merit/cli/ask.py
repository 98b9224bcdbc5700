"""`merit ask`: a question to a person's own database."""

import sys
from pathlib import Path
from typing import Any

import click

from merit.cli.live import DATABASE, KEPT_IN, NAME, OWN_MODEL, again, opened
from merit.cli.options import JSON, this_command
from merit.cli.screen import Console, inline, print_json, say, visible
from merit.live import Answer, AnswerStatus
from merit.types import Rows, Value

_MOST_ROWS = 50  # on a terminal
_WIDEST = 60  # characters of a cell, on a terminal
_SAID = {
    AnswerStatus.ANSWERED: "green",
    AnswerStatus.UNSURE: "yellow",
    AnswerStatus.FAILED: "red",
}


@click.command()
@click.argument("question")
@DATABASE
@OWN_MODEL
@KEPT_IN
@NAME
@click.option("--rows/--no-rows", default=None, help="Whether values may be shown to the model (they may).")
@click.option("--sql-only", is_flag=True, help="Print the SQL and nothing else.")
@JSON
def ask(
    question: str,
    url: str | None,
    model: str | None,
    folder: Path,
    name: str,
    rows: bool | None,
    sql_only: bool,
    as_json: bool,
) -> None:
    """Answer QUESTION from a database of your own, and learn from what you say about it afterwards.

    For example: merit ask "How many orders are open?" --database sqlite:///shop.sqlite --model openai:MODEL. The
    database is only read. Several candidates are asked for, and the result that most of them give stands. Say what you
    think of it with `merit confirm`, `merit reject` or `merit correct`: later questions see what was confirmed. Exit 1
    where nothing ran. --json prints one object.
    """
    with opened(url, folder, name, model, rows=rows) as agent:
        answer = agent.ask(question, progress=show_progress if sys.stderr.isatty() else None)
    if as_json:
        print_json(_record(answer))
    elif sql_only:
        click.echo(answer.sql)
    else:
        _show(answer, again(url, folder, name))
    if answer.status is AnswerStatus.FAILED:
        raise SystemExit(1)


def show_progress(what: str) -> None:
    """Tell what is being done."""
    say(f"{what} ...", err=True)


def _record(answer: Answer) -> dict[str, Any]:
    rows = answer.rows
    return {
        "id": answer.id,
        "question": answer.question,
        "sql": answer.sql,
        "status": answer.status,
        "agreement": round(answer.agreement, 4),
        "columns": list(rows.columns) if rows else [],
        "rows": [[_plain(value) for value in row] for row in rows.rows] if rows else [],
        "truncated": rows.truncated if rows else False,
        "error": answer.error,
        "candidates": len(answer.attempts),
        "recalled": list(answer.recalled),
        "remarks": list(answer.remarks),
        "passed": list(answer.passed),
    }


def _plain(value: Value) -> Any:
    return value.hex() if isinstance(value, bytes) else value


def show_answer(answer: Answer) -> None:
    """SQL, rows, how far they can be relied on, and what speaks against them."""
    console = Console()
    console.block(answer.sql or "(no SQL in the reply)", 0, "cyan")
    if answer.rows is not None:
        _show_rows(answer.rows, console)
    colour, agreed = _SAID[answer.status], f"{100 * answer.agreement:.0f}% of the votes"
    said = f"{agreed}, not calibrated" if answer.status is not AnswerStatus.FAILED else inline(answer.error or "")
    console.print(f"[{colour}]{answer.status}[/] ({said})")
    for remark in answer.remarks:
        console.print(f"[yellow]{inline(remark)}[/]")


def _show(answer: Answer, options: str) -> None:
    show_answer(answer)
    console, command = Console(), this_command()
    if answer.status is not AnswerStatus.FAILED:
        console.print(f"right?  {command} confirm {answer.id}{inline(options)}", soft_wrap=True)
    console.print(f"wrong?  {command} reject {answer.id}{inline(options)}", soft_wrap=True)
    console.print(f"        {command} correct {answer.id} 'SELECT ...'{inline(options)}", soft_wrap=True)


def _show_rows(rows: Rows, console: Console) -> None:
    """Rows as a table on a terminal, with tabs in between where they are piped."""
    piped = console.soft_wrap
    shown = rows.rows if piped else rows.rows[:_MOST_ROWS]
    cells = [[_cell(value, piped) for value in row] for row in [rows.columns, *shown]]
    widths = [0 if piped else max(map(len, column)) for column in zip(*cells, strict=True)]
    for line in cells:
        if piped:
            click.echo("\t".join(line))
            continue
        text = "  ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True))
        console.print(inline(text.rstrip()), no_wrap=True, overflow="ellipsis")
    left = len(rows.rows) - len(shown)
    if left or rows.truncated:
        more = "more than" if rows.truncated else "all"
        console.print(f"[dim]{len(shown)} rows shown of {more} {len(rows.rows)}[/]")


def _cell(value: Value, piped: bool) -> str:
    if value is None:
        return "NULL" if not piped else ""
    text = visible(value.hex() if isinstance(value, bytes) else str(value), one_line=True)
    return text if piped or len(text) <= _WIDEST else f"{text[: _WIDEST - 1]}…"
