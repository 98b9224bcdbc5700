"""Schemas from the tables file of a benchmark, in the layout that Spider and BIRD share."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from merit.errors import InputError
from merit.reading import check_name, read_records
from merit.types import Column, Schema, Table


def read_schemas(path: Path) -> Mapping[str, Schema]:
    """Every schema of a `tables.json` in the layout that Spider and BIRD share, by database."""
    fields = {"db_id": str, "table_names_original": list, "column_names_original": list, "column_types": list}
    schemas = {}
    for number, record in enumerate(read_records(path, {**fields, "primary_keys": list, "foreign_keys": list})):
        check_name(record["db_id"], f"{path}, entry {number}: the field 'db_id'")
        try:
            schemas[record["db_id"]] = _schema(record)
        except (IndexError, OverflowError, TypeError, ValueError):
            raise InputError(
                f"{path}, entry {number} ({record['db_id']}): tables, columns, types and keys do not fit together"
            ) from None
    return schemas


def _schema(record: dict[str, Any]) -> Schema:
    tables = record["table_names_original"]
    columns = [(int(table), str(name)) for table, name in record["column_names_original"]]
    # A key is one column, or a list of them (BIRD).
    primary = {c for key in record["primary_keys"] for c in (key if isinstance(key, list) else [key])}
    foreign: dict[int, list[str]] = {}
    for column, target in record["foreign_keys"]:
        table, name = columns[target]
        foreign.setdefault(column, []).append(f"{tables[table]}.{name}")
    owned: dict[int, list[Column]] = {}  # column 0, `*`, belongs to no table
    for c, (owner, name) in enumerate(columns):
        column = Column(name, str(record["column_types"][c]), c in primary, tuple(foreign.get(c, ())))
        owned.setdefault(owner, []).append(column)
    return Schema(record["db_id"], tuple(Table(str(table), tuple(owned.get(t, ()))) for t, table in enumerate(tables)))
