"""`merit show`: one episode of a run, for a person to read."""

import json
import shlex
from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

import click

from merit.agent import Attempt, RefusedStatement
from merit.agent.rules import votes
from merit.agent.trajectory import reflections_at
from merit.cli.difference import show_change
from merit.cli.find_run import find_turn, finished, open_run
from merit.cli.options import JSON
from merit.cli.references import DATA, WITH_REFERENCES, ReferencePrinter, check_asked
from merit.cli.review_shown import review_record_of, show_review, used_by
from merit.cli.terminal import Console, inline, listed, print_json
from merit.cli.voted import confidence_record, votes_in_words
from merit.errors import InputError
from merit.memory import Entry, Precedent, entries_in
from merit.reading import check_fields, parse_json
from merit.runs import RunView, Turn
from merit.runs.kept_entries import kept_by
from merit.runs.paths import MEMORY, RETRIEVALS
from merit.runs.text import read_lines
from merit.runs.turn import repeated_step, turn_line
from merit.types import Polarity

_MOST_QUESTIONS = 40  # of a list, on a terminal


@click.command()
@click.argument("run", type=click.Path(path_type=Path))
@click.argument("question", required=False)
@click.option("--schema", "with_schema", is_flag=True, help="Print the database's schema too.")
@WITH_REFERENCES
@DATA
@JSON
def show(
    run: Path,
    question: str | None,
    with_schema: bool,
    with_references: bool,
    roots: tuple[Path, ...],
    as_json: bool,
) -> None:
    """Print a question's episode: attempts with their changes, verdicts, what was recalled and what was learned.

    Without QUESTION, list the run's finished questions. --json prints one object: the list, or the episode as
    trajectories.jsonl has it, with its question, its recalls, their entries and the questions that used its entry.
    """
    check_asked(roots, with_references)
    if as_json and with_references:
        raise InputError("--with-references is for people: it cannot be given together with --json")
    if question is None and with_references:
        raise InputError("--with-references is for one question: name it after the run")
    if question is not None and not run.exists() and Path(question).is_dir():
        raise InputError(f"{run}: the run comes first; type `{shlex.join(['merit', 'show', question, str(run)])}`")
    view = open_run(run, "merit show", *([question] if question else []))
    if question is None:
        _list(view, as_json)
        return
    turn = find_turn(view, question)
    recalls = _recalls(view, turn)
    entries = {stored.entry.id: stored.entry for stored in entries_in(view.path / MEMORY)}
    if as_json:
        print_json(_record(view, turn, recalls, entries, with_schema))
        return
    console = Console()
    references = ReferencePrinter.opened(view, console, roots, with_references)
    task = turn.episode.task
    console.block(task.question.text, 2, head=f"[bold]question {inline(str(task.question.id))}[/]  ")
    if task.question.evidence:
        console.block(task.question.evidence, 12, head="  [dim]evidence[/]")
    console.print(f"  [dim]database[/]  {inline(task.question.db_id)}, position {task.position} of the stream")
    if with_schema:
        console.block(task.schema, 2)
    shown_before = None
    for step, attempt in enumerate(turn.episode.attempts):
        try:
            shown = _shown_by(recalls.get(step))
            if not shown or shown != shown_before:
                _show_recall(view, recalls.get(step), entries, console)
            elif not attempt.repeat:
                console.print("\n  [bold]recalled[/] the same entries again")
            shown_before = shown
        except (KeyError, TypeError, ValueError):
            raise InputError(f"{view.path / RETRIEVALS}: damaged at step {step}; `merit audit` says where") from None
        _show_attempt(view, turn, step, console)
        if references is not None and not attempt.repeat and not _right(turn, step):
            references.show(task.question, attempt.sql)
        for written in reflections_at(turn.episode.reflections, step + 1):
            name = "reflection" if written.after is None else "note"
            console.block(written.text, len(name) + 4, "italic", head=f"  [italic]{name}:[/] ")
    _show_end(view, turn, console)


def _list(view: RunView, as_json: bool) -> None:
    """The finished questions, one line each; the first ones on a terminal."""
    turns = view.answers
    if as_json:
        questions = [
            {
                "id": turn.episode.task.question.id,
                "db_id": turn.episode.task.question.db_id,
                "text": turn.episode.task.question.text,
                "position": turn.episode.task.position,
                "attempts": len(turn.episode.attempts),
                "initial_correct": turn.initial_correct,
                "final_correct": turn.final_correct,
                **({"review": turn.review and turn.review.said} if view.identity.review else {}),
            }
            for turn in turns
        ]
        print_json({"run": str(view.path), "questions": questions})
        return
    console = Console()
    most = len(turns) if console.soft_wrap else _MOST_QUESTIONS
    width = max((len(str(turn.episode.task.question.id)) for turn in turns[:most]), default=0)
    for turn in turns[:most]:
        task, ended = turn.episode.task, "right" if turn.final_correct else "wrong"
        tried = f"{len(turn.episode.attempts):>3} tried"
        line = f"{task.question.id!s:<{width}}  {ended} {tried}  {task.question.db_id}: {task.question.text}"
        console.print(inline(line), no_wrap=True, overflow="ignore" if console.soft_wrap else "ellipsis")
    more = len(turns) - most
    more_hint = f" ({more} more: `merit show {view.path} | less`)" if more > 0 else ""
    if not turns or not console.soft_wrap:  # piped, a line is a question
        console.print(inline(f"{finished(turns)}{more_hint}; `merit show {view.path} ID` prints one"))
        budget = view.identity.budget
        if any(len(turn.episode.attempts) > 1 + budget for turn in turns[:most]):
            console.print(
                f"More than 1 + {budget} tried: a draw that repeats an earlier candidate is set aside, and the budget "
                "does not count it."
            )


def _record(
    view: RunView, turn: Turn, recalls: Mapping[int, Any], entries: Mapping[str, Entry], with_schema: bool
) -> dict[str, Any]:
    question = turn.episode.task.question
    recalled = dict.fromkeys(name for recall in recalls.values() for name in _shown_by(recall) or ())
    return {
        **json.loads(turn_line(turn, view.manifest.run)),
        "question": asdict(question) | ({"schema": turn.episode.task.schema} if with_schema else {}),
        "recalls": [recalls[step] for step in sorted(recalls)],
        "entries": {name: asdict(entries[name]) for name in recalled if name in entries},
        "recalled_later_by": list(dict.fromkeys(user for entry in turn.left for user in used_by(view, entry))),
        **({"review": review_record_of(view, turn)} if view.identity.review else {}),
        **({"confidence": confidence_record(view, turn)} if votes(view.method, view.identity.regime) else {}),
    }


def _show_attempt(view: RunView, turn: Turn, step: int, console: Console) -> None:
    attempts = turn.episode.attempts
    attempt, verdict = attempts[step], attempts[step].verdict
    asked = f"  [dim]prompt {inline((attempt.prompt_sha256 or '')[:12])}, {_tokens(attempt)}[/]"
    if attempt.repeat:
        again = f"set aside: says attempt {repeated_step(attempts, step)} again"
        console.print(f"\n[bold]attempt {step}[/]  {again}{asked}")
        return
    stands = "  [bold]stands[/]" if step == turn.episode.chosen else ""
    console.print(f"\n[bold]attempt {step}[/]{'' if step else '  the shared first answer'}{stands}")
    # Without history an attempt does not change an earlier one, so there is nothing to compare with.
    earlier = [other.sql for other in attempts[:step] if not other.repeat and view.method.history]
    if attempt.written is not None:
        _show_written(attempt.written, console)
        earlier.append(attempt.written.sql)
    show_change(earlier[-1] if earlier else None, attempt.sql, console)
    colour = "green" if verdict.satisfied else "yellow"
    kind = f"  {attempt.failure.type} / {attempt.failure.subtype}" if attempt.failure else ""
    head = f"  [{colour}]{verdict.status}[/]{kind}{_agreement(turn, step)}  "
    if verdict.error and not console.soft_wrap:
        console.print(head)
        console.block(verdict.error, 4)
    else:
        console.block(verdict.error or "", 4, head=head)
    if attempt.prompt_sha256:
        console.print(asked)


def _show_written(written: RefusedStatement, console: Console) -> None:
    """What the database refused, and what the schema changed in it."""
    console.block(written.verdict.error or "", 4, head="  [yellow]refused as written[/]  ")
    for change in written.changes:
        console.block(change.why, 4, head=f"  [bold]grounded[/] ({change.rule})  ")


def _right(turn: Turn, step: int) -> bool:
    """Whether an attempt is known to be right: by its verdict, or by the run's own judging of the first and last."""
    attempts = turn.episode.attempts
    return (
        attempts[step].verdict.correct
        or (step == 0 and turn.initial_correct)
        or (attempts[step] is turn.episode.final and turn.final_correct)
    )


def _tokens(attempt: Attempt) -> str:
    estimated = " (estimated)" if attempt.tokens_estimated else ""
    return f"{attempt.prompt_tokens} + {attempt.output_tokens} tokens{estimated}"


def _agreement(turn: Turn, step: int) -> str:
    """Which of the different results an attempt gave, and which others gave it, where candidates vote."""
    attempts = turn.episode.attempts
    result = attempts[step].verdict.result
    if turn.episode.chosen < 0 or result is None:
        return ""
    numbered = list(dict.fromkeys(other.verdict.result for other in attempts if other.verdict.result))
    others = [str(i) for i, other in enumerate(attempts) if other.verdict.result == result and i != step]
    name = f"result {numbered.index(result) + 1}" if result else "no rows"
    return f"  {name}{', as attempt ' + listed(others) if others else ''}"


def _recalls(view: RunView, turn: Turn) -> dict[int, Any]:
    path, identity = view.path / RETRIEVALS, turn.episode.task.question.id
    recalls = {}
    for number, line in enumerate(read_lines(path), 1):
        record = parse_json(line, path, number)
        check_fields(
            record, {"question_id": object, "phase": str, "step": int, "pools": list}, f"{path}, line {number}"
        )
        if record["question_id"] == identity and record["phase"] == turn.phase:
            recalls[record["step"]] = record
    return recalls


def _shown_by(record: Any) -> list[str] | None:
    return None if record is None else [match["entry"] for pool in record["pools"] for match in pool["matches"]]


def _show_recall(view: RunView, record: Any, entries: Mapping[str, Entry], console: Console) -> None:
    if record is None:
        return
    kept_entries = kept_by(view)
    for pool in record["pools"]:
        name = inline(str(pool["polarity"] or "all"))
        sizes = f"{pool['legal']} legal of {pool['stored']}, pool of {pool['size']}"
        console.print(f"\n  [bold]recalled[/] {name}: {sizes} ({_narrowed(view, pool)})")
        for match in pool["matches"]:
            entry = entries[match["entry"]]
            parts = [
                f"{channel} {match[channel]:.3f}" for channel in ("dense", "lexical") if match[channel] is not None
            ]
            parts += [f"bonus {match['bonus']:.2f}"] if match["bonus"] else []
            source = entry.provenance
            console.print(
                f"    {match['rank']}. [magenta]{inline(entry.id)}[/] "
                f"score {match['score']:.3f} ({', '.join(parts)}), "
                f"{entry.grade}, from question {inline(str(source.question_id))} at position {source.position}, "
                f"{inline(source.db_id)}{', poisoned' if kept_entries[entry.id].poisoned else ''}"
            )
            if isinstance(entry, Precedent):
                console.block(entry.question, 7, "dim")
            console.block(entry.delta, 7, "dim")
            if entry.lesson is not None:
                console.block(entry.lesson, 7, "italic")


def _narrowed(view: RunView, pool: Any) -> str:
    policy = view.method.recall
    if pool["polarity"] == Polarity.PRECEDENT and policy is not None:
        return f"a bonus of {policy.database_bonus:g} for the same database; {policy.least_grade} or surer"
    return "same failure type" if pool["typed"] else "fallback to all types" if pool["fallback"] else "all types"


def _show_end(view: RunView, turn: Turn, console: Console) -> None:
    ended = "right" if turn.final_correct else "wrong"
    if view.identity.review is not None:
        show_review(view, turn, console)
        return
    left = f"left {inline(turn.entry)}" if turn.entry else "left no entry"
    if turn.entry:
        kept_entry = kept_by(view)[turn.entry]
        left += f" ({kept_entry.grade})"
        left += ", poisoned: kept as right, but the judge calls it wrong" if kept_entry.poisoned else ""
    users = used_by(view, turn.entry) if turn.entry else []
    used = (
        f", recalled later by {'question' if len(users) == 1 else 'questions'} {inline(listed(users))}" if users else ""
    )
    console.print(f"\n[bold]{ended}[/], {left}{used}")
    if votes(view.method, view.identity.regime):
        console.print(inline(votes_in_words(view, turn)))
