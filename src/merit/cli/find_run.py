"""Finding the run, the memory and the question that a command names, with a hint where they do not exist."""

import shlex
from collections.abc import Callable, Sequence
from difflib import get_close_matches
from pathlib import Path

from merit.cli.terminal import listed
from merit.errors import InputError, counted
from merit.memory import memory_folder
from merit.memory.store import has_memory
from merit.runs import RunView, Turn, find_runs, is_finished, read_run, stream_order


def open_run(path: Path, command: str, *arguments: str) -> RunView:
    """The run in a folder; for a folder above runs, a sentence with the command to type for one of them.

    `command` is what was typed before the folder, and `arguments` what came after it.
    """
    refuse_several(path, command, *arguments)
    return read_run(path, torn=not is_finished(path))  # the last line may be being written


def refuse_several(
    path: Path, command: str, *arguments: str, better: Callable[[Path], bool] = lambda _run: True
) -> None:
    """Refuse a folder that is not a run but holds runs, and list them.

    The example is the first run, or the first that is `better` for this command.
    """
    runs = find_runs(path) if path.is_dir() else []
    if runs in ([], [path]):
        return
    typed = shlex.join([*command.split(), str(next(filter(better, runs), runs[0])), *arguments])
    names = "" if len(runs) == 1 else f"; there are {listed([str(run.relative_to(path)) for run in runs])}"
    held = counted(len(runs), "run")
    raise InputError(f"{path}: holds {held} and is none itself; name one, for example `{typed}`{names}")


def find_turn(view: RunView, wanted: str) -> Turn:
    """A question's turn, or a sentence that says why the run has none."""
    turns = view.answers
    for turn in turns:
        if str(turn.episode.task.question.id) == wanted:
            return turn
    raise InputError(
        f"{view.path}: question {wanted!r} {_why_not(view, wanted, len(turns))}; {finished(turns)}, and "
        f"`merit show {view.path}` lists {'it' if len(turns) == 1 else 'them'}"
    )


def _why_not(view: RunView, wanted: str, done: int) -> str:
    """Why a run has no episode of a question: not in its stream, beyond its limit, or not reached yet."""
    order = stream_order([asked.question for asked in view.questions.values()], view.identity.seed)
    position = next((number for number, question in enumerate(order) if str(question.id) == wanted), None)
    if position is None:
        near = get_close_matches(wanted, [str(question.id) for question in order], 1)
        return "is not in its stream" + (f" (did you mean {near[0]!r}?)" if near else "")
    length = view.identity.length or (done if is_finished(view.path) else len(order))
    if position >= length:
        return f"is left out: this run takes only the first {length} of {len(order)} questions (--limit of `merit run`)"
    return "comes later: the run is not finished and has not come to it yet"


def finished(turns: Sequence[Turn]) -> str:
    """How many questions are finished, in words."""
    return f"{counted(len(turns), 'question is', 'questions are')} finished"


def refuse_project(folder: Path) -> None:
    """Refuse the folder of a project, which has its memory in a folder of its own, with that folder's name."""
    from merit.live.opening import FOLDER  # loaded only here: it takes half a second

    if not has_memory(folder) and has_memory(memory_folder(folder / FOLDER)):
        raise InputError(f"{folder}: there is no memory here; the one of this project is {folder / FOLDER}")
