"""Generative Agents: memories are scored by recency, importance and relevance.

Source: Park et al., "Generative Agents: Interactive Simulacra of Human Behavior", UIST 2023, arXiv:2304.03442.

Essence: a stream of memories, of which those are recalled whose sum of three numbers from 0 to 1 is largest: recency
(0.995 to the power of their age), importance (from 1 to 10, rated by the model when the memory is written), and
relevance (likeness to the present situation). Here a memory is the change that an episode ended with, confirmed or
failed; its age is counted in questions, and the rating is one note at the end of the episode. The four best lead the
paper's repair prompt.

Left out: age since a memory was last recalled (a recall leaves no trace, so that it can be derived again); reflections,
which abstract from many memories; planning. Relevance is that of all methods, in both channels.
"""

import re
from dataclasses import replace

from merit.agent.behaviour import Moment, Recalled
from merit.agent.method import Method
from merit.agent.related.notes import Noting, asked, mended, tried_in_vain
from merit.memory import RecallPolicy, Repair, TypeFilter
from merit.prompts import Prompt
from merit.types import Polarity

_SHOWN = 4
_TASK = """Below are the attempts at one question and what became of them.
Rate how important it is to remember this for later questions, from 1 (a trivial slip that will not come again) to 10 (a
mistake that will often come again, or an insight that changes how such questions are answered)."""


class GenerativeAgents(Noting):
    """Rates every memory, and shows those with the largest sum of the three scores."""

    def note(self, method: Method, moment: Moment) -> Prompt | None:  # noqa: ARG002 - its fields change nothing here
        """The importance of an episode that leaves a change."""
        if not mended(moment) and not tried_in_vain(moment):
            return None
        return asked(moment, "generative-agents-importance", _TASK, "Answer with the number alone.", {})

    def read(self, method: Method, moment: Moment, reply: str) -> str:  # noqa: ARG002 - its fields change nothing here
        """A number from 1 to 10."""
        return str(_importance(reply))

    def ask(self, method: Method, moment: Moment) -> Prompt:
        """The paper's repair prompt with the best memories."""
        recalled = moment.recalled
        best = sorted([*recalled.positives, *recalled.negatives], key=lambda entry: _key(entry, recalled))[:_SHOWN]
        positives = [entry for entry in best if entry.polarity is Polarity.POSITIVE]
        negatives = [entry for entry in best if entry.polarity is Polarity.NEGATIVE]
        return super().ask(method, replace(moment, recalled=Recalled(positives, negatives)))


def _key(entry: Repair, recalled: Recalled) -> tuple[float, str]:
    importance = _importance(entry.lesson or "") / 10
    return -round(recalled.scores.get(entry.id, 0.0) + importance, 9), entry.id


def _importance(text: str) -> int:
    """The first number from 1 to 10 in a text; 5 where there is none."""
    found = re.search(r"\b(10|[1-9])\b", text)
    return int(found[1]) if found else 5


METHOD = Method(
    "generative_agents",
    "Generative Agents: recalls up to 4 changes by the sum of recency, importance (rated by the model) and relevance.",
    notes=1,
    recall=RecallPolicy(positives=12, negatives=12, one_pool=True, type_filter=TypeFilter.NONE, recency=1.0),
    writes=frozenset({Polarity.POSITIVE, Polarity.NEGATIVE}),
    behaviour=GenerativeAgents(),
)
