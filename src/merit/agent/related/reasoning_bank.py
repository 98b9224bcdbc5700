"""ReasoningBank: strategies distilled from successes and failures, recalled by likeness.

Source: Ouyang et al., "ReasoningBank: Scaling Agent Self-Evolving with Reasoning Memory", 2025, arXiv:2509.25140.

Essence: what is kept of an episode is neither its trajectory nor its answer but the reasoning that carries over. After
every episode the model writes up to three items, each a title, a description and content: of a success why it worked,
of a failure what to avoid. Later tasks recall the items of the episodes most like them.

Left out: the model as a judge of its own success, since the judge says that to every method; memory-aware scaling
(MaTTS); episodes whose first answer is right, in which nothing was tried.
"""

from merit.agent.behaviour import Moment
from merit.agent.method import Method
from merit.agent.related.notes import Noting, asked, lessons, mended, tried_in_vain, without_changes
from merit.memory import RecallPolicy, TypeFilter
from merit.prompts import Prompt, led_by
from merit.types import Polarity

_SUCCESS = """Below are the attempts at one question. The last one was confirmed to be right.
Distil why it works where the others failed, as strategies that help with other questions and databases."""
_FAILURE = """Below are the attempts at one question. None was right.
Distil what to avoid or to check first, as strategies that help with other questions and databases."""
_ENDING = """Answer with one to three items and nothing else, each of three lines:
Title: a few words
Description: one sentence
Content: one to three sentences, without names of tables or columns"""


class ReasoningBank(Noting):
    """Distils items after every episode with a repair, and shows those of similar ones."""

    def note(self, method: Method, moment: Moment) -> Prompt | None:  # noqa: ARG002 - its fields change nothing here
        """Memory items, from success or failure."""
        if not mended(moment) and not tried_in_vain(moment):
            return None
        return asked(moment, "reasoning-bank-items", _SUCCESS if mended(moment) else _FAILURE, _ENDING, {})

    def ask(self, method: Method, moment: Moment) -> Prompt:
        """The paper's repair prompt after the recalled items."""
        heading = "STRATEGIES FROM SIMILAR QUESTIONS"
        items = "\n".join(f"[Memory {i}]\n{entry.lesson}" for i, entry in enumerate(lessons(moment.recalled), 1))
        return led_by(super().ask(method, without_changes(moment)), "reasoning-bank", heading, items)


METHOD = Method(
    "reasoning_bank",
    "ReasoningBank: strategies that the model distils from successes and failures; up to 4 similar ones are shown.",
    notes=1,
    recall=RecallPolicy(one_pool=True, type_filter=TypeFilter.NONE),
    writes=frozenset({Polarity.POSITIVE, Polarity.NEGATIVE}),
    behaviour=ReasoningBank(),
)
