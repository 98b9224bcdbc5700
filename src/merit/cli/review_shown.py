"""What a simulated reviewer said of an answer, and which questions used what was learned from it."""

import json
from typing import Any

from merit.agent.rules import votes
from merit.cli.terminal import Console, inline, listed
from merit.cli.voted import votes_in_words
from merit.errors import counted
from merit.runs import RunView, Turn
from merit.runs.paths import RETRIEVALS
from merit.runs.reviews import review_line
from merit.runs.text import read_lines


def show_review(view: RunView, turn: Turn, console: Console) -> None:
    """What the simulated reviewer said of an answer, and what was learned from it."""
    ended = "right" if turn.final_correct else "wrong"
    if turn.review is None:
        console.print(f"\n[bold]{ended}[/], not reviewed, so nothing was learned")
    else:
        console.print(f"\n[bold]{ended}[/], and the simulated reviewer [bold]{turn.review.said}[/] it")
        if turn.review.sql is not None:
            console.block(turn.review.sql, 4)
    for polarity, entry in turn.review.learned.items() if turn.review else ():
        users = used_by(view, entry)
        used = f"recalled later by {counted(len(users), 'question')}: {listed(users)}" if users else "never recalled"
        console.print(f"  learned {polarity} {inline(entry)}, {inline(used)}")
    if votes(view.method, view.identity.regime):
        console.print(inline(votes_in_words(view, turn)))


def review_record_of(view: RunView, turn: Turn) -> dict[str, Any] | None:
    """What the simulated reviewer said, as reviews.jsonl has it; None where it did not see the answer."""
    if turn.review is None:
        return None
    record: dict[str, Any] = json.loads(review_line(turn.episode.task, turn.review, view.manifest.run))
    return record


def used_by(view: RunView, entry: str) -> list[str]:
    """The questions that recalled an entry, in their order."""
    quoted = json.dumps(entry)
    lines = (line for line in read_lines(view.path / RETRIEVALS) if quoted in line)
    return list(dict.fromkeys(str(json.loads(line)["question_id"]) for line in lines))
