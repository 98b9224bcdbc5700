"""dbt's analyses: compiled in `manifest.json`, or as .sql files with their descriptions in YAML beside them.

An analysis's description is the question. A saved query has no SQL in the manifest: it names metrics and dimensions.
https://docs.getdbt.com/reference/artifacts/manifest-json
https://docs.getdbt.com/reference/analysis-properties
"""

from collections.abc import Iterator, Sequence

from merit.errors import InputError
from merit.formats.names import unique_names
from merit.formats.pair import Document, FoundPairs, Pair, SkippedPair, found, pair_of
from merit.formats.yaml_items import MOST_EVENTS, items_in
from merit.reading import parse_json, shown
from merit.yaml import parse_yaml, yaml_text

FOLDER = "analyses"
_NO_SQL = "a saved query, which has no SQL in the manifest; `dbt sl query --saved-query {} --compile` prints it"
_TEMPLATE = "a template that was not compiled; run `dbt compile`, and import target/manifest.json"
_JINJA = ("{{", "{%", "{#")
_RAW, _END = "{% raw %}", "{% endraw %}"
_WORD, _SPELLED_WORD = "endraw", "{% endraw %}{{ 'endraw' }}{% raw %}"


def read_dbt_analyses(documents: Sequence[Document]) -> FoundPairs:
    """The analyses of a manifest, or of a folder's files."""
    if len(documents) == 1 and documents[0].path.suffix == ".json":
        return found(_manifest_items(documents[0]))
    if not any(document.path.suffix in (".sql", ".yml", ".yaml") for document in documents):
        named = documents[0].path if len(documents) == 1 else FOLDER
        raise InputError(f"{named}: has no analysis; give a dbt project's folder, or its target/manifest.json")
    return found(_file_items(documents))


def _manifest_items(document: Document) -> Iterator[Pair | SkippedPair]:
    manifest = parse_json(document.text, document.path)
    nodes = manifest.get("nodes") if isinstance(manifest, dict) else None
    if not isinstance(nodes, dict):
        raise InputError(f"{document.path}: has no 'nodes'; give the manifest.json of a dbt project's target folder")
    for key, node in nodes.items():
        if not isinstance(node, dict):
            raise InputError(f"{document.path}: {shown(key)} should be an object with fields, not {shown(node)}")
        if node.get("resource_type") == "analysis":
            where = f"{document.path}, {key}"
            compiled = node.get("compiled_code") or node.get("compiled_sql")  # before dbt 1.3
            yield _analysis(node.get("description"), compiled or node.get("raw_code") or node.get("raw_sql"), where)
    saved = manifest.get("saved_queries")
    for key, query in (saved if isinstance(saved, dict) else {}).items():
        name = query.get("name") if isinstance(query, dict) else None
        yield SkippedPair(f"{document.path}, {key}", _NO_SQL.format(name or "NAME"))


def _file_items(documents: Sequence[Document]) -> Iterator[Pair | SkippedPair]:
    described: dict[str, object] = {}
    for document in documents:
        if document.path.suffix in (".yml", ".yaml"):
            properties = parse_yaml(document.text, document.path, most_events=MOST_EVENTS)
            for where, item in items_in(properties, FOLDER, document) if isinstance(properties, dict) else ():
                if not isinstance(name := item.get("name"), str):
                    raise InputError(f"{where}: has no name, which is that of its .sql file")
                described[name] = item.get("description")
    for document in documents:
        if document.path.suffix == ".sql":
            yield _analysis(described.get(document.path.stem), document.text, str(document.path))


def _analysis(description: object, sql: object, where: str) -> Pair | SkippedPair:
    if not isinstance(description, str) or not description.strip():
        return SkippedPair(where, "has no description, which would be its question")
    written = _unwrapped(sql.strip()) if isinstance(sql, str) else sql
    if isinstance(written, str) and written == str(sql).strip() and any(mark in written for mark in _JINJA):
        return SkippedPair(where, _TEMPLATE)
    return pair_of(_unwrapped(description.strip()), written, where)


def write_dbt_analyses(pairs: Sequence[Pair]) -> dict[str, str]:
    """A .sql file a pair, and one file with their descriptions."""
    names = list(unique_names((pair.question for pair in pairs), "_"))
    files = {f"{FOLDER}/{name}.sql": f"{_wrapped(pair.sql)}\n" for name, pair in zip(names, pairs, strict=True)}
    about = [{"name": name, "description": _wrapped(pair.question)} for name, pair in zip(names, pairs, strict=True)]
    return {**files, f"{FOLDER}/merit_analyses.yml": yaml_text({"version": 2, FOLDER: about})}


def _wrapped(text: str) -> str:
    """A text that dbt would take for a template, made one that gives the text."""
    if not any(mark in text for mark in _JINJA):
        return text
    return f"{_RAW}{text.replace(_WORD, _SPELLED_WORD)}{_END}"


def _unwrapped(text: str) -> str:
    """What a wrapped text stands for."""
    if not (text.startswith(_RAW) and text.endswith(_END)):
        return text
    return text[len(_RAW) : -len(_END)].replace(_SPELLED_WORD, _WORD)
