"""What several files say about one schema, put together: the first holds, and contradictions are told."""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import replace

from merit.context.context import Context, Meaning, Metric, Notes, Relationship
from merit.context.names import SchemaNames
from merit.context.text import MOST_SYNONYMS, prompt_line
from merit.types import Schema

_QUOTED_CHARACTERS = 80
_SENTENCE_CHARACTERS = 500
MOST_RULES = 200
MOST_METRICS = 1000


def merge(schema: Schema, notes: Sequence[Notes], default_schema: str = "") -> Context:
    """Everything that `notes` say about tables and columns that the schema has; earlier ones hold over later ones.

    `default_schema` is the schema whose tables the database names without a qualifier, where the files have several
    tables of one name.
    """
    merging = _Merging(SchemaNames(schema, default_schema))
    for source_notes in notes:
        merging.take(source_notes)
    return merging.context()


class _Merging:
    """The context so far, and who said what."""

    def __init__(self, names: SchemaNames) -> None:
        self._names = names
        self._tables: dict[str, Meaning] = {}
        self._columns: dict[tuple[str, str], Meaning] = {}
        self._rules: dict[str, str] = {}
        self._glossary: dict[str, tuple[str, str]] = {}
        self._metrics: dict[tuple[str, str], Metric] = {}
        self._relationships: dict[
            tuple[object, ...], Relationship
        ] = {}  # by the columns they start from, and the table
        self._said: dict[str, tuple[str, str]] = {}  # what is said of a thing, and by whom
        self._contradictions: list[str] = []
        self._missing: dict[str, None] = {}

    def context(self) -> Context:
        """What was put together."""
        return Context(
            tables=self._tables,
            columns=self._columns,
            rules=tuple(self._rules.values())[:MOST_RULES],
            glossary=dict(self._glossary.values()),
            metrics=tuple(self._metrics.values())[:MOST_METRICS],
            relationships=tuple(self._relationships.values()),
            contradictions=tuple(self._contradictions),
            missing=tuple(self._missing),
        )

    def take(self, notes: Notes) -> None:
        """Add what one source says."""
        found = self._find_tables(notes)
        for key, noted in notes.tables.items():
            if key not in found:
                continue
            name = found[key]
            self._tables[name] = self._joined(name, self._tables.get(name), noted.meaning, notes.source)
            for written, meaning in noted.columns.items():
                if (column := self._names.column(name, written)) is None:
                    self._missed(notes, f"column {name}.{written}")
                    continue
                place = (name, column)
                self._columns[place] = self._joined(".".join(place), self._columns.get(place), meaning, notes.source)
        for rule in filter(None, notes.rules):
            self._rules.setdefault(rule.casefold(), rule)
        for term, meaning_of_term in notes.glossary.items():
            self._told(f"the term {term}", meaning_of_term, notes.source)
            self._glossary.setdefault(term.casefold(), (term, meaning_of_term))
        for metric in notes.metrics:
            self._take_metric(metric, found, notes)
        for relationship in notes.relationships:
            self._take_relationship(relationship, found, notes)

    def _find_tables(self, notes: Notes) -> dict[str, str]:
        """Names of tables in a source: their names in the schema."""
        found = {key: self._names.table(noted.name) for key, noted in notes.tables.items()}
        claimed: dict[str, set[tuple[str, ...]]] = defaultdict(set)
        for key, name in found.items():
            if name is not None:
                claimed[name].add(tuple(part.casefold() for part in notes.tables[key].name))
        for key, noted in notes.tables.items():
            written, name = ".".join(noted.name), found[key]
            if name is None:
                self._missed(notes, f"table {written}")
            elif len(claimed[name]) > 1 and not self._names.is_exact(noted.name, name):
                self._missed(notes, f"table {written}, one of several that could be {name}; set 'schema' in [context]")
                found[key] = None
        return {key: name for key, name in found.items() if name is not None}

    def _joined(self, what: str, earlier: Meaning | None, later: Meaning, source: str) -> Meaning:
        """What is said so far of a table or column, with what one more source says."""
        self._told(what, later.description, source)
        if earlier is None:
            return later
        own_name = what.rpartition(".")[2].casefold()
        kept = [text for text in _in_order(earlier.synonyms, later.synonyms) if text.casefold() != own_name]
        return Meaning(earlier.description or later.description, tuple(kept)[:MOST_SYNONYMS])

    def _told(self, what: str, text: str, source: str) -> None:
        """Note who says what, and that two sources contradict each other."""
        if not text:
            return
        first, by = self._said.setdefault(what, (text, source))
        if _same(first) != _same(text):
            sentence = f"{what}: {by} says {_quoted(first)}, {source} says {_quoted(text)}; the first one holds"
            self._contradictions.append(prompt_line(sentence, _SENTENCE_CHARACTERS))

    def _take_metric(self, metric: Metric, found: dict[str, str], notes: Notes) -> None:
        if metric.table and metric.table not in found:
            self._missed(notes, f"the table of the {metric.kind} {metric.name}")
            return
        named = replace(metric, table=found.get(metric.table, ""))
        self._told(
            f"the {metric.kind} {metric.name}{f' of {named.table}' if named.table else ''}",
            metric.expression,
            notes.source,
        )
        self._metrics.setdefault((named.table, metric.name.casefold()), named)

    def _take_relationship(self, written: Relationship, found: dict[str, str], notes: Notes) -> None:
        start, end = found.get(written.table), found.get(written.to_table)
        if start is None or end is None:
            self._missed(notes, f"a table of the relationship {written.text()}")
            return
        columns = [self._names.column(start, name) for name in written.columns]
        targets = [self._names.column(end, name) for name in written.to_columns]
        if None in columns or None in targets or not columns or len(columns) != len(targets):
            self._missed(notes, f"a column of the relationship {written.text()}")
            return
        pairs = sorted((ours, theirs) for ours, theirs in zip(columns, targets, strict=True) if ours and theirs)
        relationship = Relationship(start, tuple(ours for ours, _ in pairs), end, tuple(theirs for _, theirs in pairs))
        self._told(
            f"the way from {start} ({', '.join(relationship.columns)}) to {end}",
            ", ".join(relationship.to_columns),
            notes.source,
        )
        self._relationships.setdefault((start, relationship.columns, end), relationship)

    def _missed(self, notes: Notes, what: str) -> None:
        self._missing.setdefault(prompt_line(f"{notes.source}: {what}", _SENTENCE_CHARACTERS))


def _in_order(*lists: Iterable[str]) -> list[str]:
    unique: dict[str, str] = {}
    for text in (text for texts in lists for text in texts):
        unique.setdefault(text.casefold(), text)
    return list(unique.values())


def _same(text: str) -> str:
    return " ".join(text.casefold().split()).rstrip(".")


def _quoted(text: str) -> str:
    return f'"{prompt_line(text, _QUOTED_CHARACTERS)}"'
