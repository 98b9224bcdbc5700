"""The name that a database says it does not have."""

import re

from merit.failure.classify import classify
from merit.types import FailureSubtype, Verdict

_SUBTYPES = (FailureSubtype.MISSING_TABLE, FailureSubtype.MISSING_COLUMN, FailureSubtype.MISSING_VIEW)
_NAME = r"""[\w.$]+|"[^"]+"(?:\."[^"]+")*|'[^']+'|`[^`]+`"""
_SAYS = re.compile(
    rf"no such (?:table|column|view): (?P<sqlite>.+)"
    rf"|(?:relation|column) (?P<postgresql>{_NAME}) (?:of relation .+ )?does not exist"
    rf"|FROM-clause entry for table (?P<entry>{_NAME})"
    rf"|(?:Unknown (?:column|table)|Table) (?P<mysql>'[^']+')"
    rf"|(?:[Tt]able|[Vv]iew) with name (?P<duckdb>{_NAME}) does not exist"
    rf"|Referenced (?:column|table) (?P<referenced>{_NAME}) not found"
    rf"|does not have a column named (?P<column>{_NAME})"
)


def missing_name(verdict: Verdict, dialect: str) -> str | None:
    """The table or column (perhaps `table.column`) that a failed query named and the database does not have."""
    if verdict.satisfied or classify(verdict, dialect).subtype not in _SUBTYPES:
        return None
    found = _SAYS.search((verdict.error or "").split("\n", 1)[0])
    if found is None:
        return None
    name = next(group for group in found.groups() if group is not None)
    return re.sub(r"""["'`]""", "", name).strip()
