"""How many typical failures grounding mends on each engine: defog's references, broken as models break them.

    python bench/mending.py [--engines postgresql,mariadb,duckdb,sqlite] [--data FOLDER] [--json]

Every question's first reference is broken in each of these ways, where it can be. What the engine then refuses is
grounded once, with the schema, the dialect and the engine's message, and nothing else.

join    a joined table is left out while its columns stay
owner   a column is asked of another table of the query
type    two keys are compared as number and text
like    a date is compared by LIKE
month   MONTH(), YEAR() or STRFTIME() of another dialect
alias   an alias of the result stands where the engine knows none: WHERE, HAVING, GROUP BY, an expression of ORDER BY

failures  broken queries that the engine refuses
mended    those whose grounded query gives the reference's rows
wrong     those whose grounded query runs and gives others

The databases are loaded as merit_mending_NAME and dropped at the end. References are read to compare, and go nowhere
else.
"""

import argparse
import json
import os
import runpy
import sys
import tempfile
from collections import Counter, defaultdict
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import sqlglot
from sqlglot import exp
from sqlglot.errors import SqlglotError

sys.path.append(str(Path(__file__).parents[1] / "tests"))
from making.defog_load import FilePlace, MariaDBPlace, Place, PostgresPlace, read_dump
from merit.grounding import ground
from merit.sql import executed
from merit.sql.connect import open_engine
from merit.types import SQLGLOT_DIALECTS, Engine, Limits, Rows, Schema

# The questions, and rows without their order, as the other benchmark of these databases reads them.
_DEFOG: Any = runpy.run_path(str(Path(__file__).with_name("defog.py")))
bag, read_questions = _DEFOG["bag"], _DEFOG["read_questions"]
DefogQuestion = Any

PREFIX = "merit_mending_"
ENGINES = ("postgresql", "mariadb", "duckdb", "sqlite")
LIMITS = Limits(timeout_s=5)
Broken = tuple[str, exp.Expr, exp.Expr]  # which way, the broken query, and the one that it should have been
_INTEGERS = ("int", "bigint", "smallint", "integer")


class Breaker:
    """Breaks one query in every way that it can be broken."""

    def __init__(self, tree: exp.Select, schema: Schema) -> None:
        self._tree = tree
        self._types = {
            (table.name.lower(), column.name.lower()): column.type.lower()
            for table in schema.tables
            for column in table.columns
        }

    def broken(self) -> Iterator[Broken]:
        """Each way with the query that it breaks."""
        yield from self._joins()
        yield from self._owners()
        yield from self._comparisons()
        yield from self._aliases()

    def _joins(self) -> Iterator[Broken]:
        tree = self._tree.copy()
        joins = [join for join in tree.find_all(exp.Join) if isinstance(join.this, exp.Table)]
        if joins:
            joins[-1].pop()
            yield "join", tree, self._tree

    def _owners(self) -> Iterator[Broken]:
        tree = self._tree.copy()
        names = {table.alias_or_name for table in tree.find_all(exp.Table)}
        for column in tree.find_all(exp.Column):
            others = sorted(names - {column.table})
            if column.table in names and others and isinstance(column.this, exp.Identifier):
                column.set("table", exp.to_identifier(others[0]))
                yield "owner", tree, self._tree
                return

    def _comparisons(self) -> Iterator[Broken]:
        for comparison in self._tree.find_all(exp.EQ):
            sides = (comparison.left, comparison.right)
            if all(isinstance(side, exp.Column) and self._type(side).startswith(_INTEGERS) for side in sides):
                tree = self._tree.copy()
                same = next(node for node in tree.find_all(exp.EQ) if node == comparison)
                same.set("expression", exp.cast(same.right.copy(), "text"))
                yield "type", tree, self._tree
                break
        for column in self._tree.find_all(exp.Column):
            select = column.find_ancestor(exp.Select)
            if self._type(column).startswith(("date", "timestamp")) and select is not None:
                yield from self._dates(column)
                return

    def _dates(self, column: exp.Column) -> Iterator[Broken]:
        """A condition on a date, rightly and as other dialects write it."""
        as_text = exp.cast(column.copy(), "text")
        like = exp.Like(this=column.copy(), expression=_text("202%"))
        yield self._with("like", like, exp.Like(this=as_text, expression=_text("202%")), column)
        year = exp.Extract(this=exp.var("YEAR"), expression=column.copy())
        right = exp.GT(this=year, expression=exp.Literal.number(2000))
        calls = (_call("YEAR", column.copy()), _call("STRFTIME", _text("%Y"), column.copy()))
        for call, least in zip(calls, (exp.Literal.number(2000), _text("2000")), strict=True):
            yield self._with("month", exp.GT(this=call, expression=least), right.copy(), column)

    def _with(self, way: str, wrong: exp.Expr, right: exp.Expr, column: exp.Column) -> Broken:
        """The query with one more condition in the SELECT of a column."""
        trees = []
        for condition in (wrong, right):
            tree = self._tree.copy()
            same = next(node for node in tree.find_all(exp.Column) if node == column)
            select = same.find_ancestor(exp.Select)
            assert select is not None
            select.where(condition, copy=False)
            trees.append(tree)
        return way, trees[0], trees[1]

    def _aliases(self) -> Iterator[Broken]:
        aliased = [item for item in self._tree.selects if isinstance(item, exp.Alias)]
        for item in aliased:
            for clause in ("where", "group", "having", "order"):
                if self._tree.args.get(clause) is None:
                    continue
                tree = self._tree.copy()
                part = tree.args[clause]
                alias = exp.column(item.alias)
                if clause == "order":
                    found = [ordered for ordered in part.expressions if ordered.this == alias]
                    for ordered in found:
                        ordered.set("this", exp.Add(this=ordered.this.copy(), expression=exp.Literal.number(0)))
                else:
                    found = [node for node in part.walk() if node == item.this and not isinstance(node, exp.Literal)]
                    for node in found:
                        node.replace(alias.copy())
                if found:
                    yield "alias", tree, self._tree
                    return

    def _type(self, column: exp.Expr) -> str:
        name = column.name.lower()
        sources = {table.alias_or_name: table.name.lower() for table in self._tree.find_all(exp.Table)}
        owners = [sources[column.text("table")]] if column.text("table") in sources else list(sources.values())
        types = {kind for owner in owners if (kind := self._types.get((owner, name)))}
        return types.pop() if len(types) == 1 else ""


def _text(value: str) -> exp.Expr:
    return exp.Literal.string(value)


def _call(name: str, *arguments: exp.Expr) -> exp.Expr:
    """A function that is written as it stands, whatever the dialect."""
    return exp.Anonymous(this=name, expressions=list(arguments))


def measure(place: Place, questions: list[DefogQuestion]) -> tuple[dict[str, Counter[str]], list[str]]:
    """Break, ground and compare everything on one engine."""
    counts: dict[str, Counter[str]] = defaultdict(Counter)
    left: list[str] = []
    for db in sorted({question.db for question in questions}):
        with closing(open_engine(place.url(db))) as engine:
            schema = engine.schema()
            for question in questions:
                if question.db == db:
                    _try(engine, schema, question, counts, left)
    return counts, left


def _try(
    engine: Engine, schema: Schema, question: DefogQuestion, counts: dict[str, Counter[str]], left: list[str]
) -> None:
    dialect = SQLGLOT_DIALECTS[engine.dialect]
    read = "postgres" if engine.dialect == "duckdb" else dialect  # DuckDB gets PostgreSQL's references
    try:
        tree = sqlglot.parse_one(question.references[0], dialect=read)
        ways = list(Breaker(tree, schema).broken()) if isinstance(tree, exp.Select) else []
    except SqlglotError:
        return
    for way, broken, right in ways:
        sql, expected = broken.sql(dialect), engine.execute(right.sql(dialect), LIMITS)
        failed = engine.execute(sql, LIMITS)
        if not isinstance(expected, Rows) or isinstance(failed, Rows):
            continue
        counts[way]["failures"] += 1
        verdict = executed(failed, schema.db_id, coded=engine.dialect != "sqlite")
        grounded = ground(sql, schema, engine.dialect, verdict)
        result = engine.execute(grounded.sql, LIMITS) if grounded else failed
        same = isinstance(result, Rows) and bag(result.rows) == bag(expected.rows)
        counts[way]["mended"] += same
        counts[way]["wrong"] += isinstance(result, Rows) and not same
        if not same:
            left.append(f"{way} {question.key}: {failed.message.splitlines()[0][:100]}")


def main() -> None:
    """Load, measure, drop."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--engines", default="postgresql,mariadb,duckdb")
    parser.add_argument("--data", type=Path, default=Path(os.environ.get("MERIT_DATA", "../shared/data")) / "defog")
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--left", action="store_true", help="list what is not mended")
    options = parser.parse_args()
    names = options.engines.split(",")
    if set(names) - set(ENGINES) or not (options.data / "databases").is_dir():
        parser.error(f"--engines takes {', '.join(ENGINES)}; {options.data} must have a folder 'databases'")
    dumps = [read_dump(path) for path in sorted((options.data / "databases").glob("*.sql"))]
    found = {}
    with tempfile.TemporaryDirectory() as folder:
        for name in names:
            place = _place(name, Path(folder))
            try:
                for dump in dumps:
                    place.load(dump)
                counts, left = measure(place, read_questions(options.data, place.questions))
            finally:
                for dump in dumps:
                    place.drop(dump.name)
            found[name] = {way: dict(counts[way]) for way in sorted(counts)}
            if not options.json:
                total = sum(counts.values(), Counter[str]())
                ways = "; ".join(
                    f"{way} {count['mended']}/{count['failures']}" for way, count in sorted(counts.items())
                )
                print(f"{name:<11} {total['mended']} of {total['failures']} mended, {total['wrong']} wrong: {ways}")
            print(*(left if options.left else ()), sep="\n")
    if options.json:
        print(json.dumps(found))


def _place(name: str, folder: Path) -> Place:
    if name == "postgresql":
        return PostgresPlace(os.environ.get("MERIT_TEST_POSTGRES", "postgresql://postgres@127.0.0.1:5432/test"), PREFIX)
    if name == "mariadb":
        return MariaDBPlace(os.environ.get("MERIT_TEST_MARIADB", "mysql://root@127.0.0.1:3306/test"), PREFIX)
    return FilePlace(name, folder, PREFIX)


if __name__ == "__main__":
    main()
