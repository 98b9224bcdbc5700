"""A run as its files have it, read without a model, a judge or a database."""

import os
from dataclasses import dataclass
from pathlib import Path

from merit.agent import Method
from merit.errors import RunUnusable, check_type
from merit.reading import parse_json
from merit.runs.manifest import Identity, Manifest
from merit.runs.manifest_reading import read_manifest
from merit.runs.paths import TRAJECTORIES, is_finished
from merit.runs.questions import StreamQuestion, read_stream
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
    return RunView(path, manifest, questions, turns)
