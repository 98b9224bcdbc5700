"""Files as an enemy would make them: an honest one with one value exchanged, or some of its bytes."""

import hashlib
import json
import random
import struct
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from merit.errors import MeritError
from merit.runs import account, read_run
from merit.runs.manifest import run_id
from merit.runs.text import json_text


def _nested(depth: int, opening: str, closing: str) -> str:
    return opening * depth + "1" + closing * depth


# As JSON spells them, and as no honest file does.
VALUES = [
    *("null", "true", "false", "0", "-1", "7", "1.5", "-1.5", "1e308", "-1e308", "1e-320", "1000000000000000000"),
    *("9223372036854775807", "-9223372036854775808", "9223372036854775808", "1" * 400, "1" * 5000),
    *("NaN", "Infinity", "-Infinity", "1e999"),
    *('""', '"x"', '"../../x"', '"/etc/passwd"', r'"\u0000\u001b[2J\n\r"', r'"\ud800"', '"' + "x" * 100_000 + '"'),
    *('"[bold]"', '"pos-0000000000000000"', '"SELECT 1"', '"merit:draws=1000000000"', '"precedent"', '"answer"'),
    *("[]", "{}", "[[]]", "[null]", "[0]", '["x"]', '{"x": 1}', '{"": null}', '{"x": 1, "x": 2}'),
    *(_nested(80, "[", "]"), _nested(80, '{"x":', "}"), _nested(5000, "[", "]"), "[" * 100_000),
    "[" + "0," * 10_000 + "0]",
]
_MARK = "exchanged by an enemy"


def places(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """Every place in a parsed JSON value."""
    yield path
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for name, item in items:
        yield from places(item, (*path, name))


def exchange(text: str, draw: random.Random) -> str:
    """A JSON text with one of its values, or one key, exchanged for something hostile."""
    value = [json.loads(text)]
    *path, last = draw.choice(list(places(value))[1:])
    inner: Any = value
    for name in path:
        inner = inner[name]
    action = draw.random()
    if isinstance(inner, dict) and action < 0.1:
        del inner[last]
    elif isinstance(inner, dict) and action < 0.15:
        inner["stranger"] = inner.pop(last)
    elif isinstance(inner, list) and path and action < 0.1:
        inner.append(inner[last])
    else:
        inner[last] = _MARK
    if not value:
        return ""
    return json.dumps(value[0], ensure_ascii=False, separators=(",", ":")).replace(
        json.dumps(_MARK), draw.choice(VALUES)
    )


def exchange_in(path: Path, draw: random.Random) -> None:
    """Exchange a value in a JSON file, or in one line of a file of JSON lines."""
    text = path.read_text()
    if path.suffix != ".jsonl":
        path.write_text(exchange(text, draw))
        return
    lines = text.splitlines()
    at = draw.randrange(len(lines))
    lines[at] = exchange(lines[at], draw)
    path.write_text("".join(f"{line}\n" for line in lines))


def flip_in(path: Path, draw: random.Random) -> None:
    """Exchange some bytes of a file, or cut it short."""
    data = bytearray(path.read_bytes())
    for _ in range(draw.choice([1, 1, 3, 30])):
        data[draw.randrange(len(data))] = draw.choice([0, 10, 34, 91, 123, 255, draw.randrange(256)])
    path.write_bytes(data[: draw.randrange(len(data))] if draw.random() < 0.2 else data)


def cover_up(run: Path) -> None:
    """Make a run's hashes, name and metrics follow from what was exchanged, as far as they still can."""
    try:
        manifest = json.loads((run / "manifest.json").read_text())
        before = manifest["run"]
        stream = (run / "stream.json").read_bytes()
        manifest["identity"]["stream_sha256"] = hashlib.sha256(stream).hexdigest()
        manifest["run"] = run_id(manifest["identity"])
        (run / "manifest.json").write_text(json_text(manifest))
        for path in run.rglob("*.jsonl"):
            path.write_text(path.read_text().replace(before, manifest["run"]))
        view = read_run(run)
        (run / "metrics.json").write_text(json_text(account(view.turns, view.method)))
    except (MeritError, ValueError, KeyError, TypeError, RecursionError, AttributeError):
        return  # then it is found out early


def put_super_journal(database: Path, victim: Path) -> None:
    """A hot journal beside a database of 4096-byte pages that makes SQLite delete another file."""
    magic, name = bytes.fromhex("d9d505f920a163d7"), str(victim).encode()
    head = magic + struct.pack(">5I", 0, 1, database.stat().st_size // 4096, 512, 4096)
    tail = struct.pack(">I", 0x40000000 // 4096 + 1) + name + struct.pack(">2I", len(name), sum(name)) + magic
    Path(f"{database}-journal").write_bytes(head.ljust(512, b"\0") + tail)
