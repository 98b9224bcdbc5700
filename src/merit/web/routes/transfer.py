"""Pairs of other tools: imported into the memory, and exported from it."""

import io
import re
import tempfile
import zipfile
from dataclasses import replace
from pathlib import Path as FilePath
from typing import Annotated, Any, Literal

from fastapi import Query, Request
from fastapi.concurrency import run_in_threadpool
from fastapi.responses import Response

from merit.errors import InputError
from merit.formats import FORMATS, read_pairs
from merit.live import export_pairs
from merit.types import Grade
from merit.web.authentication import Curating, Reader, Served
from merit.web.replies import JsonRouter, RefusedRequest
from merit.web.site import Site, agent_of

router = JsonRouter(prefix="/api", tags=["memory"])
Format = Literal["csv", "jsonl", "vanna", "wren", "cortex", "dbt"]
_NAME = re.compile(r"[^A-Za-z0-9._-]+")


@router.post("/memory/import", openapi_extra={"requestBody": {"content": {"application/octet-stream": {}}}})
async def import_file(
    request: Request,
    site: Served,
    who: Curating,
    format: Annotated[Format | Literal[""], Query(description="Recognised where it is empty.")] = "",  # noqa: A002
    grade: Literal["executed", "confirmed"] = "executed",
    dry_run: bool = False,
    name: Annotated[str, Query(max_length=200, description="The file's name.")] = "upload",
) -> dict[str, Any]:
    """Execute the pairs of a file (the body) and remember those that run; `confirmed` is your own word."""
    data = await request.body()
    if not data:
        raise RefusedRequest(400, "the body is empty; send the file as it is")
    return await run_in_threadpool(_import, site, who.author, data, format, grade, dry_run, name)


def _import(site: Site, author: str, data: bytes, kind: str, grade: str, dry_run: bool, name: str) -> dict[str, Any]:
    plain = _NAME.sub("-", name).lstrip(".-")[-100:] or "upload"
    with tempfile.TemporaryDirectory(prefix="merit-") as folder:
        path = FilePath(folder) / plain
        path.write_bytes(data)
        try:
            found, pairs = read_pairs(path, kind)
        except InputError as error:
            raise InputError(str(error).replace(f"{folder}/", "")) from None
    if grade == Grade.CONFIRMED:  # the importer's word, whoever the file says it is from
        pairs = replace(pairs, pairs=tuple(replace(pair, author="") for pair in pairs.pairs))
    imported = agent_of(site).import_pairs(pairs, grade=Grade(grade), author=author, source=plain, keep=not dry_run)
    record = imported.record()
    left_out = [{**item, "where": item["where"].replace(f"{folder}/", "")} for item in record["left_out"]]
    return {"format": found, "grade": grade, "dry_run": dry_run, **record, "left_out": left_out}


@router.get("/memory/export", response_class=Response)
def export(site: Served, who: Reader, format: Annotated[Format, Query()] = "csv") -> Response:  # noqa: A002
    """What later questions may be shown, as pairs for another tool; a zip archive where that is a folder."""
    parts = agent_of(site).parts
    exported = export_pairs(parts.memory.listed(), parts.schema.db_id, viewer=parts.viewer(who.author))
    texts = FORMATS[format].write(exported.pairs)
    if not FORMATS[format].folder:
        content, ending = texts[""].encode("utf-8", "replace"), {"csv": "csv", "jsonl": "jsonl"}.get(format, "json")
        ending = "yaml" if format == "cortex" else ending
        kind = "text/csv; charset=utf-8" if format == "csv" else "application/octet-stream"
    else:
        content, ending, kind = _zipped(texts), "zip", "application/zip"
    headers = {"Content-Disposition": f'attachment; filename="merit-{format}.{ending}"'}
    return Response(content, media_type=kind, headers=headers)


def _zipped(texts: Any) -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        for path, text in texts.items():
            archive.writestr(path, text.encode("utf-8", "replace"))
    return out.getvalue()
