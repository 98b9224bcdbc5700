"""Mending a query by what the schema alone knows, without a model. Must never know a reference.

`ground` mends a query that a database refused; a query that ran is never touched. Every change has a `GroundingRule`
and a sentence (docs/explanation/grounding.md). The steps, in their order:

1. `reading` turns the text into a tree: what stands around the query goes, parentheses and clauses are set right
   (`clauses`), and a text that the engine's dialect cannot read is tried in others. `dialects` keeps every function as
   it is written, since sqlglot would guess at foreign ones. `qualified` folds several namespaces into one name, and
   unfolds them at the end.
2. `functions` replaces what the engine lacks, by `function_table`, which tests compare with real engines.
3. `quotes` tells names from texts.
4. `tables`, then `columns` with `finding`, `joins` and `scopes`: names that are not there, one change at a time. If one
   is left over, the query is given up. Then `quotes` again, for PostgreSQL's capital letters.
5. `aggregates` moves conditions to HAVING and adds groups; `casts` converts types for PostgreSQL and DuckDB.

`graph` is a schema for looking up: names without regard to case, declared keys, and columns of one name where no key is
declared. Where two ways lead to a table, none is taken. `literals` is the rule `value`, for a query that ran and gave
no rows: its result is one more candidate, since no rows may be the right answer.
"""

from merit.grounding.ground import ground
from merit.grounding.literals import ground_values
from merit.types.grounding import Grounded, GroundingChange, GroundingRule

__all__ = ["Grounded", "GroundingChange", "GroundingRule", "ground", "ground_values"]
