"""The page as one file: data in compressed chunks, each unpacked when it is first shown."""

import base64
import zlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, replace
from html import escape
from pathlib import Path
from typing import Any, BinaryIO

from merit import __version__
from merit.errors import MeritError
from merit.files import atomic_write
from merit.prompts import BIRD, SPIDER, templates_hash
from merit.prompts.template import LIVE, names, read
from merit.report.names import as_reviewed, method_order
from merit.report.page.follow import FollowedRun
from merit.report.page.pack import pack, page_id, run_record, stream_key, stream_text
from merit.report.page.shell import shell
from merit.report.report import Report
from merit.runs import Identity, RunView
from merit.runs.text import to_json
from merit.types import FailureType

FORMAT = 1
_LEVEL = 6
_BLOCK = 3 << 16  # a multiple of 3, so that blocks of base64 can be put side by side


def write_page(
    report: Report, runs: Sequence[RunView], path: Path, answers: Mapping[str, Any] | None = None
) -> list[str]:
    """Write the page of a report and its runs; the same input gives the same bytes.

    `answers`: reference answers for wrong attempts; the top of the page then says that it holds some.
    Returns a sentence for each run that is left out because its recalls contradict its records.
    """
    named: dict[str, RunView] = {}
    for view in sorted(runs, key=page_order):
        named[page_id(view.manifest, named)] = view
    before, after = shell(title_of(view.identity for view in runs), live=False, references=answers is not None)
    with atomic_write(path, way_out="make room there, or choose another --out") as file:
        file.write(before.encode())
        left_out = _write_data(file, report, named)
        if answers is not None:
            _write_chunk(file, "references", [to_json(answers)])
        file.write(after.encode())
    return left_out


def _write_data(file: BinaryIO, report: Report, named: Mapping[str, RunView]) -> list[str]:
    streams = {stream_key(view.identity): view.questions for view in named.values()}
    for key, questions in streams.items():
        _write_chunk(file, f"stream/{key}", [stream_text(questions)])
    index, records, left_out = {}, [], []
    for identity, view in named.items():
        try:
            packed = pack(view)
        except MeritError as error:
            left_out.append(f"{view.path}: not in the page: {error}")
            continue
        _write_chunk(file, f"run/{identity}", run_text(packed.turns))
        index[identity] = packed.index
        records.append(run_record(view.manifest, view.path, identity, len(view.questions)))
    _write_chunk(file, "index", [to_json(index)])
    _write_chunk(file, "overview", [to_json(overview(replace(report, refused=(*report.refused, *left_out)), records))])
    return left_out


def overview(report: Report, runs: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """What the page shows first, and what prompts are made of."""
    return {
        "format": FORMAT,
        "merit": __version__,
        "tables": [asdict(table) for table in report.tables],
        "figures": [asdict(figure) for figure in report.figures],
        "notes": [*report.refused, *report.notes],
        "runs": list(runs),
        "types": list(FailureType),
        "evidence": {family.name: family.evidence for family in (SPIDER, BIRD)},
        "templates": {name: read(name) for name in (*names(), *names(LIVE))},
        "templates_sha256": templates_hash(),
    }


def run_text(turns: Sequence[str]) -> Iterator[str]:
    """A run's chunk, piece by piece."""
    yield '{"turns":['
    for number, turn in enumerate(turns):
        yield f",{turn}" if number else turn
    yield "]}"


def title_of(identities: Iterable[Identity]) -> str:
    """The page's title: which benchmarks, which models."""
    runs = list(identities)
    datasets = dict.fromkeys(f"{run.dataset.title} {run.dataset.split}" for run in runs)
    models = dict.fromkeys(run.model.name for run in runs)
    return " · ".join(["merit", *([", ".join(datasets), ", ".join(models)] if runs else [])])


def page_order(run: RunView | FollowedRun) -> tuple[str, tuple[int, str], int, str]:
    """The sort key of a run in a page: dataset, method and seed."""
    identity = run.manifest.identity
    return (
        identity.dataset.title,
        method_order(as_reviewed(identity.method, identity.review)),
        identity.seed,
        str(run.path),
    )


def _write_chunk(file: BinaryIO, name: str, pieces: Iterable[str]) -> None:
    """Compress and write as it comes; base64 has no character that could end the element."""
    file.write(f'<script type="application/octet-stream" data-chunk="{escape(name)}">'.encode())
    packer = zlib.compressobj(_LEVEL, zlib.DEFLATED, 31)  # 31: a gzip stream, whose header has no time
    rest = b""
    for piece in pieces:
        rest += packer.compress(piece.encode("utf-8", "replace"))  # a folder's name need not be UTF-8
        whole = len(rest) - len(rest) % _BLOCK
        file.write(base64.b64encode(rest[:whole]))
        rest = rest[whole:]
    file.write(base64.b64encode(rest + packer.flush()))
    file.write(b"</script>\n")
