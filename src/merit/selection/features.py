"""What a question tells about each table and column, as numbers."""

import re
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from merit.selection.index import Floats, SchemaIndex
from merit.selection.words import INITIALS, initials, question_words
from merit.values import Mention
from merit.vectors import products

_CLAUSES = re.compile(r"[.,;:?!()]|\band\b|\bfor\b|\bof\b")
_BEST_OF_SPACE = 8  # tables that say how well a database fits a question
_NAME_SHARE = 0.3  # of a name's match beside the coverage of the question, in a table's rough score
TABLE_FEATURES = ("covers", "name", "column", "neighbour", "database", "rare", "alone", "meaning")
COLUMN_FEATURES = ("words", "rest", "key", "joins", "position", "housekeeping", "width", "meaning")


@dataclass(frozen=True, slots=True)
class QuestionFeatures:
    """A question beside a schema."""

    matched: Floats  # for each word of names, how surely the question means it
    tables: Floats  # a row each, a column for each of TABLE_FEATURES
    words: Floats  # of each column's name, the share that is asked for
    rest: Floats  # the same, of the words that are not in its table's name
    meaning: Floats  # likeness of each column's words to a clause of the question
    mentioned: frozenset[int]  # columns that hold a value which the question mentions


def ask(index: SchemaIndex, question: str, mentions: Sequence[Mention] = (), more: str = "") -> QuestionFeatures:
    """Compare a question with all names; `more` are words that are asked for besides."""
    rows = _rows(index, f"{question}\n{more}" if more else question)
    matched = rows.max(axis=0, initial=0.0)
    weights = (rows * index.idf).max(axis=1, initial=0.0)
    total = float(weights.sum()) or 1.0
    asked = np.maximum(matched * index.idf, 0.0)
    found = index.in_column @ asked
    found = np.maximum(found, np.minimum(index.column_mass, (index.in_comment @ asked) / 2))
    mentioned = _mentioned(index, mentions)
    for column in mentioned:
        found[column] = index.column_mass[column]
    words = found / np.maximum(index.column_mass, 1e-9)
    rest = np.where(index.rest_mass > 0, (index.beside_table_name @ asked) / np.maximum(index.rest_mass, 1e-9), 0.5)
    for column in mentioned:
        rest[column] = 1.0
    best = np.zeros(len(index.tables))
    np.maximum.at(best, index.table_of, found * words)
    table_meaning, meaning = _meanings(index, question)
    by_word = _by_word(index, rows)
    tables = _table_features(index, asked, by_word, weights, best / total, table_meaning)
    return QuestionFeatures(matched, tables, words, rest, meaning, mentioned)


def _rows(index: SchemaIndex, question: str) -> Floats:
    """For each word of a question, how surely it means each word of names."""
    spoken = question_words(question)
    rows = [index.stored.like(word) for word in spoken]
    rows += [[(index.word_numbers[run], INITIALS)] for run in initials(question, index.words) if run not in spoken]
    rows = [row for row in rows if row]
    matrix = np.zeros((len(rows), len(index.words)))
    for number, row in enumerate(rows):
        for word, sure in row:
            matrix[number, word] = sure
    return matrix


def _by_word(index: SchemaIndex, rows: Floats) -> Floats:
    """How well each table matches each word of a question; its name counts twice."""
    found = np.zeros((len(rows), len(index.tables)))
    for number, row in enumerate(rows):
        words = np.flatnonzero(row)
        inside = (index.in_table[:, words] * row[words]).max(axis=1, initial=0.0)
        found[number] = inside + (index.name_in_table[:, words] * row[words]).max(axis=1, initial=0.0)
    return found


def _table_features(
    index: SchemaIndex, asked: Floats, by_word: Floats, weights: Floats, best: Floats, meaning: Floats
) -> Floats:
    total = float(weights.sum()) or 1.0
    covers = _weighted(weights, np.minimum(by_word, 1.0)) / total
    name = (index.in_name @ asked) / np.maximum(index.name_mass, 1e-9)
    rough = covers + _NAME_SHARE * name
    neighbour = (index.links * rough).max(axis=1, initial=0.0)
    spaces = int(index.space_of.max(initial=-1)) + 1
    fits = np.array([np.sort(rough[index.space_of == s])[::-1][:_BEST_OF_SPACE].mean() for s in range(spaces)])
    database = fits[index.space_of] - fits.max(initial=0.0)
    squares = by_word**2
    rare = (squares / (np.sqrt(squares.sum(axis=1, keepdims=True)) + 1e-9)).max(axis=0, initial=0.0)
    claims = squares * rough**4
    claims /= claims.sum(axis=1, keepdims=True) + 1e-9
    alone = _weighted(weights, claims) / total
    return np.column_stack([covers, name, best, neighbour, database, rare, alone, meaning])


def _weighted(weights: Floats, rows: Floats) -> Floats:
    """The weighted sum of rows, without BLAS, whose threads wait for each other on a busy machine."""
    return np.asarray((rows * weights[:, None]).sum(axis=0))


def _meanings(index: SchemaIndex, question: str) -> tuple[Floats, Floats]:
    """Likeness of vectors: tables to the question, columns to one of its clauses. Zeros without an encoder."""
    if index.encoder is None or index.table_vectors is None or index.column_vectors is None:
        return np.zeros(len(index.tables)), np.zeros(len(index.columns))
    clauses = [clause.strip() for clause in _CLAUSES.split(question) if clause.strip()]
    vectors = index.encoder.encode([question.strip() or "?", *clauses])
    tables = products(index.table_vectors, vectors[0]) - TABLE_MEANING
    columns = np.zeros(len(index.column_vectors), dtype=np.float32)
    for clause in vectors[1:]:
        np.maximum(columns, products(index.column_vectors, clause), out=columns)
    columns -= COLUMN_MEANING
    return tables.astype(np.float64), columns.astype(np.float64)[index.phrase_number]


# Taken off, so that 0 means "says nothing", as without an encoder; by judgement. The bases of the weights fit it.
TABLE_MEANING, COLUMN_MEANING = 0.3, 0.3


def _mentioned(index: SchemaIndex, mentions: Sequence[Mention]) -> frozenset[int]:
    found = set()
    for table, column, _ in mentions:
        number = index.number_of.get(table.lower())
        place = None if number is None else index.column(number, column)
        if place is not None:
            found.add(place)
    return frozenset(found)


def column_features(index: SchemaIndex, asked: QuestionFeatures, tables: Floats) -> Floats:
    """A row for each column, given how likely each table is needed."""
    joins = index.joining * _elsewhere(index, tables[index.table_of])
    for column, targets in index.targets.items():
        joins[column] = max(joins[column], *(tables[target] for target in targets))
    return np.column_stack(
        [
            asked.words,
            asked.rest,
            index.own_key,
            joins,
            index.position,
            index.housekeeping * (asked.rest < 1.0),
            index.width,
            asked.meaning,
        ]
    )


def _elsewhere(index: SchemaIndex, likely: Floats) -> Floats:
    """For each column, how likely another table with a column of its name is needed."""
    count = int(index.name_number.max(initial=-1)) + 1
    first, second = np.zeros(count), np.zeros(count)
    np.maximum.at(first, index.name_number, likely)
    below = likely < first[index.name_number]
    np.maximum.at(second, index.name_number[below], likely[below])
    return np.where(below, first[index.name_number], second[index.name_number])
