"""What people already wrote down about their database, read into one value.

Descriptions and synonyms of tables and columns, rules, a glossary, metrics and relationships: from comments in the
database, `merit.toml`, dbt, and semantic models of Apache Ossie and Snowflake Cortex.

`dbt`, `ossie` and `cortex` each turn a file into `Notes`: what it says, by its own names. `merge` puts notes together
for a schema: `names` finds tables with any qualifier that fits, the first source holds, contradictions become
sentences, names that are not there are listed. `enrich` gives back the schema with descriptions as comments and
relationships as foreign keys. `item` takes documents apart so that every fault names file and field; `text` makes one
short line of every text.
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
