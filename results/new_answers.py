"""The answers of a file that were not sent yet.

    python results/new_answers.py FILE SENT OUT.jsonl.xz

FILE is merit's file of answers, which may be in use; SENT remembers what was written before, so that calling this now
and then brings every answer away once. `merit answers merge OUT.jsonl.xz` takes them over elsewhere.
"""

import sys
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

from merit.models import AnswerStore
from merit.models.answers import KEY_BYTES
from merit.models.exported import Answer, write_exported


def main() -> None:
    """Write what is new, and remember it."""
    file, sent, out = map(Path, sys.argv[1:])
    known = sent.read_bytes() if sent.exists() else b""
    before = {known[at : at + KEY_BYTES] for at in range(0, len(known), KEY_BYTES)}
    keys: list[bytes] = []

    def new(store: AnswerStore) -> Iterator[Answer]:
        for answer in store.items():
            if answer[0] not in before:
                keys.append(answer[0])
                yield answer

    with closing(AnswerStore(file)) as store:
        count = write_exported(out, new(store))
    with sent.open("ab") as remembered:
        remembered.write(b"".join(keys))
    print(f"{count} new answers, {len(before) + count} in all")


if __name__ == "__main__":
    main()
