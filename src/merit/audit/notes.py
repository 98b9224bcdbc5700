"""What the model wrote besides SQL, derived again: reflections, and the notes that methods of their own ask for."""

from collections.abc import Iterator

from merit.agent import Episode, Method, Recalled, Reflection, Task
from merit.agent.behaviour import reflection_prompt
from merit.agent.notes import next_note, note_moment, read_note
from merit.agent.trajectory import notes_at, reflections_until
from merit.errors import AuditFailed, counted
from merit.prompts import Family, Prompt, parse_reflection


def check_reflections(
    episode: Episode, task: Task, method: Method, family: Family, where: str
) -> Iterator[tuple[Prompt, Reflection]]:
    """Every reflection with its prompt: one after each unsuccessful attempt, where the method reflects."""
    attempts = episode.attempts
    reflections = [reflection for reflection in episode.reflections if reflection.after is None]
    failed = sum(attempt.failure is not None for attempt in attempts)
    if len(reflections) != (failed if method.reflects else 0):
        found = f"{counted(len(reflections), 'reflection')} for {counted(failed, 'unsuccessful attempt')}"
        raise AuditFailed(f"{where}: {found}")
    for number, reflection in enumerate(reflections, 1):
        prompt = reflection_prompt(family, task, attempts[:number])
        if prompt.sha256 != reflection.prompt_sha256 or parse_reflection(reflection.reply) != reflection.text:
            raise AuditFailed(f"{where}, reflection {number}: prompt or text is not the one that the records give")
        yield prompt, reflection


def check_notes(
    episode: Episode, task: Task, made: int, shown: Recalled, method: Method, family: Family, at: str
) -> Iterator[tuple[Prompt, Reflection]]:
    """Every note written when so many attempts had been made, with its prompt; `shown` is what was recalled then."""
    ended = made == len(episode.attempts)
    order = [note.after for note in episode.reflections if note.after is not None]
    if order != sorted(order) or max(order, default=0) > len(episode.attempts):
        raise AuditFailed(f"{at}: notes do not follow the attempts in their order")
    notes = notes_at(episode.reflections, made)
    before = [reflection for reflection in reflections_until(episode.reflections, made) if reflection.after != made]
    for note in [*notes, None]:
        moment = note_moment(family, task, episode.attempts[:made], before, shown, ended=ended)
        prompt = next_note(method, moment)
        if (prompt is None) != (note is None):
            raise AuditFailed(f"{at}: {'another note' if note is None else 'no such note'} should follow")
        if prompt is None or note is None:
            return
        if prompt.sha256 != note.prompt_sha256 or read_note(method, moment, note.reply) != note.text:
            raise AuditFailed(f"{at}: prompt or text of a note is not the one that the records give")
        before.append(note)
        yield prompt, note
