"""ExpeL: insights that the model extracts from its episodes, and votes up and down.

Source: Zhao et al., "ExpeL: LLM Agents Are Experiential Learners", AAAI 2024, arXiv:2308.10144, and its code.

Essence: a numbered list of general insights. After an episode with a failed and a successful trial the model contrasts
the two and changes the list by operations: ADD a new insight (which starts with 2 votes), AGREE with one (+1), EDIT one
(+1), REMOVE one (-1, and -3 once the list is full). An insight without votes is dropped, so none rests on a single
opinion. All insights, by votes, stand before every later task.

Left out: similar successful trajectories as examples, which other methods here measure alone; insights from several
successes at once; separate phases of gathering and use, since a stream learns as it goes.
"""

import re

from merit.agent.behaviour import Moment, Recalled
from merit.agent.method import Method
from merit.agent.related.notes import LATEST, Noting, asked, latest_lesson, mended, without_changes
from merit.agent.related.operations import operations
from merit.prompts import Prompt, led_by
from merit.types import Polarity

_MOST_INSIGHTS = 20  # from then on, removing counts threefold
_MOST_OPERATIONS = 4
_TASK = """You keep a list of insights on writing correct SQL. Below are the insights so far, and the attempts at one
question: all but the last failed, and the last one was confirmed to be right.
Contrast the right query with the failed ones. Then change the list, so that it holds general insights that help to
avoid such failures with other questions and databases."""
_ENDING = """Answer with at most four operations, one a line, and nothing else:
ADD: a new insight that is unlike the others
AGREE 2
EDIT 2: the insight in better words
REMOVE 2
where 2 stands for the number of an insight that is there."""
Insight = tuple[int, str]  # votes, and what it says


class ExpeL(Noting):
    """Changes the list after an episode, and shows it before the next."""

    def note(self, method: Method, moment: Moment) -> Prompt | None:  # noqa: ARG002 - its fields change nothing here
        """Operations on the list, once a failed query was corrected."""
        shown = {"INSIGHTS SO FAR": _numbered(_insights(moment.recalled)) or "(none)"}
        return asked(moment, "expel-insights", _TASK, _ENDING, shown) if mended(moment) else None

    def read(self, method: Method, moment: Moment, reply: str) -> str:  # noqa: ARG002 - its fields change nothing here
        """The list after the operations, an insight a line after its votes."""
        return "\n".join(f"[{votes}] {text}" for votes, text in changed(_insights(moment.recalled), reply)) or "(none)"

    def ask(self, method: Method, moment: Moment) -> Prompt:
        """The paper's repair prompt after the insights."""
        insights = _numbered(_insights(moment.recalled))
        return led_by(
            super().ask(method, without_changes(moment)), "expel", "INSIGHTS FROM EARLIER QUESTIONS", insights
        )


def changed(insights: list[Insight], reply: str) -> list[Insight]:
    """The list after the operations of a reply, most votes first."""
    loss = 3 if len(insights) >= _MOST_INSIGHTS else 1
    items: list[Insight] = list(insights)
    for word, number, text in operations(reply, ("ADD", "AGREE", "EDIT", "REMOVE"), _MOST_OPERATIONS):
        at = number - 1
        if word == "ADD" and text and text not in [known for _, known in items]:
            items.append((2, text))
        elif word != "ADD" and 0 <= at < len(insights):
            votes, known = items[at]
            items[at] = (votes - loss if word == "REMOVE" else votes + 1, text if word == "EDIT" and text else known)
    kept = sorted((item for item in items if item[0] > 0), key=lambda item: -item[0])
    return kept[: 2 * _MOST_INSIGHTS]


def _insights(recalled: Recalled) -> list[Insight]:
    found = re.findall(r"^\[(\d+)\] (.*)$", latest_lesson(recalled), re.MULTILINE)
    return [(int(votes), text) for votes, text in found]


def _numbered(insights: list[Insight]) -> str:
    return "\n".join(f"{number}. {text}" for number, (_, text) in enumerate(insights, 1))


METHOD = Method(
    "expel",
    "ExpeL: insights that the model adds, edits and votes up or down after corrected failures lead each repair prompt.",
    notes=1,
    recall=LATEST,
    writes=frozenset({Polarity.POSITIVE}),
    behaviour=ExpeL(),
)
