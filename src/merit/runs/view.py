"""A run as its files have it, read without a model, a judge or a database."""

import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from merit.agent import Method
from merit.errors import RunUnusable, check_type
from merit.reading import parse_json
from merit.runs.manifest import Identity, Manifest
from merit.runs.manifest_reading import read_manifest
from merit.runs.paths import REVIEWS, TRAJECTORIES, is_finished
from merit.runs.questions import StreamQuestion, read_stream
from merit.runs.reviews import read_review
from merit.runs.text import read_lines
from merit.runs.turn import Phase, Turn, read_turn
from merit.types import QuestionId


@dataclass(frozen=True)
class RunView:
    """A run: what it is, what was asked, and what became of it."""

    path: Path
    manifest: Manifest
    questions: dict[QuestionId, StreamQuestion]
    turns: list[Turn]

    @property
    def identity(self) -> Identity:
        """What decides the run's content."""
        return self.manifest.identity

    @property
    def method(self) -> Method:
        """What was run, in the stream of its seed."""
        return self.identity.method

    @property
    def answers(self) -> list[Turn]:
        """The turns that answered a question, in the order in which they were run."""
        return [turn for turn in self.turns if turn.phase is Phase.ANSWER]


def read_run(path: str | Path, *, torn: bool = False) -> RunView:
    """A run's manifest, stream and turns; `torn` lets a last line that was never finished pass."""
    check_type("path", path, (str, Path), "a run's folder")
    path = Path(path)
    manifest = read_manifest(path)
    questions = read_stream(path, manifest.identity.stream_sha256)
    trajectories = path / TRAJECTORIES
    if is_finished(path) and not os.path.lexists(trajectories):
        raise RunUnusable(f"{trajectories}: no such file, though the run is finished; put it back, or run it again")
    turns = [
        read_turn(parse_json(line, trajectories, number), questions, f"{trajectories}, line {number}")
        for number, line in enumerate(read_lines(trajectories, torn=torn), 1)
    ]
    if manifest.identity.review is not None:
        turns = list(_reviewed(turns, path / REVIEWS, torn=torn))
    return RunView(path, manifest, questions, turns)


def _reviewed(turns: Sequence[Turn], path: Path, *, torn: bool) -> Iterator[Turn]:
    """Turns with what was said of their answers; the lines are in the order of the turns."""
    lines = read_lines(path, torn=torn)
    reviews = [
        read_review(parse_json(line, path, number), f"{path}, line {number}") for number, line in enumerate(lines, 1)
    ]
    used = 0
    for turn in turns:
        about, review = reviews[used] if used < len(reviews) else (None, None)
        own = review is not None and about == turn.episode.task.question.id
        yield replace(turn, review=review) if own else turn
        used += own
    if used < len(reviews) and not torn:
        raise RunUnusable(f"{path}, line {used + 1}: is about no answer of this run, or not in the order of its turns")
