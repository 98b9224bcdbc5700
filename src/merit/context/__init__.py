"""What people already wrote down about their database, read into one value.

Descriptions and synonyms of tables and columns, rules, a glossary, metrics and relationships: from comments in the
database, `merit.toml`, dbt, and semantic models of Apache Ossie and Snowflake Cortex.
"""

from merit.context.context import Context, Meaning, Metric, MetricKind, Notes, Relationship
from merit.context.dbt import read_dbt
from merit.context.enrich import comments_of, enriched
from merit.context.merge import merge
from merit.context.opening import open_context, read_semantic

__all__ = [
    "Context",
    "Meaning",
    "Metric",
    "MetricKind",
    "Notes",
    "Relationship",
    "comments_of",
    "enriched",
    "merge",
    "open_context",
    "read_dbt",
    "read_semantic",
]
