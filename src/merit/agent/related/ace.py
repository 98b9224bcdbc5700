"""ACE: a playbook of bullets that grows by small changes and is never rewritten as a whole.

Source: Zhang et al., "Agentic Context Engineering: Evolving Contexts for Self-Improving Language Models", 2025,
arXiv:2510.04618.

Essence: a guideline that a model rewrites again and again loses its details. ACE keeps a playbook of separate bullets,
each with a count of how often it helped and how often it harmed. After an episode a reflector says what went well and
what went wrong; a curator turns that into a delta: new bullets, and marks on those that are there. A program, not a
model, merges the delta. The whole playbook stands before every task. Here reflector and curator are two notes at the
end of every episode with a repair.

Left out: likeness of embeddings for finding duplicates (equal texts are merged); several epochs over the same tasks;
sections within the playbook.
"""

import re
from typing import NamedTuple

from merit.agent.behaviour import Moment, Recalled
from merit.agent.method import Method
from merit.agent.related.notes import (
    LATEST_OF_BOTH,
    Noting,
    asked,
    latest_lesson,
    mended,
    tried_in_vain,
    without_changes,
)
from merit.agent.related.operations import operations
from merit.agent.trajectory import notes_at
from merit.prompts import Prompt, led_by, parse_note
from merit.types import Polarity

_MOST_BULLETS = 40
_MOST_OPERATIONS = 8
_REFLECT = """Below are the attempts at one question and a playbook that was at hand. Say what went wrong and what went
well: the key mistake, its cause, the way that was or would have been right, and which bullets helped or misled."""
_CURATE = """You curate a playbook for writing correct SQL. Below are the playbook, the attempts at one question, and a
reflection on them. Say how the playbook should change: keep what is specific, and add only what it does not say yet."""
_CHANGES = """Answer with at most eight operations, one a line, and nothing else:
ADD: a new bullet, one specific and reusable piece of advice
HELPFUL 2
HARMFUL 2
where 2 stands for the number of a bullet that is there."""


class Bullet(NamedTuple):
    """A piece of advice, and how often it helped and harmed."""

    helpful: int
    harmful: int
    text: str


class ACE(Noting):
    """Reflects and curates after every episode with a repair, and shows the playbook before the next."""

    def note(self, method: Method, moment: Moment) -> Prompt | None:  # noqa: ARG002 - its fields change nothing here
        """First the reflector, then the curator."""
        if not mended(moment) and not tried_in_vain(moment):
            return None
        shown = {"PLAYBOOK": _numbered(_bullets(moment.recalled)) or "(empty)"}
        reflection = notes_at(moment.reflections, moment.step)
        if not reflection:
            return asked(moment, "ace-reflector", _REFLECT, "Write at most ten lines.", shown)
        return asked(moment, "ace-curator", _CURATE, _CHANGES, {**shown, "REFLECTION": reflection[0].text})

    def read(self, method: Method, moment: Moment, reply: str) -> str:  # noqa: ARG002 - its fields change nothing here
        """The reflection as it is; of the curator's reply the playbook that it leads to."""
        if not notes_at(moment.reflections, moment.step):
            return parse_note(reply)
        playbook = merged(_bullets(moment.recalled), reply)
        return "\n".join(f"[+{bullet.helpful} -{bullet.harmful}] {bullet.text}" for bullet in playbook) or "(empty)"

    def ask(self, method: Method, moment: Moment) -> Prompt:
        """The paper's repair prompt after the playbook."""
        playbook = _numbered(_bullets(moment.recalled))
        return led_by(super().ask(method, without_changes(moment)), "ace", "PLAYBOOK FROM EARLIER QUESTIONS", playbook)


def merged(bullets: list[Bullet], reply: str) -> list[Bullet]:
    """The playbook after a delta; beyond its size the bullets that harmed most leave it, then the oldest."""
    playbook = list(bullets)
    for word, number, text in operations(reply, ("ADD", "HELPFUL", "HARMFUL"), _MOST_OPERATIONS):
        at = number - 1
        if word == "ADD" and text and text not in [bullet.text for bullet in playbook]:
            playbook.append(Bullet(0, 0, text))
        elif word != "ADD" and 0 <= at < len(bullets):
            helpful, harmful, known = playbook[at]
            playbook[at] = Bullet(helpful + (word == "HELPFUL"), harmful + (word == "HARMFUL"), known)
    while len(playbook) > _MOST_BULLETS:
        playbook.remove(min(playbook, key=lambda bullet: bullet.helpful - bullet.harmful))
    return playbook


def _bullets(recalled: Recalled) -> list[Bullet]:
    found = re.findall(r"^\[\+(\d+) -(\d+)\] (.*)$", latest_lesson(recalled), re.MULTILINE)
    return [Bullet(int(helpful), int(harmful), text) for helpful, harmful, text in found]


def _numbered(bullets: list[Bullet]) -> str:
    lines = (f"{i}. {b.text} (helped {b.helpful}, harmed {b.harmful})" for i, b in enumerate(bullets, 1))
    return "\n".join(lines)


METHOD = Method(
    "ace",
    "ACE: a playbook of bullets, changed by small deltas after every repaired or failed question, leads each prompt.",
    notes=2,
    recall=LATEST_OF_BOTH,
    writes=frozenset({Polarity.POSITIVE, Polarity.NEGATIVE}),
    behaviour=ACE(),
)
