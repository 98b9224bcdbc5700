"""`merit ask`: a question to a person's own database."""

import shlex
from pathlib import Path

import click

from merit.cli.live import AUTHOR, DATABASE, KEPT_IN, MEMORY, NAME, OWN_MODEL, TEAM, again, author_or_user, open_agent
from merit.cli.options import JSON, this_command
from merit.cli.terminal import Console, inline, print_json, say, visible
from merit.errors import InputError
from merit.live import Answer, AnswerStatus, Found
from merit.live.answer_record import answer_record
from merit.live.progress import Progress
from merit.types import Rows, Value

_MOST_ROWS = 50  # on a terminal
_WIDEST = 60  # characters of a cell, on a terminal
_COLOURS = {
    AnswerStatus.ANSWERED: "green",
    AnswerStatus.UNSURE: "yellow",
    AnswerStatus.UNANSWERABLE: "yellow",
    AnswerStatus.FAILED: "red",
    AnswerStatus.NOT_EXECUTED: "yellow",
}
_UNANSWERABLE = 3  # the exit code


def _quoted(_context: click.Context, _argument: click.Parameter, words: tuple[str, ...]) -> str:
    """The question, which is one argument: what follows it may be a mistake."""
    if len(words) > 1:
        whole = shlex.quote(" ".join(words))
        raise click.UsageError(f"the question has to be in quotes: {this_command()} ask {whole}")
    return words[0]


@click.command()
@click.argument("question", nargs=-1, required=True, metavar="QUESTION", callback=_quoted)
@DATABASE
@OWN_MODEL
@KEPT_IN
@MEMORY
@NAME
@AUTHOR
@TEAM
@click.option("--rows/--no-rows", default=None, help="Whether values may be shown to the model (they may).")
@click.option("--sql-only", is_flag=True, help="Print the SQL and nothing else.")
@click.option("--no-execute", is_flag=True, help="Ask for one candidate, and check its text without executing it.")
@JSON
def ask(
    question: str,
    url: str | None,
    model: str | None,
    folder: Path,
    memory: str,
    name: str,
    author: str,
    team: str,
    rows: bool | None,
    sql_only: bool,
    no_execute: bool,
    as_json: bool,
) -> None:
    """Answer QUESTION from a database of your own, and learn from what you say about it afterwards.

    For example: merit ask "How many orders are open?" --database sqlite:///shop.sqlite --model openai:MODEL. The
    database is only read. Several candidates are asked for, and the result that most of them give stands. Say what you
    think of it with `merit confirm`, `merit reject` or `merit correct`: later questions see what was confirmed. Exit 0
    where a statement ran (or, with --no-execute, may run), 1 where none did, 3 where the database holds no answer.
    --json prints one object.
    """
    if as_json and sql_only:
        raise InputError("--json and --sql-only exclude each other; choose one")
    with open_agent(url, folder, name, model, memory=memory, rows=rows, team=team) as agent:
        answer = agent.ask(question, execute=not no_execute, progress=progress_shown(), author=author_or_user(author))
    if as_json:
        print_json(answer_record(answer))
    elif sql_only:
        click.echo(answer.sql)
    else:
        _show(answer, again(url, folder, name, memory, author, team))
    if answer.status is AnswerStatus.UNANSWERABLE:
        raise SystemExit(_UNANSWERABLE)
    if answer.error is not None:
        raise SystemExit(1)


def progress_shown() -> Progress:
    """Tells what is being done, where there is a terminal to tell it on."""
    return (lambda event: say(f"{event} ...", err=True)) if Console(stderr=True).is_terminal else None


def show_answer(answer: Answer) -> None:
    """SQL, rows, how far they can be relied on, and what speaks against them."""
    console = Console()
    if answer.status is not AnswerStatus.UNANSWERABLE:
        console.block(answer.sql or "(no SQL in the reply)", 0, "cyan")
    if answer.rows is not None:
        _show_rows(answer.rows, console)
    named = answer.status.value.replace("_", " ")
    console.print(f"[{_COLOURS[answer.status]}]{named}[/] ({inline(_how_sure(answer))})", soft_wrap=True)
    for sentence in _remarks(answer):
        console.print(inline(sentence), soft_wrap=True)


def _show(answer: Answer, options: str) -> None:
    show_answer(answer)
    console, command = Console(), this_command()
    if answer.status.ran:
        console.print(f"right?  {command} confirm {answer.id}{inline(options)}", soft_wrap=True)
    console.print(f"wrong?  {command} reject {answer.id}{inline(options)}", soft_wrap=True)
    console.print(f"        {command} correct {answer.id} 'SELECT ...'{inline(options)}", soft_wrap=True)


def _how_sure(answer: Answer) -> str:
    """What stands behind the status, in a few words."""
    votes = f"{100 * answer.agreement:.0f}% of the votes"
    if answer.status is AnswerStatus.FAILED:
        return answer.error or ""
    if answer.status is AnswerStatus.NOT_EXECUTED:
        return f"the guard refuses it: {answer.error}" if answer.error else "the guard would let it run"
    if answer.status is AnswerStatus.UNANSWERABLE:
        return f"{votes} say that the database holds no answer: {answer.reason}"
    if answer.confidence is None:
        return f"{votes}, not calibrated"
    return f"{votes}; such answers were right in {100 * answer.confidence:.0f}% of {answer.calibrated_on}"


def _remarks(answer: Answer) -> list[str]:
    """What else to know: why asking ended, and why there is nothing to see."""
    remarks = list(answer.remarks)
    if answer.reason and answer.status is not AnswerStatus.UNANSWERABLE:
        remarks.append(f"asking ended early: {answer.reason}")
    if answer.found is Found.NO_ROWS:
        remarks.append("no rows: the statement ran, and nothing fits its conditions")
    if answer.found is Found.NOT_PERMITTED:
        remarks.append("not permitted: the database's role may not read what the question needs; grant it, or ask less")
    if answer.found is Found.NOT_RETRIEVED or (answer.found is Found.NO_ROWS and answer.left_out):
        remarks.append(f"not retrieved: the model was not shown {answer.left_out}; see 'schema_tokens' in merit.toml")
    return remarks


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
