"""`merit check`: confirmed questions as a test suite."""

import sys
from dataclasses import asdict
from pathlib import Path

import click

from merit.cli.live import DATABASE, KEPT_IN, NAME, OWN_MODEL, author_or_user, check_learned, open_agent
from merit.cli.options import JSON, check_out
from merit.cli.terminal import Console, inline, print_json, say
from merit.errors import InputError
from merit.files import atomic_write
from merit.live.measuring.regression import RegressionResult


@click.command()
@DATABASE
@OWN_MODEL
@KEPT_IN
@NAME
@click.option("--junit", type=click.Path(path_type=Path), help="Write the result as JUnit XML.")
@click.option("--strict", is_flag=True, help="Fail for every wrong answer, not only for those that were right before.")
@click.option("--accept", is_flag=True, help="Compare later checks with this one, also where it is worse.")
@JSON
def check(
    url: str | None,
    model: str | None,
    folder: Path,
    name: str,
    junit: Path | None,
    strict: bool,
    accept: bool,
    as_json: bool,
) -> None:
    """Ask every confirmed question again, with the present model, prompts, schema and memory.

    A question's own confirmed answer is not recalled. An answer is right where its rows are those of the confirmed
    statement; where a change of the schema made that one stale, it counts as wrong. Exit 1 where one is wrong that was
    right at the last check (with --strict: any), so that a change of model or a large import can be refused. A check
    that is not worse becomes the one to compare with. --json prints one object.
    """
    check_out(junit)
    check_learned(folder)
    with open_agent(url, folder, name, model) as agent:
        result = agent.check(_tell if sys.stderr.isatty() else None, author=author_or_user(""))
        if not result.cases:
            raise InputError("no answer was confirmed yet, so there is nothing to check; use `merit confirm` first")
        refused = bool(result.worse) or (strict and result.right < len(result.cases))
        if accept or not refused:
            agent.accept(result)
    if junit is not None:
        with atomic_write(junit) as file:
            file.write(result.junit())
    if as_json:
        print_json({"right": result.right, "of": len(result.cases), "cases": [asdict(case) for case in result.cases]})
    else:
        _show(result)
    if refused and not accept:
        raise SystemExit(1)


def _tell(done: int, of_all: int) -> None:
    say(f"{done} of {of_all} ...", err=True)


def _show(result: RegressionResult) -> None:
    console = Console()
    for case in result.cases:
        if not case.right:
            state = "worse" if case.worse else "wrong"
            console.print(f"[red]{state}[/]  {inline(case.answer)}  {inline(case.question)}", soft_wrap=True)
            console.block(f"confirmed: {case.expected}", 7)
            console.block(f"given:     {case.given or case.reason or '(no SQL)'}", 7)
    gained = sum(case.right and case.before is False for case in result.cases)
    since = (
        "the first check" if result.first else f"{len(result.worse)} worse and {gained} better than at the last check"
    )
    console.print(f"{result.right} of {len(result.cases)} right; {since}")
