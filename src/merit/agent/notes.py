"""Notes: what a method has the model write besides SQL, between attempts and at the end of an episode."""

from collections.abc import Sequence
from dataclasses import replace
from types import NoneType

from merit.agent.behaviour import Moment, NotingBehaviour, Recalled, checked_decision, moment_of
from merit.agent.method import Method
from merit.agent.trajectory import Attempt, Reflection, Task, notes_at
from merit.prompts import Family, Prompt


def note_moment(
    family: Family,
    task: Task,
    attempts: Sequence[Attempt],
    notes: Sequence[Reflection],
    recalled: Recalled,
    *,
    ended: bool,
) -> Moment:
    """The moment after an attempt; `recalled` is what the next one is shown, or at the end what the last one was."""
    return replace(moment_of(family, task, attempts, notes), recalled=recalled, ended=ended)


def next_note(method: Method, moment: Moment) -> Prompt | None:
    """The prompt of the next note at this moment, where the method has one to ask for."""
    behaviour = method.behaviour
    if len(notes_at(moment.reflections, moment.step)) >= method.notes or not isinstance(behaviour, NotingBehaviour):
        return None
    shown = moment.showing(behaviour.shows)
    prompt = checked_decision(method, "note", (Prompt, NoneType), lambda: behaviour.note(method, shown))
    if prompt is not None:
        checked_decision(method, "note", str, lambda: prompt.sha256)  # which a text that cannot be sent does not have
    return prompt


def read_note(method: Method, moment: Moment, reply: str) -> str:
    """What the reply to a moment's next note says."""
    behaviour = method.behaviour
    assert isinstance(behaviour, NotingBehaviour)  # it asked for the note
    shown = moment.showing(behaviour.shows)
    return checked_decision(method, "read", str, lambda: behaviour.read(method, shown, reply))
