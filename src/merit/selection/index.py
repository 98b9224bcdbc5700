"""Everything about a schema that choosing from it needs, computed once."""

import hashlib
import json
import math
from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import replace
from itertools import permutations
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from merit.prompts.tables import create_tables, shown_type
from merit.selection.selection import INDENT
from merit.selection.token_estimate import CountTokens
from merit.selection.words import NameSplitter, StoredWords, parts
from merit.types import Column, Encoder, Schema, Table

if TYPE_CHECKING:
    from scipy.sparse import csr_array

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]
Flags = npt.NDArray[np.bool_]
Links = dict[tuple[int, int], tuple[float, str]]  # of two tables: how surely they join, and by which column

_KEY_WORDS = frozenset({"key", "id", "code", "uuid", "number"})  # alone, every table has its own
_KEY_ENDS = [[word] for word in sorted(_KEY_WORDS)]
_MOST_SHARING = 25  # tables with a key column of one name; more tables share a name that joins nothing
_HOUSEKEEPING = (5, 0.15)  # least number and share of a database's tables with a column that describes the row itself


def fingerprint(schema: Schema, dialect: str, encoder: Encoder | None) -> str:
    """Changes with whatever an index is made of."""
    tables = [
        [table.name, table.view, table.comment]
        + [
            [column.name, column.type, column.primary_key, column.foreign_keys, column.comment]
            for column in table.columns
        ]
        for table in schema.tables
    ]
    identity = [encoder.identity.name, encoder.identity.revision] if encoder else []
    return hashlib.sha256(json.dumps([tables, dialect, identity]).encode()).hexdigest()


class SchemaIndex:
    """A schema's names as words, its keys and links, and what each line costs."""

    def __init__(self, schema: Schema, tokens: CountTokens, dialect: str = "sqlite", encoder: Encoder | None = None):
        self.schema, self.dialect, self.encoder = schema, dialect, encoder
        self.tables: Sequence[Table] = schema.tables
        self.columns: Sequence[Column] = [column for table in schema.tables for column in table.columns]
        sizes = [len(table.columns) for table in schema.tables]
        self.table_of: Ints = np.repeat(np.arange(len(sizes)), sizes)
        starts = np.cumsum([0, *sizes])
        self.columns_of = [range(starts[number], starts[number + 1]) for number in range(len(sizes))]
        self.number_of = {table.name.lower(): number for number, table in enumerate(schema.tables)}
        self._read_words()
        self._read_keys()
        self._describe_columns()
        self._count(tokens)
        self._encode()

    def column(self, table: int, name: str) -> int | None:
        """The number of a table's column, whatever the case of its name."""
        return self._column_numbers.get((table, name.lower()))

    def _read_words(self) -> None:
        names = [(_own_name(table.name), [column.name for column in table.columns]) for table in self.tables]
        splitter = NameSplitter(name for table, columns in names for name in (table, *columns))
        self.words: list[str] = []
        self.word_numbers: dict[str, int] = {}
        named = [self._numbers(splitter.words(table)) for table, _ in names]
        spelled = [self._numbers(splitter.words(name)) for _, columns in names for name in columns]
        comments = [self._numbers(splitter.words(table.comment)) for table in self.tables]
        explained = [self._numbers(splitter.words(column.comment)) for column in self.columns]
        self.table_phrases = [" ".join(self.words[word] for word in words) for words in named]
        self.column_phrases = [" ".join(self.words[word] for word in words) for words in spelled]
        whole = [set(name) | set(about) for name, about in zip(named, comments, strict=True)]
        for column, table in enumerate(self.table_of):
            whole[table] |= {*spelled[column], *explained[column]}
        self.stored = StoredWords(self.words)
        shape = len(self.words)
        self.in_name = _matrix(named, shape)
        self.in_table = _matrix(whole, shape).toarray()
        self.name_in_table = self.in_name.toarray()
        self.in_column = _matrix(spelled, shape)
        self.in_comment = _matrix(explained, shape)
        rest = [set(words) - set(named[table]) for words, table in zip(spelled, self.table_of, strict=True)]
        self.beside_table_name = _matrix(rest, shape)
        frequency = self.in_table.sum(axis=0)
        self.idf: Floats = np.log(1 + len(self.tables) / np.maximum(frequency, 1))
        self.name_mass: Floats = self.in_name @ self.idf
        self.column_mass: Floats = self.in_column @ self.idf
        self.rest_mass: Floats = self.beside_table_name @ self.idf
        self._named, self._spelled = named, spelled

    def _numbers(self, words: Sequence[str]) -> list[int]:
        for word in words:
            if word not in self.word_numbers:
                self.word_numbers[word] = len(self.words)
                self.words.append(word)
        return [self.word_numbers[word] for word in words]

    def _read_keys(self) -> None:
        """Which columns are keys, by declaration or by name, and which tables they link."""
        columns, tables = self.columns, self.table_of
        self._lower = [column.name.lower() for column in columns]
        self._column_numbers = {
            (int(table), name): number for number, (table, name) in enumerate(zip(tables, self._lower, strict=True))
        }
        foreign, links = self._declared()
        like_key = [parts(column.name)[-1:] in _KEY_ENDS for column in columns]
        self.declared_key: Flags = np.array([c.primary_key or n in foreign for n, c in enumerate(columns)], dtype=bool)
        self.key: Flags = self.declared_key | np.array(like_key, dtype=bool)
        own = [c.primary_key or (like_key[n] and self._is_named_after_table(n)) for n, c in enumerate(columns)]
        self.own_key: Floats = np.array(own, dtype=float)
        names = {name: number for number, name in enumerate(sorted(set(self._lower)))}
        self.name_number: Ints = np.array([names[name] for name in self._lower], dtype=np.int64)
        self._link_namesakes(links)
        self.links: Floats = np.zeros((len(self.tables), len(self.tables)))
        for (one, other), (weight, _) in links.items():
            self.links[one, other] = weight
        self.link_names = {pair: name for pair, (_, name) in links.items()}

    def _is_named_after_table(self, column: int) -> bool:
        rest = {word for word in self._spelled[column] if self.words[word] not in _KEY_WORDS}
        return bool(rest) and rest <= set(self._named[self.table_of[column]])

    def _link_namesakes(self, links: Links) -> None:
        """Link tables with a key column of one name: large schemas declare few keys."""
        sharing: dict[str, list[int]] = defaultdict(list)
        for number, name in enumerate(self._lower):
            if self.key[number] and name not in _KEY_WORDS:
                sharing[name].append(number)
        self.joining: Floats = np.zeros(len(self.columns))  # how surely a column of this name joins its tables
        for numbers in sharing.values():
            if not 2 <= len(numbers) <= _MOST_SHARING:
                continue
            weight = 1 / math.log2(1 + len(numbers))
            self.joining[numbers] = weight
            for one, other in permutations(numbers, 2):
                pair = (int(self.table_of[one]), int(self.table_of[other]))
                if pair[0] != pair[1] and links.get(pair, (0.0, ""))[0] < weight:
                    links[pair] = (weight, self.columns[one].name)

    def _describe_columns(self) -> None:
        """What else tells whether a column is needed: its place, its table's width, and whether all tables have it."""
        spaces = [table.name.rpartition(".")[0].lower() for table in self.tables]
        numbered = {space: number for number, space in enumerate(dict.fromkeys(spaces))}
        self.space_of: Ints = np.array([numbered[space] for space in spaces], dtype=np.int64)
        homes = [int(space) for space in self.space_of[self.table_of]]
        often, sizes = Counter(zip(homes, self._lower, strict=True)), Counter(self.space_of.tolist())
        least, share = _HOUSEKEEPING
        common = [
            often[home, name] >= max(least, share * sizes[home]) for home, name in zip(homes, self._lower, strict=True)
        ]
        self.housekeeping: Floats = (np.array(common, dtype=bool) & ~self.key).astype(float)
        widths = np.array([len(numbers) for numbers in self.columns_of], dtype=float)
        self.width: Floats = np.log(np.maximum(widths, 1))[self.table_of]
        self.position: Floats = np.array([n / len(numbers) for numbers in self.columns_of for n in range(len(numbers))])

    def _declared(self) -> tuple[set[int], Links]:
        """The columns of declared foreign keys, both ends, and the pairs of tables that they link."""
        ends: set[int] = set()
        links: Links = {}
        self.targets: dict[int, list[int]] = defaultdict(list)
        for number, column in enumerate(self.columns):
            here = int(self.table_of[number])
            for target in column.foreign_keys:
                there = self.number_of.get(target.rpartition(".")[0].lower())
                if there is not None:
                    ends.add(number)
                    self.targets[number].append(there)
                    links[here, there] = links[there, here] = (1.0, column.name)
        return ends, links

    def _count(self, tokens: CountTokens) -> None:
        """The tokens of each column's line, of its type alone, and of each table without its columns."""
        counted: dict[str, int] = {}

        def count(text: str) -> int:
            if text not in counted:
                counted[text] = tokens(text)
            return counted[text]

        self.table_cost: Ints = np.array([count(self._frame(table)) for table in self.tables], dtype=np.int64)
        self.types: Sequence[str] = sorted({shown_type(column) for column in self.columns})
        numbers = {kind: number for number, kind in enumerate(self.types)}
        self.type_number: Ints = np.array([numbers[shown_type(column)] for column in self.columns], dtype=np.int64)
        typed = [count(self._line(column)) for column in self.columns]
        bare = [count(self._line(replace(column, type=""))) for column in self.columns]
        self.column_cost: Ints = np.array(typed, dtype=np.int64)
        self.type_cost: Ints = np.maximum(self.column_cost - np.array(bare, dtype=np.int64), 0)

    def _line(self, column: Column) -> str:
        """A column's line, and those of its keys."""
        plain = replace(column, primary_key=False)
        text = create_tables(Schema("", (Table("t", (plain,)),)), self.dialect, indent=INDENT)
        return "".join(f"{line.rstrip(',')},\n" for line in text.splitlines()[1:-1])

    def _frame(self, table: Table) -> str:
        """What a table takes without its columns: first and last line, and a primary key."""
        head, *_, foot = create_tables(Schema("", (replace(table, columns=()),)), self.dialect).splitlines()
        keys = [column for column in table.columns if column.primary_key]
        key = (
            f"{INDENT}PRIMARY KEY ({', '.join(column.name for column in keys)}),\n" if len(keys) > 1 else " PRIMARY KEY"
        )
        return f"{head}\n{key if keys else ''}{foot}\n\n"

    def _encode(self) -> None:
        self.table_vectors = self.column_vectors = None
        if self.encoder is not None:
            texts = [
                f"{self.table_phrases[n]}: {', '.join(self.column_phrases[c] for c in columns)}"
                for n, columns in enumerate(self.columns_of)
            ]
            self.table_vectors = self.encoder.encode([text or "?" for text in texts])
            phrases = list(dict.fromkeys(phrase or "?" for phrase in self.column_phrases))
            vectors = self.encoder.encode(phrases)
            at = {phrase: number for number, phrase in enumerate(phrases)}
            self.column_vectors = vectors
            self.phrase_number: Ints = np.array([at[phrase or "?"] for phrase in self.column_phrases], dtype=np.int64)


def _own_name(table: str) -> str:
    """A table's name without that of its database or schema."""
    return table.rpartition(".")[2]


def _matrix(rows: Sequence[Sequence[int] | set[int]], columns: int) -> "csr_array":
    from scipy.sparse import csr_array  # only here: small schemas need none, and it takes 0.1 s to import

    pairs = [(row, word) for row, words in enumerate(rows) for word in sorted(set(words))]
    at = np.array(pairs, dtype=np.int64).reshape(-1, 2)
    return csr_array((np.ones(len(pairs)), (at[:, 0], at[:, 1])), shape=(len(rows), columns))
