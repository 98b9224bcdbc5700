"""Earlier questions whose SQL was confirmed, and what their tables and columns tell about a later one."""

import math
from collections import Counter
from dataclasses import dataclass

import numpy as np

from merit.selection.index import Floats, SchemaIndex
from merit.selection.used import names_used
from merit.selection.words import question_words

_MOST_SIMILAR = 5
_DOUBT = 0.1  # squared likeness that speaks for no table: a few far questions say little
TABLE_MEMORY = ("often", "similar")
COLUMN_MEMORY = ("share", "similar", "unused", "namesake")


@dataclass(frozen=True, slots=True)
class EarlierUse:
    """What earlier questions say about a later one."""

    tables: Floats  # a row each, a column for each of TABLE_MEMORY
    columns: Floats  # a row each, a column for each of COLUMN_MEMORY
    times: Floats  # how many earlier questions used each table
    column_times: Floats
    nearest: dict[int, str]  # for tables of the most similar ones, that question


class ConfirmedQuestions:
    """Questions with their confirmed SQL, in the order in which they were confirmed. They are added by the caller."""

    def __init__(self, index: SchemaIndex) -> None:
        self._index = index
        self._questions: list[str] = []
        self._words: list[Counter[str]] = []
        self._tables: list[list[int]] = []
        self._columns: list[list[int]] = []
        self._frequency: Counter[str] = Counter()

    def __len__(self) -> int:
        return len(self._questions)

    def add(self, question: str, sql: str) -> None:
        """Take in a confirmed question; SQL that does not parse tells nothing and is left out."""
        used = names_used(sql, self._index)
        if not used:
            return
        self._questions.append(question)
        self._words.append(Counter(question_words(question)))
        self._frequency.update(self._words[-1].keys())
        self._tables.append(sorted(used))
        self._columns.append(sorted(column for columns in used.values() for column in columns))

    def recall(self, question: str) -> EarlierUse | None:
        """What the questions so far tell; None where there are none."""
        if not self._questions:
            return None
        tables, columns = len(self._index.tables), len(self._index.columns)
        times, column_times = np.zeros(tables), np.zeros(columns)
        for own in self._tables:
            times[own] += 1
        for own in self._columns:
            column_times[own] += 1
        similar, similar_columns = np.zeros(tables), np.zeros(columns)
        likeness = self._likenesses(question)
        best = sorted(range(len(likeness)), key=lambda number: (-likeness[number], number))[:_MOST_SIMILAR]
        total = sum(likeness[number] ** 2 for number in best) + _DOUBT
        nearest: dict[int, str] = {}
        for number in best:
            share = likeness[number] ** 2 / total
            similar[self._tables[number]] += share
            similar_columns[self._columns[number]] += share
            if likeness[number] > 0:
                for table in self._tables[number]:
                    nearest.setdefault(table, self._questions[number])
        of_table = times[self._index.table_of]
        by_name = np.bincount(self._index.name_number, column_times, minlength=1)
        namesakes = np.log1p(by_name[self._index.name_number] - column_times)
        return EarlierUse(
            np.column_stack([np.log1p(times), similar]),
            np.column_stack(
                [column_times / (of_table + 1), similar_columns, np.log1p(of_table) * (column_times == 0), namesakes]
            ),
            times,
            column_times,
            nearest,
        )

    def _likenesses(self, question: str) -> list[float]:
        """Cosine of words, rare ones counting more, to each question so far."""
        count = len(self._questions)
        weights = {word: math.log(1 + count / times) ** 2 for word, times in self._frequency.items()}
        unseen = math.log(1 + count) ** 2
        asked = set(question_words(question))
        own = math.sqrt(sum(weights.get(word, unseen) for word in asked))
        found = []
        for words in self._words:
            norm = math.sqrt(sum(weights[word] for word in words))
            shared = sum(weights[word] for word in words.keys() & asked)
            found.append(shared / (norm * own) if norm and own else 0.0)
        return found
