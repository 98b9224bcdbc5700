"""`merit show`: one episode of a run, for a person to read."""

import difflib
import json
from pathlib import Path
from typing import Any

import click
from rich.console import Console
from rich.markup import escape

from merit.errors import InputError
from merit.memory import curate
from merit.reading import check_fields, parse_json
from merit.stream import RunView, Turn, read_run
from merit.stream.folder import MEMORY, RETRIEVALS, read_lines
from merit.stream.turn import Phase

_MARKS = {"+": "green", "-": "red"}


@click.command()
@click.argument("run", type=click.Path(path_type=Path))
@click.argument("question")
@click.option("--schema", "with_schema", is_flag=True, help="Print the database's schema too.")
def show(run: Path, question: str, with_schema: bool) -> None:
    """Print a question's episode: attempts with their changes, verdicts, what was recalled and what was learned."""
    view = read_run(run)
    turn = _find(view, question)
    console = Console(highlight=False, soft_wrap=True)
    task = turn.episode.task
    console.print(f"[bold]question {escape(str(task.question.id))}[/]  {escape(task.question.text)}")
    if task.question.evidence:
        console.print(f"  [dim]evidence[/]  {escape(task.question.evidence)}")
    console.print(f"  [dim]database[/]  {escape(task.question.db_id)}, position {task.position} of the stream")
    if with_schema:
        console.print(escape(task.schema))
    recalls = _recalls(view, turn)
    for step, attempt in enumerate(turn.episode.attempts):
        if step:
            try:
                _show_recall(view, recalls.get(step), console)
            except (KeyError, TypeError, ValueError):
                raise InputError(
                    f"{view.path / RETRIEVALS}: damaged at step {step}; `merit audit` says where"
                ) from None
        about = "  the shared first answer" if step == 0 else "  set aside: said before" if attempt.repeat else ""
        console.print(f"\n[bold]attempt {step}[/]{about}")
        _show_sql(turn.episode.attempts[step - 1].sql if step else None, attempt.sql, console)
        verdict = attempt.verdict
        colour = "green" if verdict.satisfied else "yellow"
        kind = f"  {attempt.failure.type} / {attempt.failure.subtype}" if attempt.failure else ""
        console.print(f"  [{colour}]{verdict.status}[/]{kind}  {escape(verdict.error or '')}")
        if attempt.prompt_sha256:
            tokens = f"{attempt.prompt_tokens} + {attempt.output_tokens} tokens"
            console.print(f"  [dim]prompt {attempt.prompt_sha256[:12]}, {tokens}[/]")
        if step < len(turn.episode.reflections):
            console.print(f"  [italic]reflection: {escape(turn.episode.reflections[step].text)}[/]")
    _show_end(view, turn, console)


def _find(view: RunView, wanted: str) -> Turn:
    turns = [turn for turn in view.turns if turn.phase is Phase.ANSWER]
    for turn in turns:
        if str(turn.episode.task.question.id) == wanted:
            return turn
    known = {str(identity) for identity in view.questions}
    why = "is not finished yet" if wanted in known else "is not in its stream"
    raise InputError(f"{view.path}: question {wanted!r} {why}; {len(turns)} questions are finished")


def _recalls(view: RunView, turn: Turn) -> dict[int, Any]:
    path, identity = view.path / RETRIEVALS, turn.episode.task.question.id
    found = {}
    for number, line in enumerate(read_lines(path), 1):
        one = parse_json(line, path, number)
        check_fields(one, {"question_id": object, "phase": str, "step": int, "pools": list}, f"{path}, line {number}")
        if one["question_id"] == identity and one["phase"] == turn.phase:
            found[one["step"]] = one
    return found


def _show_sql(before: str | None, sql: str, console: Console) -> None:
    if before is None or before == sql:
        console.print(f"  [cyan]{escape(sql or '(no SQL in the reply)')}[/]" + ("  (the same again)" if before else ""))
        return
    for line in difflib.ndiff(_clauses(before), _clauses(sql)):
        if line[0] != "?":
            colour = _MARKS.get(line[0], "cyan")
            console.print(f"  [{colour}]{escape(line)}[/]")


def _clauses(sql: str) -> list[str]:
    """SQL cut into lines where its clauses begin, so that a change can be seen."""
    lines = [""]
    for word in sql.split():
        breaks = word.upper() in ("SELECT", "FROM", "WHERE", "JOIN", "GROUP", "HAVING", "ORDER", "LIMIT", "UNION", "ON")
        if breaks and lines[-1]:
            lines.append("")
        lines[-1] = f"{lines[-1]} {word}".strip()
    return lines


def _show_recall(view: RunView, record: Any, console: Console) -> None:
    if record is None:
        return
    for pool in record["pools"]:
        name = pool["polarity"] or "all"
        narrowed = (
            "same failure type" if pool["typed"] else "fallback to all types" if pool["fallback"] else "all types"
        )
        console.print(f"\n  [bold]recalled[/] {name}: {pool['legal']} legal, pool of {pool['size']} ({narrowed})")
        for match in pool["matches"]:
            entry = curate.find(view.path / MEMORY, match["entry"]).entry
            parts = [
                f"{channel} {match[channel]:.3f}" for channel in ("dense", "lexical") if match[channel] is not None
            ]
            bonus = f", bonus {match['bonus']:.2f}" if match["bonus"] else ""
            source = entry.provenance
            console.print(
                f"    {match['rank']}. [magenta]{entry.id}[/] score {match['score']:.3f} ({', '.join(parts)}{bonus}), "
                f"from question {escape(str(source.question_id))} at position {source.position}"
            )
            console.print(f"       [dim]{escape(entry.delta)}[/]")


def _show_end(view: RunView, turn: Turn, console: Console) -> None:
    ended = "right" if turn.final_correct else "wrong"
    left = f"left {turn.entry}" if turn.entry else "left no entry"
    users = _used_by(view, turn.entry) if turn.entry else []
    used = f", recalled later by questions {', '.join(users)}" if users else ""
    console.print(f"\n[bold]{ended}[/], {left}{used}")


def _used_by(view: RunView, entry: str) -> list[str]:
    quoted = json.dumps(entry)
    lines = (line for line in read_lines(view.path / RETRIEVALS) if quoted in line)
    return list(dict.fromkeys(str(json.loads(line)["question_id"]) for line in lines))
