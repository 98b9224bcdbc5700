"""MAGIC: a guideline for self-correction that grows from failures.

Source: Askari, Poelitz and Tang, "MAGIC: Generating Self-Correction Guideline for In-Context Text-to-SQL", AAAI 2025,
arXiv:2406.12692.

Essence: instead of a guideline that people wrote, agents write one. Where a failed query was corrected, what was wrong
with it becomes part of a guideline for later questions, which a manager keeps general and in order; every correction is
asked for with the guideline in front. Here the manager is one note at the end of an episode that ended well after a
failure: it rewrites the guideline that the episode was shown. The latest guideline leads the paper's repair prompt.

Left out: the feedback agent's look at the reference query, which no agent here may see; the separate training phase and
its batches of failures, since a stream learns as it goes; the manager's revisions of the other agents' prompts.
"""

from merit.agent.behaviour import Moment
from merit.agent.method import Method
from merit.agent.related.notes import LATEST, Noting, asked, latest_lesson, mended, without_changes
from merit.prompts import Prompt, led_by
from merit.types import Polarity

_TASK = """You maintain a guideline for correcting SQL queries. Below are the guideline so far, and the attempts at one
question: all but the last failed, and the last one was confirmed to be right.
Find out which mistake the failed attempts made and how the right one avoids it. Then write the guideline again so that
it also helps with this kind of mistake: keep what is there, merge what is alike, and name no table, column or value."""
_ENDING = "Answer with the whole guideline: numbered reminders, one line each, twenty at most, and nothing else."


class Magic(Noting):
    """Rewrites the guideline after a correction, and shows it before the next."""

    def note(self, method: Method, moment: Moment) -> Prompt | None:  # noqa: ARG002 - its fields change nothing here
        """The guideline again, once a failed query was corrected."""
        shown = {"GUIDELINE SO FAR": latest_lesson(moment.recalled) or "(empty)"}
        return asked(moment, "magic-manager", _TASK, _ENDING, shown) if mended(moment) else None

    def ask(self, method: Method, moment: Moment) -> Prompt:
        """The paper's repair prompt after the guideline."""
        heading = "GUIDELINE FOR CORRECTING SQL, LEARNED FROM EARLIER FAILURES"
        plain = super().ask(method, without_changes(moment))
        return led_by(plain, "magic", heading, latest_lesson(moment.recalled))


METHOD = Method(
    "magic",
    "MAGIC: a guideline that the model rewrites after every corrected failure leads each repair prompt.",
    notes=1,
    recall=LATEST,
    writes=frozenset({Polarity.POSITIVE}),
    behaviour=Magic(),
)
