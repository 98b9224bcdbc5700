"""How fast a recall is, from a thousand entries to a million, beside three rivals in the same run.

    python bench/recall.py [--sizes 1000 10000 100000 1000000] [--json]

naive    everything recomputed from the entries' texts, in plain Python, at each recall
rebuild  rank-bm25 and FAISS IndexFlatIP, built anew for the selected pool at each recall (texts already tokenised)
floor    one plain matrix-vector product over the selected pools' vectors: no exact recall can be faster

Entries are made up (seeded): 200 databases, two polarities, failure types as unevenly spread as in the paper, 384
dimensions. The policy is full MERIT. Each size runs in a process of its own; times are medians. Needs merit-sql[bench].
"""

import argparse
import hashlib
import json
import math
import random
import re
import statistics
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import faiss
import numpy as np
import numpy.typing as npt
from rank_bm25 import BM25Okapi

from merit.memory import Cue, Entry, Grade, Memory, Provenance, RecallPolicy
from merit.memory.lexical import tokenise
from merit.memory.segment import Segment
from merit.types import EncoderIdentity, FailureSubtype, FailureType, Polarity, Status

DIMENSION = 384
TYPES = [FailureType.RESULT_MISMATCH] * 70 + [FailureType.SCHEMA_LINKING] * 22 + [FailureType.SYNTAX] * 8
RNG = random.Random(11)
WORDS = [
    f"{a}{b}"
    for a in ("co", "mar", "sin", "tra", "lo", "pe", "ri")
    for b in ("ner", "ket", "ger", "vel", "cal", "ton", "do")
]
WORDS += [f"{word}{i}" for word in WORDS for i in range(40)]


class SeededEncoder:
    """Unit vectors drawn from each text's hash: the cost of a model left out, everything else as usual."""

    identity = EncoderIdentity("seeded", "1", DIMENSION)

    def encode(self, texts: Sequence[str]) -> npt.NDArray[np.float32]:
        """A vector for each text."""
        rows = np.empty((len(texts), DIMENSION), np.float32)
        for i, text in enumerate(texts):
            seed = int.from_bytes(hashlib.sha256(text.encode()).digest()[:8], "little")
            rows[i] = np.random.default_rng(seed).standard_normal(DIMENSION, np.float32)
        unit: npt.NDArray[np.float32] = rows / np.linalg.norm(rows, axis=1, keepdims=True)
        return unit


def words(count: int) -> str:
    """Some words, the common ones more often."""
    return " ".join(WORDS[min(int(RNG.paretovariate(0.6)) - 1, len(WORDS) - 1)] for _ in range(count))


def sql(database: int) -> str:
    """A query over some of a database's tables, in one of several shapes."""
    table, column, other = (f"d{database}_{kind}{RNG.randrange(12)}" for kind in ("table", "column", "column"))
    parts = [f"SELECT {RNG.choice([column, 'count(*)', f'max({column})', f'{column}, {other}'])} FROM {table}"]
    parts += [f"JOIN d{database}_table{i} ON {other} = {column}" for i in range(RNG.randrange(3))]
    if RNG.random() < 0.7:
        parts.append(f"WHERE {other} {RNG.choice('<>=')} '{words(1)}'")
    if RNG.random() < 0.3:
        parts.append(f"AND {column} IN (SELECT {column} FROM {table} WHERE {other} > {RNG.randrange(99)})")
    if RNG.random() < 0.4:
        parts.append(f"GROUP BY {column}")
    if RNG.random() < 0.4:
        parts.append(f"ORDER BY {column} DESC LIMIT {RNG.randrange(1, 9)}")
    return " ".join(parts)


def make_entries(count: int) -> Iterator[Entry]:
    """Entries as a long stream would leave them."""
    for number in range(count):
        database = RNG.randrange(200)
        positive = RNG.random() < 0.6
        yield Entry(
            id="",
            polarity=Polarity.POSITIVE if positive else Polarity.NEGATIVE,
            question=words(12),
            schema=f"Database: d{database}",
            before=sql(database),
            status=Status.DENOTATION_MISMATCH,
            db_error=None,
            type=RNG.choice(TYPES),
            subtype=FailureSubtype.UNKNOWN,
            after=sql(database),
            outcome=Status.CORRECT if positive else Status.DENOTATION_MISMATCH,
            outcome_error=None,
            grade=Grade.CONFIRMED,
            provenance=Provenance("bench", number, f"d{database}", number, 1, f"bench:{number}"),
        )


def make_cue() -> Cue:
    """A later question's failure."""
    database = RNG.randrange(200)
    attempt = sql(database)
    context = f"attempted_sql={attempt}; status=DENOTATION_MISMATCH; db_error=(none)"
    return Cue(words(12), "now", f"d{database}", 10**9, 1, attempt, context, FailureType.RESULT_MISMATCH)


def median_ms(work: Callable[[], object], repeat: int) -> float:
    """The median time of `repeat` runs, in milliseconds."""
    times = []
    for _ in range(repeat):
        started = time.perf_counter()
        work()
        times.append(1000.0 * (time.perf_counter() - started))
    return statistics.median(times)


def recall(memory: Memory, cue: Cue, policy: RecallPolicy) -> None:
    """A recall that was not asked for before."""
    memory._recalled.clear()
    memory.recall(cue, policy)


def pools(memory: Memory, cue: Cue) -> list[Segment]:
    """The segments that full MERIT recalls from: the cue's type in both polarities."""
    return [segment for segment in memory._index.segments.values() if segment.type is cue.type]


def naive(
    texts: list[list[str]], vectors: list[npt.NDArray[np.float32]], cue: Cue, query: npt.NDArray[np.float32]
) -> None:
    """Everything from the texts, as a straightforward implementation does at every step."""
    for documents, matrix in zip(texts, vectors, strict=True):
        split = [re.findall(r"[a-z0-9_]+", text.lower()) for text in documents]
        frequency = Counter(word for document in split for word in set(document))
        mean = sum(map(len, split)) / len(split)
        asked = tokenise(cue.text())
        idf = {w: math.log(1 + (len(split) - frequency[w] + 0.5) / (frequency[w] + 0.5)) for w in asked}
        lexical = []
        for document in split:
            times = Counter(document)
            norm = 1.5 * (0.25 + 0.75 * len(document) / mean)
            lexical.append(sum(idf[w] * times[w] * 2.5 / (times[w] + norm) for w in asked))
        dense = [float(row @ query) for row in matrix]
        best(dense, lexical)


def rebuild(
    tokens: list[list[list[str]]], vectors: list[npt.NDArray[np.float32]], cue: Cue, query: npt.NDArray[np.float32]
) -> None:
    """Well-known libraries, indexed anew for the pool."""
    for documents, matrix in zip(tokens, vectors, strict=True):
        lexical = BM25Okapi(documents).get_scores(tokenise(cue.text()))
        index = faiss.IndexFlatIP(DIMENSION)
        index.add(matrix)
        scores, order = index.search(query[None, :], min(len(matrix), 2048))
        best(scores[0].tolist(), lexical[order[0]].tolist())


def best(dense: list[float], lexical: list[float]) -> list[float]:
    """Min-max, weigh, sort."""
    scaled = [
        [(s - min(x)) / ((max(x) - min(x)) or 1.0) for s in x] if len(x) < 3000 else _scaled(x)
        for x in (dense, lexical)
    ]
    return sorted((0.75 * d + 0.25 * b for d, b in zip(*scaled, strict=True)), reverse=True)[:3]


def _scaled(scores: list[float]) -> list[float]:
    low, high = min(scores), max(scores)
    return [(score - low) / ((high - low) or 1.0) for score in scores]


def rss_mb() -> int:
    """Resident memory of this process."""
    status = Path("/proc/self/status").read_text()
    return next(int(line.split()[1]) // 1024 for line in status.splitlines() if line.startswith("VmRSS"))


def build(folder: Path, count: int) -> float:
    """Seconds to commit `count` entries and save the index."""
    started = time.perf_counter()
    with Memory(folder, SeededEncoder()) as memory:
        batch: list[Entry] = []
        for entry in make_entries(count):
            batch.append(entry)
            if len(batch) == 5000:
                memory.commit_all(batch)
                batch = []
        memory.commit_all(batch)
    return time.perf_counter() - started


def measure(folder: Path, count: int, rivals: bool) -> dict[str, Any]:
    """One size, in a process that has only opened the memory."""
    before = rss_mb()
    started = time.perf_counter()
    memory = Memory(folder, SeededEncoder())
    open_s = time.perf_counter() - started
    cues = [make_cue() for _ in range(9)]
    for cue in cues[:2]:
        memory.recall(cue, RecallPolicy())  # touch every page once
    at = iter(cues * 100)
    p50 = median_ms(lambda: recall(memory, next(at), RecallPolicy()), 21 if count < 10**6 else 7)
    opened_mb = rss_mb() - before
    cue = cues[0]
    query = SeededEncoder().encode([cue.text()])[0]
    segments = pools(memory, cue)
    vectors = [np.ascontiguousarray(s.vectors.matrix) for s in segments if s.vectors is not None]
    floor = median_ms(lambda: [matrix @ query for matrix in vectors], 21 if count < 10**6 else 7)
    parts = {
        "lexical_ms": median_ms(lambda: recall(memory, cue, RecallPolicy(dense=False)), 7),
        "dense_ms": median_ms(lambda: recall(memory, cue, RecallPolicy(lexical=False)), 7),
    }
    row: dict[str, Any] = {
        "n": count,
        "pool": sum(map(len, vectors)),
        "p50_ms": round(p50, 3),
        "floor_ms": round(floor, 3),
    }
    row["floor_ratio"] = round(p50 / floor, 2)
    row.update({name: round(value, 3) for name, value in parts.items()})
    row["naive_ratio"] = row["rebuild_ratio"] = None
    if rivals:
        texts = [[memory._store.read(s.polarity, offset).lexical_text() for offset in s.offsets] for s in segments]
        repeat = 3 if count <= 10_000 else 1
        row["naive_ratio"] = round(median_ms(lambda: naive(texts, vectors, cue, query), repeat) / p50, 1)
        tokens = [[tokenise(text) for text in documents] for documents in texts]
        row["rebuild_ratio"] = round(median_ms(lambda: rebuild(tokens, vectors, cue, query), repeat) / p50, 1)
    row.update({"open_s": round(open_s, 3), "rss_mb": opened_mb})
    memory._saved = True  # measuring changed nothing
    memory.close()
    return row


def run_size(count: int, rivals: bool) -> dict[str, Any]:
    """Build and measure one size, each in a process of its own."""
    with tempfile.TemporaryDirectory() as folder:
        command = [sys.executable, __file__, "--folder", folder, "--one", str(count)]
        built = json.loads(subprocess.run([*command, "--build"], check=True, capture_output=True, text=True).stdout)
        extra = [] if rivals else ["--no-rivals"]
        row = subprocess.run([*command, *extra], check=True, capture_output=True, text=True).stdout
        return {**json.loads(row), "build_s": round(built, 1)}


def main() -> None:
    """Parse, measure, print."""
    parser = argparse.ArgumentParser(description=str(__doc__), formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sizes", type=int, nargs="+", default=[1_000, 10_000, 100_000, 1_000_000])
    parser.add_argument("--no-rivals", action="store_true", help="leave out naive and rebuild")
    parser.add_argument("--json", action="store_true", help="print one JSON object last")
    parser.add_argument("--folder", type=Path, help=argparse.SUPPRESS)
    parser.add_argument("--one", type=int, help=argparse.SUPPRESS)
    parser.add_argument("--build", action="store_true", help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.one:
        work = (
            build(arguments.folder, arguments.one)
            if arguments.build
            else measure(arguments.folder, arguments.one, not arguments.no_rivals)
        )
        print(json.dumps(work))
        return
    rows = []
    print("      n     pool  recall ms  floor ms  ratio  lexical  dense  naive x  rebuild x  build s  open s  MB")
    for count in arguments.sizes:
        row = run_size(count, not arguments.no_rivals)
        rows.append(row)
        print(
            f"{row['n']:>7} {row['pool']:>8} {row['p50_ms']:>10.2f} {row['floor_ms']:>9.2f} {row['floor_ratio']:>6.2f} "
            f"{row['lexical_ms']:>8.2f} {row['dense_ms']:>6.2f} {row['naive_ratio'] or '-':>8} "
            f"{row['rebuild_ratio'] or '-':>10} "
            f"{row['build_s']:>8.1f} {row['open_s']:>7.2f} {row['rss_mb']:>5}",
            flush=True,
        )
    if arguments.json:
        print(json.dumps({"rows": rows}))


if __name__ == "__main__":
    main()
