"""Files and folders of other tools on disk: found, recognised by their content, read within limits, written whole."""

import os
import re
import shutil
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from merit.errors import InputError
from merit.files import atomic_write, unfinished_path
from merit.formats import cortex, dbt, table, vanna, wren
from merit.formats.pair import Document, FoundPairs, Pair
from merit.formats.records import columns_of
from merit.reading import DOCUMENT_BYTES, MIB, check_inside, read_bytes

_MOST_FILES = 50_000  # of a folder: a file a pair
_FILE_BYTES = 4 * MIB  # of each
_FOLDER_BYTES = 256 * MIB  # together
_YAML_LISTS = re.compile(r"^(verified_queries|pairs|analyses):", re.MULTILINE)
_ZIP = b"PK\x03\x04"  # begins .xlsx files, too
_WAYS_OUT = "say which it is with --format"


@dataclass(frozen=True, slots=True)
class PairFormat:
    """How pairs are read from texts and written to texts, by names of files; a lone file has an empty name."""

    read: Callable[[Sequence[Document]], FoundPairs]
    write: Callable[[Sequence[Pair]], Mapping[str, str]]
    folder: bool = False  # whether what it writes is a folder


FORMATS = {
    "csv": PairFormat(table.read_table, table.write_csv),
    "jsonl": PairFormat(table.read_table, table.write_lines),
    "vanna": PairFormat(vanna.read_vanna, vanna.write_vanna),
    "wren": PairFormat(wren.read_wren, wren.write_wren, folder=True),
    "cortex": PairFormat(cortex.read_cortex_queries, cortex.write_cortex_queries),
    "dbt": PairFormat(dbt.read_dbt_analyses, dbt.write_dbt_analyses, folder=True),
}


def read_pairs(path: Path, name: str = "") -> tuple[str, FoundPairs]:
    """The pairs of a file or folder, and the name of its format, which is recognised where none is given."""
    if path.is_dir():
        name = name or _folder_format(path)
        documents = list(_folder_documents(path, name))
    else:
        documents = [_document(path, DOCUMENT_BYTES)]
        name = name or _file_format(documents[0])
    return name, FORMATS[name].read(documents)


def _document(path: Path, most: int) -> Document:
    """A file's text with its own line ends: a statement may hold any."""
    data = read_bytes(path, most)
    if data.startswith(_ZIP):
        raise InputError(f"{path}: is a spreadsheet or an archive; save it as CSV, or unpack it")
    try:
        return Document(path, data.decode("utf-8-sig"))
    except UnicodeDecodeError as error:
        raise InputError(f"{path}: not UTF-8 text (byte {error.start}); unpack it, or save it as UTF-8") from None


def _file_format(document: Document) -> str:
    path, text = document.path, document.text.lstrip()
    if text[:1] in ("[", "{"):
        return _json_format(text, path)
    if text.startswith("---") and path.suffix == ".md":
        return "wren"
    columns = columns_of(document)
    if vanna.KIND in columns:
        return "vanna"
    if table.has_names(columns):
        return "csv"
    if (listed := _YAML_LISTS.search(text)) is not None:
        if listed[1] == "analyses":
            raise InputError(f"{path}: only describes analyses; give the folder, which has their .sql files too")
        return "cortex" if listed[1] == cortex.LIST else "wren"
    if path.suffix in (".yml", ".yaml", ".md", ".sql"):
        raise InputError(f"{path}: has no pairs of questions and SQL that merit knows; {_WAYS_OUT}")
    raise table.lacking(columns, document)


def _json_format(text: str, path: Path) -> str:
    first = text.partition("\n")[0]
    if re.match(r'\{"format":\s*[34],', first):
        raise InputError(f"{path}: is a memory's own export; `merit memory import FOLDER {path}` adds its entries")
    if f'"{vanna.KIND}"' in text or re.search(r'"type":\s*"df"', text[:200]):  # its web API's
        return "vanna"
    return "dbt" if '"dbt_schema_version"' in text and '"nodes"' in text else "jsonl"


def _folder_format(path: Path) -> str:
    """The format of a folder: what only one of the tools has in it."""
    wrens = ["knowledge", "wren_project.yml", "queries.yml", *(["sql"] if path.name == "knowledge" else [])]
    dbts = [dbt.FOLDER, "dbt_project.yml", "manifest.json", "target/manifest.json"]
    marks = {
        "wren": [path / name for name in wrens] + _matching(path, ".md"),
        "dbt": [path / name for name in dbts] + _matching(path, ".sql"),
    }
    names = [name for name, marked in marks.items() if any(mark.exists() for mark in marked)]
    if len(names) == 1:
        return names[0]
    what = "could be WrenAI's or dbt's" if names else "is neither WrenAI's (knowledge/sql/) nor dbt's (analyses/)"
    raise InputError(f"{path}: {what}; {_WAYS_OUT}" if names else f"{path}: {what}; give the file that has the pairs")


def _matching(folder: Path, ending: str) -> list[Path]:
    with os.scandir(folder) as entries:
        return [folder / entry.name for entry in entries if entry.name.endswith(ending)][:1]


def _folder_documents(path: Path, name: str) -> Iterator[Document]:
    """The files of a folder that a format reads; none is read through a link that leads out of it."""
    if name == "wren":
        bases = [path / "knowledge" / "sql", path / "sql", path]
        files = _files(next(base for base in bases if base.is_dir()), (".md",), deep=False)
        files += [path / "queries.yml"] if (path / "queries.yml").exists() else []
    elif name == "dbt":
        manifests = [file for file in (path / "manifest.json", path / "target" / "manifest.json") if file.exists()]
        base = path / dbt.FOLDER if (path / dbt.FOLDER).is_dir() else path
        files = manifests[:1] or _files(base, (".sql", ".yml", ".yaml"), deep=True)
    else:
        raise InputError(f"{path}: is a folder, and {name} is a file's format; give the file")
    size = 0
    for file in files:
        check_inside(file, path)
        document = _document(file, DOCUMENT_BYTES if file.suffix in (".json", ".yml", ".yaml") else _FILE_BYTES)
        size += len(document.text)
        if size > _FOLDER_BYTES:
            raise InputError(f"{path}: its files have more than {_FOLDER_BYTES // MIB} MiB; is it the right folder?")
        yield document


def _files(base: Path, endings: tuple[str, ...], *, deep: bool) -> list[Path]:
    files: list[Path] = []
    for folder, folders, names in os.walk(base):
        files += [Path(folder) / name for name in names if name.endswith(endings)]
        if len(files) > _MOST_FILES:
            raise InputError(f"{base}: more than {_MOST_FILES} files; is it the right folder?")
        if not deep:
            break
        folders.sort()
    return sorted(files)


def write_pairs(pairs: Sequence[Pair], out: Path, name: str) -> None:
    """Write pairs to a file, or to a new folder; what is there is whole or as it was."""
    chosen = FORMATS[name]
    texts = chosen.write(pairs)
    if not chosen.folder:
        if os.path.lexists(out) and not out.is_file():
            raise InputError(f"{out}: is not a regular file; name a file to write to")
        with atomic_write(out) as file:
            file.write(texts[""].encode())
        return
    if os.path.lexists(out):
        raise InputError(f"{out}: is there already; name a new folder, and copy from it what you need")
    unfinished = unfinished_path(out)
    try:
        unfinished.mkdir()
    except OSError as error:
        raise InputError(
            f"{unfinished}: cannot be made ({error.strerror}); remove it, or choose another place"
        ) from None
    try:
        for relative, text in texts.items():
            path = unfinished / relative
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(text.encode())
        unfinished.rename(out)
    except OSError as error:
        raise InputError(f"{out}: cannot be written ({error.strerror}); choose another place") from None
    finally:
        shutil.rmtree(unfinished, ignore_errors=True)
