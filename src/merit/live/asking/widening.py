"""More of a large schema, once a candidate failed by a table or column that the database does not have."""

from collections.abc import Sequence
from dataclasses import replace

from merit.agent import Attempt, Task
from merit.failure import missing_name
from merit.live.asking.preparing import shown_of
from merit.live.parts import LiveParts


class Widening:
    """Widens what the prompts of one question show; `count` says how often it did."""

    def __init__(self, parts: LiveParts) -> None:
        self._parts = parts
        self._missing: tuple[str, ...] = ()
        self.count = 0

    def __call__(self, task: Task, attempts: Sequence[Attempt]) -> Task:
        """The task with a wider selection where the attempts name something new that is missing, else as it was."""
        names = (missing_name(attempt.verdict, self._parts.engine.dialect) for attempt in attempts)
        missing = tuple(dict.fromkeys(name for name in names if name))
        if missing == self._missing or self._parts.selection is None:
            return task
        self._missing = missing
        wider = self._parts.selection.choose(task.whole_question, missing, viewer=task.viewer)
        if wider.whole:  # then nothing was left out before
            return task
        self.count += 1
        shown = shown_of(self._parts, wider)
        return replace(task, live=replace(task.live, tables=shown.tables, bare=shown.bare) if task.live else shown)
