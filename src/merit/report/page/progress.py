"""How far a live run is: whether it is running or was left, what is to come, and how long that may take."""

import time
from collections import deque
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path

from merit.runs import in_use, is_finished
from merit.runs.paths import MANIFEST, RETRIEVALS, TRAJECTORIES

_WINDOW_S = 300.0  # how far back a pace is measured: long enough for slow models, short enough to follow a change
_SHORTEST_S = 10.0  # less says nothing about a pace
_FEWEST_TURNS = 3
_QUIET_S = 60.0  # a run that wrote nothing for longer says so


@dataclass(slots=True)
class RunPace:
    """When turns came in, as far as it was watched: what was there before says nothing about how fast it goes."""

    seen: deque[tuple[float, int]] = field(default_factory=deque)

    def note(self, turns: int, now: float) -> None:
        """So many turns are there now."""
        while len(self.seen) > 1 and self.seen[0][0] < now - _WINDOW_S:
            self.seen.popleft()
        if not self.seen or turns != self.seen[-1][1]:
            self.seen.append((now, turns))

    def left_s(self, to_come: int, now: float) -> float | None:
        """Seconds until so many more turns are there; None where too little was seen."""
        if not self.seen:
            return None
        (first, before), (_, turns) = self.seen[0], self.seen[-1]
        if now - first < _SHORTEST_S or turns - before < _FEWEST_TURNS:
            return None
        return to_come * (now - first) / (turns - before)


@dataclass(frozen=True, slots=True)
class LiveProgress:
    """One run, now."""

    state: str  # finished, running, stopped, or unfinished where a lock cannot be asked
    answered: int
    questions: int
    quiet_s: float  # since its files changed
    left_s: float | None

    @property
    def said(self) -> str:
        """For people; by the minute, so that it does not flicker."""
        if self.state == "finished":
            return "finished"
        known = [f"{self.state} after {self.answered:,} of {self.questions:,}"]
        if self.state == "running":
            known = [f"running: {self.answered:,} of {self.questions:,}"]
        if self.left_s is not None:
            known.append(f"about {duration(self.left_s)} left")
        if self.state != "running" or self.quiet_s > _QUIET_S:
            known.append(f"last change {duration(self.quiet_s)} ago")
        return ", ".join(known)


def progress_of(path: Path, pace: RunPace, turns: int, answered: int, questions: int, passes: int) -> LiveProgress:
    """How far the run in a folder is, of whose files so many turns were read."""
    if is_finished(path):
        return LiveProgress("finished", answered, questions, 0.0, None)
    held = in_use(path)
    state = "unfinished" if held is None else "running" if held else "stopped"
    left = pace.left_s(passes * questions - turns, time.monotonic()) if held else None
    return LiveProgress(state, answered, questions, max(0.0, time.time() - _changed(path)), left)


def summary(runs: Iterable[LiveProgress]) -> str:
    """All runs together, in a line."""
    found = list(runs)
    states = ("running", "stopped", "unfinished", "finished")
    counted = [(sum(one.state == state for one in found), state) for state in states]
    parts = [f"{number} {state}" for number, state in counted if number] or ["no runs yet"]
    answered, questions = sum(one.answered for one in found), sum(one.questions for one in found)
    said = f"{', '.join(parts)}: {answered:,} of {questions:,} episodes"
    left = [one.left_s for one in found if one.left_s is not None]
    return f"{said}, about {duration(max(left))} left" if left else said


def duration(seconds: float) -> str:
    """A time span as people say it."""
    minutes = round(seconds / 60)
    if minutes < 1:
        return "less than a minute"
    if minutes < 60:
        return f"{minutes} min"
    hours, minutes = divmod(minutes, 60)
    return f"{hours} h {minutes} min" if hours < 24 else f"{hours // 24} d {hours % 24} h"


def _changed(path: Path) -> float:
    """When a run's files changed last."""
    times = [file.stat().st_mtime for name in (TRAJECTORIES, RETRIEVALS, MANIFEST) if (file := path / name).is_file()]
    return max(times, default=0.0)
