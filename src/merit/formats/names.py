"""Names of files and queries, made of questions: plain letters and digits, each name once."""

import re
from collections.abc import Iterable, Iterator

_LONGEST = 60  # characters, as WrenAI has it


def unique_names(questions: Iterable[str], between: str) -> Iterator[str]:
    """A name for each question, with a character between words; no name can lead to another folder."""
    used: set[str] = set()
    counts: dict[str, int] = {}
    for question in questions:
        words = re.sub("[^a-z0-9]+", between, question.lower()).strip(between)[:_LONGEST].rstrip(between)
        base = words or "query"
        name = base
        while name in used:
            counts[base] = counts.get(base, 1) + 1
            name = f"{base}{between}{counts[base]}"
        used.add(name)
        yield name
