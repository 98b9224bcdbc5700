"""Notes and lessons on a terminal: with the attempt they follow, and with the entry they are kept in."""

from pathlib import Path

from making.benchmark import FickleModel
from making.commands import good
from making.runs import make_bench


def test_notes_and_lessons_are_shown(tmp_path: Path) -> None:
    view = make_bench(tmp_path).run(tmp_path / "run", "memo_sql", model=FickleModel(luck=3))
    turn = next(turn for turn in view.turns[::-1] if turn.entry and turn.recalls)
    (note,) = turn.episode.reflections
    shown = good("show", view.path, turn.episode.task.question.id).output
    attempts, ended = shown.split(f"attempt {len(turn.episode.attempts) - 1}\n")
    assert f"note: {note.text.splitlines()[0]}" in ended
    assert "note:" not in attempts
    lessons = [one.episode.lesson for one in view.turns if one.entry and one.entry in shown and one is not turn]
    assert lessons
    assert all(lesson is not None and f"       {lesson.splitlines()[0]}" in attempts for lesson in lessons)
    assert turn.entry is not None
    assert f"lesson    {note.text.splitlines()[0]}" in good("memory", "show", view.path, turn.entry).output


def test_scores_without_a_channel_are_told_by_their_bonus(tmp_path: Path) -> None:
    view = make_bench(tmp_path).run(tmp_path / "run", "magic", model=FickleModel(luck=3))
    turn = next(turn for turn in view.turns[::-1] if turn.recalls)
    assert "(bonus " in good("show", view.path, turn.episode.task.question.id).output
