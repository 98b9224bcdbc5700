"""What a dbt project says about its tables: `manifest.json`, and `catalog.json` beside it.

https://docs.getdbt.com/reference/artifacts/manifest-json
https://docs.getdbt.com/reference/artifacts/catalog-json
"""

import re
from collections.abc import Iterator
from pathlib import Path

from merit.context.context import Meaning, Metric, MetricKind, NotedTable, Notes, Relationship
from merit.context.identifiers import table_parts, unquoted
from merit.context.item import Item
from merit.context.text import EXPRESSION_CHARACTERS, NAME_CHARACTERS, prompt_line
from merit.errors import InputError
from merit.reading import parse_json, read_text

_TABLES = ("model", "seed", "snapshot", "source")
_REFERENCE = re.compile(r"\b(ref|source)\(([^()]{0,500})\)")
_QUOTED = re.compile(r"'([^']*)'|\"([^\"]*)\"")


def read_dbt(place: Path) -> list[Notes]:
    """What `manifest.json` and, where it is there, `catalog.json` say; `place` is their folder or the manifest."""
    try:
        manifest = place / "manifest.json" if place.is_dir() else place
    except OSError:  # a name that is too long, or a folder that cannot be entered: reading it says so
        manifest = place
    catalog = manifest.with_name("catalog.json")
    found = [read_manifest(manifest)]
    return [*found, read_catalog(catalog)] if catalog.exists() else found


def read_manifest(path: Path) -> Notes:
    """Descriptions, relationships (tests and constraints) and metrics of a project."""
    document = _document(path)
    notes = Notes(path.name)
    resources = [*document.named_items("nodes"), *document.named_items("sources")]
    aliases: dict[tuple[str, ...], str] = {}  # what ref() and source() call a resource: its id
    for key, node in resources:
        kind = node.raw("resource_type")
        if kind not in _TABLES or node.item("config").raw("materialized") == "ephemeral":
            continue
        name = node.name("name")
        aliases[(node.raw("source_name"), name) if kind == "source" else (name,)] = key
        physical = node.raw("identifier" if kind == "source" else "alias") or name
        parts = filter(None, (node.raw("database"), node.raw("schema"), physical))
        columns = {(item.raw("name") or column): item.meaning() for column, item in node.named_items("columns")}
        notes.tables[key] = NotedTable(tuple(parts), node.meaning(), columns)
    for key, node in resources:
        notes.relationships += _constraints(key, node, notes, aliases)
        notes.relationships += _tests(node, aliases)
    models = [model for _, model in document.named_items("semantic_models")]
    notes.relationships += _entities(models)
    notes.metrics += _metrics(document, models)
    return notes


def read_catalog(path: Path) -> Notes:
    """The comments that the database had when the project's documentation was made."""
    document = _document(path)
    notes = Notes(path.name)
    for key, node in [*document.named_items("nodes"), *document.named_items("sources")]:
        about = node.item("metadata")
        parts = filter(None, (about.raw("database"), about.raw("schema"), about.name("name")))
        columns = {
            (item.raw("name") or column): Meaning(item.line("comment")) for column, item in node.named_items("columns")
        }
        notes.tables[key] = NotedTable(tuple(parts), Meaning(about.line("comment")), columns)
    return notes


def _document(path: Path) -> Item:
    value = parse_json(read_text(path), path)
    document = Item(value, path)
    if not {"metadata", "nodes", "sources"} <= set(value):
        raise InputError(f"{path}: lacks 'metadata', 'nodes' or 'sources'; give the target folder of a dbt project")
    return document


def _referred(text: str, aliases: dict[tuple[str, ...], str]) -> str:
    """The id of what `ref('orders')`, `ref('package', 'orders')` or `source('raw', 'orders')` means, if it is there."""
    match = _REFERENCE.search(text[:2000])
    if match is None:
        return ""
    names = tuple(single or double for single, double in _QUOTED.findall(match[2]))
    return aliases.get(names[:2] if match[1] == "source" else names[-1:], "")


def _tests(node: Item, aliases: dict[tuple[str, ...], str]) -> Iterator[Relationship]:
    """A test `relationships` says that every value of a column is one of another table's column."""
    test = node.item("test_metadata")
    if node.raw("resource_type") != "test" or test.raw("name") != "relationships":
        return
    arguments = test.item("kwargs")
    start = node.raw("attached_node") or _referred(arguments.raw("model"), aliases)
    column, field = arguments.raw("column_name") or node.raw("column_name"), arguments.raw("field")
    end = _referred(arguments.raw("to"), aliases)
    if start and end and unquoted(column) and unquoted(field):
        yield Relationship(start, (unquoted(column),), end, (unquoted(field),))


def _constraints(key: str, node: Item, notes: Notes, aliases: dict[tuple[str, ...], str]) -> Iterator[Relationship]:
    """Foreign keys that a model's contract declares, on columns or on the model."""
    if key not in notes.tables:
        return
    by_name = {table.name: other for other, table in notes.tables.items()}
    given = [(item, item.texts("columns")) for item in node.items("constraints")]
    for column, about in node.named_items("columns"):
        given += [(item, [column]) for item in about.items("constraints")]
    for constraint, columns in given:
        if constraint.raw("type") != "foreign_key" or not constraint.has("to"):
            continue
        end = _referred(constraint.raw("to"), aliases)
        if not end:  # dbt puts the table's full name there once it is compiled
            parts = table_parts(constraint.raw("to"))
            end = by_name.get(parts, "")
        if end:
            yield Relationship(key, tuple(columns), end, tuple(constraint.texts("to_columns")))


def _entities(models: list[Item]) -> Iterator[Relationship]:
    """A foreign entity of one semantic model leads to the primary entity of the same name in another."""
    primary: dict[str, tuple[str, str]] = {}
    foreign: list[tuple[str, str, str]] = []
    for model in models:
        for entity in model.items("entities"):
            name, table = entity.name("name"), _node_of(model)
            column = unquoted(entity.raw("expr") or name)
            if entity.raw("type") == "primary":
                primary.setdefault(name, (table, column))
            elif entity.raw("type") == "foreign":
                foreign.append((name, table, column))
    for name, table, column in foreign:
        if name in primary and primary[name][0] != table:
            yield Relationship(table, (column,), primary[name][0], (primary[name][1],))


def _node_of(model: Item) -> str:
    nodes = model.item("depends_on").texts("nodes")
    return nodes[0] if nodes else ""


def _metrics(document: Item, models: list[Item]) -> Iterator[Metric]:
    measures = {
        measure.name("name"): (measure, _node_of(model)) for model in models for measure in model.items("measures")
    }
    for _, metric in document.named_items("metrics"):
        metric.name("name")
        expression, table = _calculated(metric, measures)
        label = metric.raw("label")
        synonyms = (prompt_line(label, NAME_CHARACTERS),) if label and label != metric.raw("name") else ()
        meaning = Meaning(metric.line("description"), synonyms)
        shown = prompt_line(expression, EXPRESSION_CHARACTERS)
        yield Metric(metric.line("name", NAME_CHARACTERS), shown, table, MetricKind.METRIC, meaning)


def _calculated(metric: Item, measures: dict[str, tuple[Item, str]]) -> tuple[str, str]:
    """How a metric is calculated, and over which table; empty where dbt's own words are more than an expression."""
    params = metric.item("type_params")
    match metric.raw("type"):
        case "simple" if (named := params.item("measure").raw("name")) in measures:
            measure, table = measures[named]
            return f"{measure.raw('agg')}({measure.raw('expr') or named})", table
        case "ratio":
            return f"{params.item('numerator').raw('name')} / {params.item('denominator').raw('name')}", ""
        case "derived":
            return params.raw("expr"), ""
    return "", ""
