"""MemGPT: the model itself decides what to page from the archive into its context.

Source: Packer et al., "MemGPT: Towards LLMs as Operating Systems", 2023, arXiv:2310.08560.

Essence: the context window is main memory, everything else an archive, and the model moves pages between them by
calling functions. What it sees is what it chose to load. Here the archive is the changes that a search brings up,
twelve at most; before every repair one note shows a line about each and asks which to load, three at most, and the
paper's repair prompt shows those. What was loaded before an earlier repair is paged out again unless it is chosen
again.

Left out: searches in the model's own words; a working context that the model edits; the queue of messages and warnings
of memory pressure, since an episode fits into a prompt.
"""

import re
from dataclasses import replace

from merit.agent.behaviour import Moment, Recalled
from merit.agent.method import Method
from merit.agent.related.notes import Noting, asked
from merit.agent.trajectory import notes_at
from merit.memory import RecallPolicy, Repair, TypeFilter
from merit.prompts import Prompt
from merit.types import Polarity

_LOADED = 3
_TASK = """You repair an SQL query and have an archive of changes to queries of earlier questions. A line about each
stands below. Choose the pages whose whole text would help with this failure."""
_ENDING = "Answer with the numbers of the pages to load, three at most, such as `2, 5`; or with `none`."


class MemGPT(Noting):
    """Has the model choose from the archive before every repair."""

    def note(self, method: Method, moment: Moment) -> Prompt | None:  # noqa: ARG002 - its fields change nothing here
        """Which pages to load, where there are any and a repair follows."""
        archive = _archive(moment.recalled)
        if moment.ended or not archive:
            return None
        index = "\n".join(f"{number}. {_line(entry)}" for number, entry in enumerate(archive, 1))
        return asked(moment, "memgpt-paging", _TASK, _ENDING, {"ARCHIVE": index})

    def read(self, method: Method, moment: Moment, reply: str) -> str:  # noqa: ARG002 - its fields change nothing here
        """The numbers of pages that there are."""
        numbers = dict.fromkeys(int(number) for number in re.findall(r"\b\d{1,3}\b", reply))
        there = [str(number) for number in numbers if 1 <= number <= len(_archive(moment.recalled))]
        return ", ".join(there[:_LOADED]) or "none"

    def ask(self, method: Method, moment: Moment) -> Prompt:
        """The paper's repair prompt with the pages that were loaded."""
        chosen = [note.text for note in notes_at(moment.reflections, moment.step)]
        numbers = [int(number) for number in re.findall(r"\d+", chosen[-1] if chosen else "")]
        loaded = [entry for i, entry in enumerate(_archive(moment.recalled), 1) if i in numbers]
        positives = [entry for entry in loaded if entry.polarity is Polarity.POSITIVE]
        negatives = [entry for entry in loaded if entry.polarity is Polarity.NEGATIVE]
        return super().ask(method, replace(moment, recalled=Recalled(positives, negatives), reflections=()))


def _archive(recalled: Recalled) -> list[Repair]:
    return [*recalled.positives, *recalled.negatives]


def _line(entry: Repair) -> str:
    ended = "a change that was confirmed" if entry.polarity is Polarity.POSITIVE else "a change that failed"
    return f"{entry.type.in_words}, {ended}: {entry.question}"


METHOD = Method(
    "memgpt",
    "MemGPT: of up to 12 changes that a search brings up, the model chooses up to 3 to load before each repair.",
    notes=1,
    recall=RecallPolicy(positives=9, negatives=3, type_filter=TypeFilter.NONE),
    writes=frozenset({Polarity.POSITIVE, Polarity.NEGATIVE}),
    behaviour=MemGPT(),
)
