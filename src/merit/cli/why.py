"""`merit why`: what entered the prompts of an answer, and what decided."""

from collections.abc import Sequence
from pathlib import Path

import click

from merit.cli.ask import progress_shown
from merit.cli.live import (
    DATABASE,
    KEPT_IN,
    MEMORY,
    NAME,
    OWN_MODEL,
    author_or_user,
    check_learned,
    memory_location,
    open_agent,
    viewer_here,
)
from merit.cli.options import JSON
from merit.cli.terminal import Console, inline, print_json
from merit.errors import NotVisible, short_hash
from merit.live import History, MemoryComparison, Why
from merit.live.record.events import Asked, kind_of
from merit.live.record.receipt import CandidateVote, Receipt, ShownEntry
from merit.live.record.why import explained
from merit.memory import Listed, entries_in
from merit.memory.store import has_memory

_LABEL = 11  # columns for the names of what is shown


@click.command()
@click.argument("answer")
@click.option("--without-memory", is_flag=True, help="Ask again without anything that was learned, and compare.")
@DATABASE
@OWN_MODEL
@KEPT_IN
@MEMORY
@NAME
@JSON
def why(
    answer: str,
    without_memory: bool,
    url: str | None,
    model: str | None,
    folder: Path,
    memory: str,
    name: str,
    as_json: bool,
) -> None:
    """Show the receipt of ANSWER, by its id or the beginning of it: everything that entered its prompts and decided.

    With --without-memory the question is asked again, of the same model unless you name another: no entry is recalled,
    nothing is learned from it, and the history keeps only what it took. --json prints one object.
    """
    check_learned(folder)
    if without_memory:
        with open_agent(url, folder, name, model, memory=memory) as agent:
            comparison = agent.without_memory(answer, progress=progress_shown(), author=author_or_user(""))
        print_json(comparison.record()) if as_json else _compare(comparison, Console())
        return
    asked, feedback = History(folder).find(answer)
    location, wanted = memory_location(url, folder, memory), set(asked.recalled)
    entries = entries_in(location) if wanted and (isinstance(location, str) or has_memory(location)) else []
    viewer = viewer_here(url)
    hidden = {item.entry.id for item in entries if not viewer.sees(item.entry.provenance.scope)}
    if asked.author != viewer.author and (hidden & wanted or (feedback and not viewer.sees(feedback.scope or None))):
        raise NotVisible(f"{asked.id}: rests on what is for other people alone; ask the question yourself")
    receipt = explained(asked, feedback, {item.entry.id: item for item in entries if item.entry.id in wanted})
    print_json(receipt.record()) if as_json else _show(receipt, Console())


def _line(console: Console, name: str, text: str) -> None:
    console.block(text, _LABEL, head=f"[dim]{name}[/]")


def _show(shown: Why, console: Console) -> None:
    asked = shown.asked
    console.print(f"[bold]{inline(asked.question)}[/]")
    console.block(asked.sql or "(no SQL)", 2, "cyan")
    by = f" by {asked.author}" if asked.author else ""
    about = f"about {asked.database} (schema {asked.schema_fingerprint})"
    _line(console, "answer", f"{asked.id}, asked on {asked.time}{by}, {about}")
    error = f"; {asked.error}" if asked.error else ""
    _line(console, "status", f"{asked.status}, {asked.agreement:.0%} of the votes{error}")
    if shown.feedback is not None:
        by = f" by {shown.feedback.author}" if shown.feedback.author else ""
        by += f" through {shown.feedback.through}" if shown.feedback.through else ""
        _line(console, "feedback", f"{kind_of(shown.feedback)} on {shown.feedback.time}{by}")
    _line(console, "model", asked.model)
    listed = {entry.id: found for entry, found in shown.entries}
    for number, identity in enumerate(listed):
        showings = [entry for entry, _ in shown.entries if entry.id == identity]
        _entry(console, "" if number else "memory", showings, listed[identity])
    if not shown.entries:
        _line(console, "memory", "no entry was shown")
    if asked.receipt is None:
        _line(console, "receipt", "none: the answer is of an earlier version of merit")
        return
    _receipt(console, asked, asked.receipt)


def _entry(console: Console, name: str, showings: Sequence[ShownEntry], listed: Listed | None) -> None:
    """One entry: whose it is, its question, and the scores with which candidates were shown it."""
    identity = showings[0].id
    if listed is None:
        _line(console, name, f"{identity}  purged since")
    else:
        source = listed.entry.provenance
        whose = f"by {source.author}" if source.author else f"from {source.run}"
        state = "" if listed.recallable else "; deleted since" if listed.deleted is not None else "; stale now"
        about = f"{whose} on {(source.time or 'an unknown day')[:10]}, about {source.db_id}{state}"
        _line(console, name, f"{identity}  {listed.entry.grade} {about}")
        _line(console, "", " ".join(listed.entry.question.split()))
    for entry in showings:
        parts = [("dense", entry.dense), ("lexical", entry.lexical)]
        scores = "".join(f", {channel} {score:.2f}" for channel, score in parts if score is not None)
        if entry.candidates:
            _line(console, "", f"score {entry.score:.2f}{scores}: candidates {_numbers(entry.candidates)}")


def _numbers(numbers: tuple[int, ...]) -> str:
    whole = len(numbers) > 2 and numbers == tuple(range(numbers[0], numbers[-1] + 1))
    return f"{numbers[0]} to {numbers[-1]}" if whole else ", ".join(map(str, numbers))


def _receipt(console: Console, asked: Asked, receipt: Receipt) -> None:
    tables = [f"{table} ({', '.join(columns)})" if columns else table for table, columns in receipt.tables.items()]
    _line(console, "tables", f"{', '.join(tables) or 'none'}; sha256 {short_hash(receipt.tables_sha256)}")
    _line(console, "values", f"of {', '.join(receipt.values)}" if receipt.values else "none that the question mentions")
    for number, note in enumerate(receipt.notes or ("none",)):
        _line(console, "rules" if number == 0 else "", note)
    settings = ", ".join(f"{name} {'-' if value is None else value}" for name, value in receipt.settings.items())
    _line(console, "settings", f"method {asked.method}, {settings}")
    for number, candidate in enumerate(receipt.candidates, 1):
        _line(console, "votes" if number == 1 else "", f"{number}. {_vote(candidate, asked)}")
    for number, digest in enumerate(receipt.prompts):
        _line(console, "prompts" if number == 0 else "", f"{number + 1}. {digest}")


def _vote(candidate: CandidateVote, asked: Asked) -> str:
    prompt = "given" if candidate.prompt is None else f"prompt {candidate.prompt + 1}"
    if candidate.statement is None or candidate.statement >= len(asked.tried):
        return f"{prompt}: says that the database holds no answer"
    tried = asked.tried[candidate.statement]
    if candidate.result is None:
        return f"{prompt}: {tried.error or 'rejected before'}: {' '.join(tried.sql.split())}"
    result = "no rows" if candidate.result == 0 else f"result {candidate.result}"
    weight = "" if candidate.weight == 1 else f", counts {candidate.weight:g}"
    return f"{prompt}: {result}{weight}: {' '.join(tried.sql.split())}"


def _compare(comparison: MemoryComparison, console: Console) -> None:
    asked, without = comparison.asked, comparison.without
    console.print(f"[bold]{inline(asked.question)}[/]")
    _line(console, "then", f"{asked.status}, {asked.agreement:.0%} of the votes; now {comparison.now}")
    console.block(asked.sql or "(no SQL)", _LABEL, "cyan")
    error = f"; {without.error}" if without.error else ""
    _line(console, "without", f"{without.status}, {without.agreement:.0%} of the votes{error}")
    console.block(without.sql or "(no SQL)", _LABEL, "cyan")
    rows = {True: "the same rows", False: "[yellow]other rows[/]", None: "rows cannot be compared"}
    console.print(f"{'the same SQL' if comparison.same_sql else 'other SQL'}, {rows[comparison.same_rows]}")
