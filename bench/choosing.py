"""How often a selection holds everything that a question's reference uses, beside BM25 over names with whole tables.

    python bench/select.py --tables FILE --questions FILE --budget 3000 [--seeds 3] [--tokenizer FILE] [--json]

--tables     every table by `database#sep#table`, as BEAVER's dev_tables.json; all of them are one schema
--questions  objects with `question`, `sql`, `db_id` and `gold_tables`, as BEAVER's dev_dw.json
--tokenizer  a GGUF model or a tokenizer.json whose tokens are counted; without it, a GGUF file in the folder `models`
             of merit's cache, and without that merit's own estimate, which is 0 to 18% too high

complete              every table, with every column that the reference uses, is in the text, types and keys included
complete_with_memory  the same where all questions before it, in a shuffled order, are confirmed; the mean over seeds
bm25, bm25_with_memory  tables whole, in BM25's order over words of names (rank-bm25); with memory, the tables of the
             three most similar earlier questions come first. `tables_*` count tables alone.
p50_ms       wall-clock of one selection with memory, once the schema is indexed (`cpu_p50_ms`: of this process alone)

References are read here to count, and go nowhere else.
"""

import argparse
import json
import random
import re
import statistics
import struct
import sys
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np

from merit.cache import cache_folder
from merit.models.encoders import WordLlamaEncoder
from merit.prompts.tables import create_tables
from merit.selection import CountTokens, SchemaIndex, Selector, estimated_tokens, names_used, open_index
from merit.types import Column, Schema, Table

_QWEN = (
    r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+"
)
_ATTRIBUTES = re.compile(
    r"\s+(COLLATE|CHARACTER|NOT|NULL|DEFAULT|AUTO_INCREMENT|COMMENT|ON|GENERATED)\b.*", re.I | re.S
)
_FORMATS = {0: "B", 1: "b", 2: "H", 3: "h", 4: "I", 5: "i", 6: "f", 7: "?", 10: "Q", 11: "q", 12: "d"}


@dataclass(frozen=True)
class Asked:
    """A question and what its reference uses, by numbers of the index."""

    question: str
    sql: str
    tables: frozenset[int]
    columns: frozenset[int]


def read_schema(path: Path) -> Schema:
    """All tables as one schema, named `database.table`."""
    tables = []
    for key, entry in json.loads(path.read_text()).items():
        keys: dict[str, list[str]] = {}
        for link in entry.get("foreign_key", []):
            target = f"{link['referenced_table_name'].replace('#sep#', '.')}.{link['referenced_column_name']}"
            keys.setdefault(link["column_name"], []).append(target)
        columns = tuple(
            Column(name, _ATTRIBUTES.sub("", kind), name in entry.get("primary_key", []), tuple(keys.get(name, ())))
            for name, kind in zip(entry["column_names_original"], entry["column_types"], strict=True)
        )
        tables.append(Table(key.replace("#sep#", "."), columns))
    return Schema(path.stem, tuple(tables))


def read_questions(path: Path, index: SchemaIndex) -> tuple[list[Asked], list[str]]:
    """The questions, and those whose reference could not be read, or does not use the tables that it should."""
    asked, odd = [], []
    for record in json.loads(path.read_text()):
        gold = [name.replace("#sep#", ".") for name in record.get("gold_tables", [])]
        prefer = {full.rpartition(".")[2]: full for full in gold}
        for full in index.number_of:
            space, _, own = full.rpartition(".")
            if space == str(record.get("db_id", "")).lower():
                prefer.setdefault(own, full)
        used = names_used(record["sql"], index, {name.lower(): full for name, full in prefer.items()})
        wanted = {index.number_of[full.lower()] for full in gold if full.lower() in index.number_of}
        if not used or wanted - set(used):
            odd.append(record["question"])
        tables = frozenset(used) | wanted
        columns = frozenset(column for columns in used.values() for column in columns)
        asked.append(Asked(record["question"], record["sql"], tables, columns))
    return asked, odd


def open_tokenizer(path: Path | None) -> tuple[CountTokens, str]:
    """A function that counts tokens, and what it is."""
    if path is None:
        path = next(iter(sorted((cache_folder() / "models").glob("*.gguf"))), None)
    if path is None:
        return estimated_tokens, "estimate"
    from tokenizers import Regex, Tokenizer, models, pre_tokenizers

    if path.suffix != ".gguf":
        tokenizer = Tokenizer.from_file(str(path))
    else:
        tokens, merges = _gguf_vocabulary(path)
        pairs = [(left, right) for left, _, right in (merge.partition(" ") for merge in merges)]
        tokenizer = Tokenizer(models.BPE(vocab={token: n for n, token in enumerate(tokens)}, merges=pairs))
        tokenizer.pre_tokenizer = pre_tokenizers.Sequence(
            [
                pre_tokenizers.Split(Regex(_QWEN), behavior="isolated"),
                pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False),
            ]
        )
    return lambda text: len(tokenizer.encode(text, add_special_tokens=False).ids), path.name


def _gguf_vocabulary(path: Path) -> tuple[list[str], list[str]]:
    """Tokens and merges in the head of a GGUF file."""
    with path.open("rb") as file:
        file.seek(8)
        _, count = struct.unpack("<QQ", file.read(16))
        head: dict[str, Any] = {}
        for _ in range(count):
            name = _gguf_value(file, 8)
            head[name] = _gguf_value(file, struct.unpack("<I", file.read(4))[0])
    return head["tokenizer.ggml.tokens"], head["tokenizer.ggml.merges"]


def _gguf_value(file: BinaryIO, kind: int) -> Any:
    if kind == 8:
        return file.read(struct.unpack("<Q", file.read(8))[0]).decode("utf-8", "replace")
    if kind == 9:
        inner, count = struct.unpack("<IQ", file.read(12))
        return [_gguf_value(file, inner) for _ in range(count)]
    form = "<" + _FORMATS[kind]
    return struct.unpack(form, file.read(struct.calcsize(form)))[0]


class Ours:
    """merit's selection."""

    def __init__(self, selector: Selector, index: SchemaIndex, tokens: CountTokens) -> None:
        self._selector, self._index, self._count = selector, index, tokens
        self.tokens: list[int] = []
        self.wall_ms: list[float] = []
        self.cpu_ms: list[float] = []

    def complete(self, order: Sequence[Asked], *, memory: bool) -> list[tuple[bool, bool]]:
        """Whether each question got all it needs, and all its tables."""
        earlier = self._selector.confirmed() if memory else None
        found = []
        for asked in order:
            wall, cpu = time.perf_counter(), time.process_time()
            selection = self._selector.select(asked.question, earlier=earlier)
            self.wall_ms.append((time.perf_counter() - wall) * 1000)
            self.cpu_ms.append((time.process_time() - cpu) * 1000)
            self.tokens.append(self._count(selection.text))
            shown = {self._index.number_of[table.name.lower()]: table for table in selection.schema.tables}
            columns = {
                self._index.column(number, column.name) for number, table in shown.items() for column in table.columns
            }
            found.append((asked.tables <= shown.keys() and asked.columns <= columns, asked.tables <= shown.keys()))
            if earlier is not None:
                earlier.add(asked.question, asked.sql)
        return found


class Rival:
    """BM25 over the words of names, tables whole."""

    def __init__(self, index: SchemaIndex, tokens: CountTokens, budget: int) -> None:
        texts = [f"{table.name} {' '.join(column.name for column in table.columns)}" for table in index.tables]
        self._make = import_module("rank_bm25").BM25Okapi
        self._bm25 = self._make([_split(text) for text in texts])
        whole = [create_tables(Schema("", (table,)), index.dialect) for table in index.tables]
        self._costs = [tokens(f"{text}\n\n") for text in whole]
        self._budget = budget

    def complete(self, order: Sequence[Asked], *, memory: bool) -> list[bool]:
        """Whether each question got all its tables, which come with all columns."""
        found: list[bool] = []
        for number, asked in enumerate(order):
            ranked = [int(table) for table in np.argsort(-self._bm25.get_scores(_split(asked.question)), kind="stable")]
            if memory and number:
                similar = self._make([_split(earlier.question) for earlier in order[:number]])
                best = np.argsort(-similar.get_scores(_split(asked.question)), kind="stable")[:3]
                ranked = list(dict.fromkeys([t for n in best for t in sorted(order[n].tables)] + ranked))
            left, shown = self._budget, set()
            for table in ranked:
                if self._costs[table] <= left:
                    left -= self._costs[table]
                    shown.add(table)
            found.append(asked.tables <= shown)
        return found


def _split(text: str) -> list[str]:
    return re.findall(r"[a-z0-9]+", text.lower())


def measure(arguments: argparse.Namespace) -> dict[str, Any]:
    """All numbers."""
    tokens, counted_by = open_tokenizer(arguments.tokenizer)
    schema, started = read_schema(arguments.tables), time.perf_counter()
    encoder = None if arguments.no_encoder else WordLlamaEncoder()
    index = open_index(schema, tokens, "mysql", encoder)
    index_s = time.perf_counter() - started
    questions, odd = read_questions(arguments.questions, index)
    selector = Selector(schema, budget=arguments.budget, tokens=tokens, dialect="mysql", encoder=encoder, index=index)
    ours, rival = Ours(selector, index, tokens), _rival(index, tokens, arguments.budget)
    ours.complete(questions[:5], memory=False)  # warms up
    ours = Ours(selector, index, tokens)
    plain = ours.complete(questions, memory=False)
    remembered: list[float] = []
    remembered_tables: list[float] = []
    rivals: list[float] = []
    for seed in range(arguments.seeds):
        order = random.Random(seed).sample(questions, len(questions))
        found = ours.complete(order, memory=True)
        remembered.append(_share(complete for complete, _ in found))
        remembered_tables.append(_share(tables for _, tables in found))
        rivals += [_share(rival.complete(order, memory=True))] if rival else []
    return {
        "questions": len(questions),
        "tables": len(schema.tables),
        "budget": arguments.budget,
        "tokenizer": counted_by,
        "complete": _share(complete for complete, _ in plain),
        "complete_with_memory": round(statistics.mean(remembered), 1),
        "complete_with_memory_by_seed": remembered,
        "tables_complete": _share(tables for _, tables in plain),
        "tables_complete_with_memory": round(statistics.mean(remembered_tables), 1),
        "bm25": _share(rival.complete(questions, memory=False)) if rival else None,
        "bm25_with_memory": round(statistics.mean(rivals), 1) if rivals else None,
        "bm25_with_memory_by_seed": rivals,
        "tokens_p95": int(np.percentile(ours.tokens, 95)),
        "tokens_max": max(ours.tokens),
        "p50_ms": round(statistics.median(ours.wall_ms), 1),
        "cpu_p50_ms": round(statistics.median(ours.cpu_ms), 1),
        "index_s": round(index_s, 2),
        "references_not_read": odd,
    }


def _rival(index: SchemaIndex, tokens: CountTokens, budget: int) -> Rival | None:
    """BM25, where it is installed."""
    try:
        return Rival(index, tokens, budget)
    except ModuleNotFoundError:
        print("rank-bm25 is not installed, so the rival is left out; pip install '.[bench]'", file=sys.stderr)
        return None


def _share(found: Iterable[bool]) -> float:
    values = list(found)
    return round(100 * sum(values) / max(1, len(values)), 1)


def main() -> None:
    """Read arguments, measure, print."""
    parser = argparse.ArgumentParser(description=str(__doc__).partition("\n")[0])
    parser.add_argument("--tables", type=Path, required=True)
    parser.add_argument("--questions", type=Path, required=True)
    parser.add_argument("--budget", type=int, default=3000)
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--tokenizer", type=Path)
    parser.add_argument("--no-encoder", action="store_true", help="names alone, without vectors of meaning")
    parser.add_argument("--json", action="store_true")
    arguments = parser.parse_args()
    found = measure(arguments)
    show: Callable[[dict[str, Any]], str] = json.dumps if arguments.json else _lines
    print(show(found))


def _lines(found: dict[str, Any]) -> str:
    return "\n".join(f"{name:32} {value}" for name, value in found.items())


if __name__ == "__main__":
    main()
