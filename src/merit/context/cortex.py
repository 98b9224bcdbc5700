"""Snowflake's semantic models and semantic views for Cortex Analyst, as YAML.

https://docs.snowflake.com/en/user-guide/views-semantic/semantic-view-yaml-spec
https://docs.snowflake.com/en/user-guide/snowflake-cortex/cortex-analyst/semantic-model-spec
"""

from pathlib import Path

from merit.context.context import Metric, MetricKind, NotedTable, Notes, Relationship
from merit.context.identifiers import plain_column
from merit.context.item import Item
from merit.context.text import EXPRESSION_CHARACTERS, NAME_CHARACTERS, RULE_CHARACTERS

_COLUMN_LISTS = ("dimensions", "time_dimensions", "facts", "measures")  # measures: facts in older files


def read_cortex(document: Item, path: Path) -> Notes:
    """What a semantic model says; verified queries and sample values are not read."""
    notes = Notes(path.name)
    columns: dict[str, dict[str, str]] = {}  # by logical table and logical column: the column it is
    for table in document.items("tables"):
        name = table.name("name")
        base = table.item("base_table")
        parts = [base.raw("database"), base.raw("schema"), base.name("table") if base.has("table") else name]
        noted = NotedTable(tuple(filter(None, parts)), table.meaning())
        notes.tables[name] = noted
        columns[name] = _read_columns(table, name, noted, notes)
        _read_calculations(table, name, notes)
    _read_calculations(document, "", notes)
    for relationship in document.items("relationships"):
        left, right = relationship.name("left_table"), relationship.name("right_table")
        pairs = [
            (pair.name("left_column"), pair.name("right_column")) for pair in relationship.items("relationship_columns")
        ]
        notes.relationships.append(
            Relationship(
                left,
                tuple(columns.get(left, {}).get(ours, ours) for ours, _ in pairs),
                right,
                tuple(columns.get(right, {}).get(theirs, theirs) for _, theirs in pairs),
            )
        )
    modules = document.item("module_custom_instructions")
    notes.rules += [
        document.line("custom_instructions", RULE_CHARACTERS),
        modules.line("sql_generation", RULE_CHARACTERS),
    ]
    return notes


def _read_columns(table: Item, name: str, noted: NotedTable, notes: Notes) -> dict[str, str]:
    """Note the columns of a logical table; which of its names are which columns of the database."""
    physical: dict[str, str] = {}
    for kind in _COLUMN_LISTS:
        for column in table.items(kind):
            logical = column.name("name")
            expression = column.raw("expr") or logical
            if actual := plain_column(expression):
                physical[logical] = actual
                renamed = [logical.replace("_", " ")] if logical.casefold() != actual.casefold() else []
                noted.columns.setdefault(actual, column.meaning(*renamed))
            else:
                notes.metrics.append(_calculation(column, name, MetricKind.COLUMN))
    return physical


def _read_calculations(item: Item, table: str, notes: Notes) -> None:
    for kind in (MetricKind.METRIC, MetricKind.FILTER):
        notes.metrics += [_calculation(metric, table, kind) for metric in item.items(f"{kind}s")]


def _calculation(item: Item, table: str, kind: MetricKind) -> Metric:
    item.name("name")
    return Metric(
        item.line("name", NAME_CHARACTERS), item.line("expr", EXPRESSION_CHARACTERS), table, kind, item.meaning()
    )
