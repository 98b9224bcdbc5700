"""Tables of several schemas: a name such as `sales.orders` is one name while a query is mended, and two afterwards."""

from sqlglot import exp

from merit.grounding.graph import SchemaGraph
from merit.grounding.nodes import must_quote
from merit.types.grounding import GroundingChange, GroundingRule


def fold(tree: exp.Query, graph: SchemaGraph, rules: frozenset[GroundingRule]) -> list[GroundingChange]:
    """Make every qualified table one name; a table without its schema gets the only one that has such a table."""
    changes = []
    common = {cte.alias.lower() for cte in tree.find_all(exp.CTE)}
    for table in list(tree.find_all(exp.Table)):
        if not isinstance(table.this, exp.Identifier) or (not table.db and table.name.lower() in common):
            continue
        whole = f"{table.db}.{table.name}".lower() if table.db else table.name.lower()
        if whole not in graph.tables:
            homes = [known for known in graph.tables if known.rpartition(".")[2] == table.name.lower()]
            if len(homes) != 1 or GroundingRule.TABLE_NAME not in rules:
                continue
            changes.append(
                GroundingChange(
                    GroundingRule.TABLE_NAME, f"{table.name}: there is no such table; {graph.tables[homes[0]]} is"
                )
            )
            whole = homes[0]
        if "." in whole:
            if not table.alias:
                table.set("alias", exp.TableAlias(this=exp.to_identifier(table.name, quoted=must_quote(table.name))))
            table.set("db", None)
            table.set("this", exp.to_identifier(graph.tables[whole], quoted=True))
    return changes


def unfold(tree: exp.Query, graph: SchemaGraph) -> None:
    """Write folded names as schema and table again."""
    for table in tree.find_all(exp.Table):
        if not table.db and "." in table.name and table.name.lower() in graph.tables:
            schema, _, name = table.name.rpartition(".")
            table.set("db", exp.to_identifier(schema, quoted=must_quote(schema)))
            table.set("this", exp.to_identifier(name, quoted=must_quote(name)))
            if table.alias.lower() == name.lower():
                table.set("alias", None)
    for column in tree.find_all(exp.Column):
        if "." in column.table and column.table.lower() in graph.tables:
            name = column.table.rpartition(".")[2]
            column.set("table", exp.to_identifier(name, quoted=must_quote(name)))
