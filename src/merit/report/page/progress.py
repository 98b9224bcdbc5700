"""The progress of a live run: whether it is running or stopped, how far it is, and the time left."""

import time
from collections import deque
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path

from merit.files import is_file
from merit.runs import in_use, is_finished
from merit.runs.paths import MANIFEST, RETRIEVALS, TRAJECTORIES
from merit.runs.timings import planned_turns

_WINDOW_S = 300.0  # how far back a pace is measured: long enough for slow models, short enough to follow a change
_SHORTEST_S = 10.0  # a shorter time is too little to measure a pace
_FEWEST_TURNS = 3
_QUIET_S = 60.0  # after this long without a write, the page shows when the last one was


@dataclass(slots=True)
class RunPace:
    """When new turns were seen. Turns that were there at the start say nothing about the speed."""

    seen: deque[tuple[float, int]] = field(default_factory=deque)

    def note(self, turns: int, now: float) -> None:
        """Record that the run has this many turns now."""
        while len(self.seen) > 1 and self.seen[0][0] < now - _WINDOW_S:
            self.seen.popleft()
        if not self.seen or turns != self.seen[-1][1]:
            self.seen.append((now, turns))

    def left_s(self, to_come: int, now: float) -> float | None:
        """Estimated seconds for this many more turns; None where too little was seen."""
        if not self.seen:
            return None
        (first, before), (_, turns) = self.seen[0], self.seen[-1]
        if now - first < _SHORTEST_S or turns - before < _FEWEST_TURNS:
            return None
        return to_come * (now - first) / (turns - before)


@dataclass(frozen=True, slots=True)
class RunProgress:
    """The progress of one run at this moment."""

    state: str  # finished, running, stopped, or unfinished where the lock cannot be checked
    answered: int
    questions: int | None  # None where it is not known how many are meant to be answered
    quiet_s: float  # since its files changed
    left_s: float | None

    @property
    def sentence(self) -> str:
        """The state in words, to the minute, so that the page does not flicker."""
        if self.state == "finished":
            return "finished"
        done = f"{self.answered:,}" if self.questions is None else f"{self.answered:,} of {self.questions:,}"
        known = [f"running: {done}" if self.state == "running" else f"{self.state} after {done}"]
        if self.left_s is not None:
            known.append(f"about {duration(self.left_s)} left")
        if self.state != "running" or self.quiet_s > _QUIET_S:
            known.append(f"last change {duration(self.quiet_s)} ago")
        return ", ".join(known)


def progress_of(path: Path, pace: RunPace, turns: int, answered: int, passes: int) -> RunProgress:
    """The progress of the run in a folder, of which `turns` turns were read; it passes over the questions so often."""
    if is_finished(path):
        return RunProgress("finished", answered, answered, 0.0, None)
    held = in_use(path)
    state = "unfinished" if held is None else "running" if held else "stopped"
    planned = planned_turns(path)
    left = pace.left_s(max(0, planned - turns), time.monotonic()) if held and planned is not None else None
    questions = None if planned is None else planned // passes
    return RunProgress(state, answered, questions, max(0.0, time.time() - _changed(path)), left)


def summary(runs: Iterable[RunProgress]) -> str:
    """All runs together, in a line."""
    progresses = list(runs)
    states = ("running", "stopped", "unfinished", "finished")
    counted = [(sum(progress.state == state for progress in progresses), state) for state in states]
    parts = [f"{number} {state}" for number, state in counted if number] or ["no runs yet"]
    answered = sum(progress.answered for progress in progresses)
    known = [progress.questions for progress in progresses if progress.questions is not None]
    of_all = f" of {sum(known):,}" if len(known) == len(progresses) else ""
    sentence = f"{', '.join(parts)}: {answered:,}{of_all} episodes"
    left = [progress.left_s for progress in progresses if progress.left_s is not None]
    return f"{sentence}, about {duration(max(left))} left" if left else sentence


def duration(seconds: float) -> str:
    """A time span in words."""
    minutes = round(seconds / 60)
    if minutes < 1:
        return "less than a minute"
    if minutes < 60:
        return f"{minutes} min"
    hours, minutes = divmod(minutes, 60)
    return f"{hours} h {minutes} min" if hours < 24 else f"{hours // 24} d {hours % 24} h"


def _changed(path: Path) -> float:
    """When a run's files changed last."""
    times = [file.stat().st_mtime for name in (TRAJECTORIES, RETRIEVALS, MANIFEST) if is_file(file := path / name)]
    return max(times, default=0.0)
