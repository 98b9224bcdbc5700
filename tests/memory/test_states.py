"""What may be recalled is a fold over the log: whatever was committed, deleted and marked, in whatever order."""

import tempfile
from contextlib import closing
from pathlib import Path

from hypothesis import given, settings
from hypothesis import strategies as st

from making.fuzzing import tries
from making.memories import WordEncoder, make_cue, make_precedent
from merit.memory import Deletion, FileStore, Memory, RecallPolicy, Restoration, Staleness, entries_in, with_id

MOST = 8
POLICY = RecallPolicy(positives=0, negatives=0, precedents=MOST)
ENTRIES = [with_id(make_precedent(number, question=f"word{number}", position=number)) for number in range(MOST)]
NUMBERS = st.integers(0, MOST - 1)
STEPS = st.lists(
    st.tuples(st.sampled_from(["commit", "delete", "restore", "stale", "fresh", "open again", "recall"]), NUMBERS),
    max_size=30,
)


def fold(folder: Path, position: int) -> set[str]:
    """The naive restatement: the entries that are there, not deleted, not stale, and from an earlier position."""
    there: set[str] = set()
    deleted: set[str] = set()
    stale: set[str] = set()
    with closing(FileStore(folder, writable=False)) as store:
        changes = [change for _, change in store.since(0)]
    for change in changes:
        if isinstance(change, Deletion):
            deleted.add(change.id)
        elif isinstance(change, Restoration):
            deleted.discard(change.id)
            stale.discard(change.id)
        elif isinstance(change, Staleness):
            (stale.add if change.stale else stale.discard)(change.id)
        else:
            there.add(change.id)
    return {entry.id for entry in ENTRIES if entry.provenance.position < position} & there - deleted - stale


@settings(max_examples=tries(20))
@given(STEPS)
def test_the_present_state_is_a_fold_over_the_log(steps: list[tuple[str, int]]) -> None:
    with tempfile.TemporaryDirectory() as name:
        folder, encoder = Path(name), WordEncoder()
        memory = Memory(folder, encoder)
        known: set[str] = set()
        gone: set[str] = set()
        for step, number in [*steps, ("open again", 0), ("recall", MOST)]:
            entry = ENTRIES[number % MOST]
            match step:
                case "commit":
                    memory.commit(entry)
                    known.add(entry.id)
                case "delete" if entry.id in known - gone:
                    memory.delete(entry.id, "retracted")
                    gone.add(entry.id)
                case "restore":
                    memory.commit_all([], [], [Restoration(entry.id, "judged again")])
                    gone.discard(entry.id)
                case "stale" | "fresh" if entry.id in known:
                    memory.mark_stale({entry.id: "a column"}, stale=step == "stale")
                case "open again":
                    memory.close()
                    memory = Memory(folder, encoder)
                case "recall":
                    recalled = memory.recall(make_cue(position=number, question_id="another"), POLICY).precedents
                    assert {found.id for found in recalled} == fold(folder, number)
                case _:
                    pass
        memory.close()
        assert {item.entry.id for item in entries_in(folder) if item.recallable} == fold(folder, MOST)
