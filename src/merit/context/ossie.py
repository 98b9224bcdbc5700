"""Semantic models of Apache Ossie, formerly Open Semantic Interchange (OSI), as YAML.

https://github.com/apache/ossie/blob/main/core-spec/spec.md
"""

from collections.abc import Iterable
from pathlib import Path

from merit.context.context import Meaning, Metric, MetricKind, NotedTable, Notes, Relationship
from merit.context.identifiers import plain_column, table_parts
from merit.context.item import Item
from merit.context.text import (
    DESCRIPTION_CHARACTERS,
    EXPRESSION_CHARACTERS,
    NAME_CHARACTERS,
    RULE_CHARACTERS,
    prompt_line,
    synonyms_of,
)

_SQL_DIALECTS = ("ANSI_SQL", "POSTGRESQL", "DUCKDB", "MYSQL", "SNOWFLAKE", "DATABRICKS", "BIGQUERY")  # the best first


def read_ossie(document: Item, path: Path) -> Notes:
    """What the models of a file say; examples and extensions of vendors are not read."""
    notes = Notes(path.name)
    # Files of version 0.1 and 0.2 have a list of models; later drafts have one model, at the top.
    for model in document.items("semantic_model") if document.has("semantic_model") else [document]:
        _read_model(model, notes)
    return notes


def _read_model(model: Item, notes: Notes) -> None:
    columns: dict[str, dict[str, str]] = {}
    for dataset in model.items("datasets"):
        name = dataset.name("name")
        noted = NotedTable(table_parts(dataset.raw("source")), _meaning(dataset))
        columns[name] = {}
        for field in dataset.items("fields"):
            logical, expression = field.name("name"), _expression(field)
            actual = plain_column(expression or logical)
            if actual and noted.name:
                renamed = [logical.replace("_", " ")] if logical.casefold() != actual.casefold() else []
                noted.columns.setdefault(actual, _meaning(field, renamed))
                columns[name][logical] = actual
            elif noted.name:
                notes.metrics.append(_metric(field, name, MetricKind.COLUMN))
        if noted.name:  # a dataset over a query is not a table
            notes.tables[name] = noted
    for relationship in model.items("relationships"):
        start, end = relationship.name("from"), relationship.name("to")
        notes.relationships.append(
            Relationship(
                start,
                _mapped(relationship.texts("from_columns"), columns.get(start, {})),
                end,
                _mapped(relationship.texts("to_columns"), columns.get(end, {})),
            )
        )
    notes.metrics += [_metric(metric, "", MetricKind.METRIC) for metric in model.items("metrics")]
    notes.rules.append(prompt_line(_instructions(model)[0], RULE_CHARACTERS))


def _mapped(names: Iterable[str], columns: dict[str, str]) -> tuple[str, ...]:
    return tuple(columns.get(name, name) for name in names)


def _expression(item: Item) -> str:
    """The expression in the most widely understood SQL that it is given in."""
    given = {choice.raw("dialect"): choice.raw("expression") for choice in item.item("expression").items("dialects")}
    return next((given[dialect] for dialect in _SQL_DIALECTS if dialect in given), "")


def _instructions(item: Item) -> tuple[str, list[str]]:
    """The field `ai_context`: a text, or an object with instructions and synonyms."""
    if not item.has("ai_context"):
        return "", []
    if item.is_text("ai_context"):
        return item.raw("ai_context"), []
    context = item.item("ai_context")
    return context.raw("instructions"), context.texts("synonyms")


def _meaning(item: Item, more_synonyms: Iterable[str] = ()) -> Meaning:
    instructions, synonyms = _instructions(item)
    description = f"{item.raw('description')} {instructions}"
    return Meaning(prompt_line(description, DESCRIPTION_CHARACTERS), synonyms_of([*synonyms, *more_synonyms]))


def _metric(item: Item, table: str, kind: MetricKind) -> Metric:
    item.name("name")
    expression = prompt_line(_expression(item), EXPRESSION_CHARACTERS)
    return Metric(item.line("name", NAME_CHARACTERS), expression, table, kind, _meaning(item))
