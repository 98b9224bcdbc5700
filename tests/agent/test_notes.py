"""Notes: when they are asked for, what they may see, what they cost, and what of them an entry keeps."""

from collections.abc import Callable
from pathlib import Path

import pytest

from making.memories import make_entry
from making.one_episode import CONFIRMED, NO_TABLE, RIGHT, WRONG, Counting, Told, episode_of, run_episode
from merit.agent import Method, Moment, finalise, find_method
from merit.agent.related.notes import Noting, asked
from merit.agent.variants import contradiction
from merit.errors import InputError
from merit.memory import RecallPolicy
from merit.prompts import Prompt
from merit.types import Polarity

Decide = Callable[[Moment], bool]


class Scribe(Noting):
    """Notes everything it is let to, and keeps the moments."""

    def __init__(self, decide: Decide = lambda _: True) -> None:
        self.moments: list[Moment] = []
        self._decide = decide

    def note(self, method: Method, moment: Moment) -> Prompt | None:  # noqa: ARG002
        if not self._decide(moment):
            return None
        self.moments.append(moment)
        return asked(moment, "scribe", "Note something.", "Be brief.", {})

    def read(self, method: Method, moment: Moment, reply: str) -> str:  # noqa: ARG002
        return f"{moment.step}: {reply}"


def scribe(behaviour: Scribe, notes: int = 1) -> Method:
    both = frozenset({Polarity.POSITIVE, Polarity.NEGATIVE})
    return Method("scribe", "", notes=notes, recall=RecallPolicy(), writes=both, behaviour=behaviour)


def test_notes_come_before_each_repair_and_at_the_end(tmp_path: Path) -> None:
    behaviour = Scribe()
    episode, model, oracle = episode_of(tmp_path, [WRONG, NO_TABLE, RIGHT], scribe(behaviour, notes=2), known=2)
    assert [note.after for note in episode.reflections] == [1, 1, 2, 2, 3, 3]
    assert ["-scribe-v1" in prompt for prompt in model.prompts] == [True, True, False] * 2 + [True, True]
    assert len(oracle.judged) == 3  # notes use no budget
    assert [moment.ended for moment in behaviour.moments] == [False] * 4 + [True] * 2
    assert [len(moment.reflections) for moment in behaviour.moments] == [0, 1, 2, 3, 4, 5]
    assert all(len(moment.recalled.positives) == 2 for moment in behaviour.moments)
    assert all(set(moment.recalled.scores) == {e.id for e in moment.recalled.positives} for moment in behaviour.moments)


def test_the_last_note_of_an_ended_episode_is_the_lesson(tmp_path: Path) -> None:
    method = scribe(Scribe(), notes=2)
    episode, _, _ = episode_of(tmp_path, [WRONG, RIGHT], method)
    entry = finalise(episode, method, "run", CONFIRMED)
    assert entry is not None
    assert entry.lesson == episode.reflections[-1].text == "2: <answer>SELECT 5</answer>"


def test_a_note_on_the_way_is_no_lesson(tmp_path: Path) -> None:
    method = scribe(Scribe(lambda moment: not moment.ended))
    episode, _, _ = episode_of(tmp_path, [WRONG, RIGHT], method)
    entry = finalise(episode, method, "run", CONFIRMED)
    assert entry is not None
    assert (len(episode.reflections), entry.lesson) == (1, None)


def test_a_reflection_is_no_lesson_either(tmp_path: Path) -> None:
    method = find_method("merit:reflects=true")
    episode, _, _ = episode_of(tmp_path, [WRONG], method, budget=1)
    entry = finalise(episode, method, "run", CONFIRMED)
    assert entry is not None
    assert (len(episode.reflections), entry.lesson) == (2, None)


def test_a_right_first_answer_can_be_noted_too(tmp_path: Path) -> None:
    episode, model, _ = episode_of(tmp_path, [RIGHT], scribe(Scribe()))
    assert ([note.after for note in episode.reflections], len(model.prompts)) == ([1], 1)


def test_repair_prompts_show_what_was_noted(tmp_path: Path) -> None:
    model = Counting(["hold on", "<answer>SELECT 1</answer>", "think", "<answer>SELECT 2</answer>", "end"])
    run_episode(tmp_path, Told([WRONG, WRONG, RIGHT]), scribe(Scribe()), model, entries=[make_entry(1)])
    assert "[Local reflection 1] 1: hold on\n[Local reflection 2] 2: think" in model.prompts[3]


@pytest.mark.parametrize("name", ["merit:notes=1", "reflexion:notes=2"])
def test_notes_need_a_behaviour_that_asks_for_them(name: str) -> None:
    with pytest.raises(InputError, match="it takes 'notes', but its behaviour has no `note` and `read`"):
        find_method(name)


def test_fewer_notes_are_a_variant() -> None:
    assert find_method("ace:notes=1").notes == 1
    assert contradiction(find_method("magic:recency=0.5")) is None
    with pytest.raises(InputError, match="nothing is left to rank by"):
        find_method("magic:recency=0")
    with pytest.raises(InputError, match="'recency_decay' should be a number above 0, 1 at most"):
        find_method("magic:recency_decay=2")
