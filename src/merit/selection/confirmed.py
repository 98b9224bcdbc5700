"""Earlier questions whose SQL was confirmed, and what their tables and columns tell about a later one."""

import math
from dataclasses import dataclass

import numpy as np

from merit.selection.index import Floats, SchemaIndex
from merit.selection.used import names_used
from merit.selection.words import question_words

_MOST_SIMILAR = 5
_MOST_KNOWN = 20_000  # statements: what they name is a few hundred bytes each
_DOUBT = 0.1  # squared likeness that speaks for no table: a few far questions say little
NamesUsed = dict[int, set[int]]  # columns by table
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

    def __init__(self, index: SchemaIndex, known: dict[str, NamesUsed] | None = None) -> None:
        """`known` holds the names of statements that were read before, and takes in more."""
        self._index = index
        self._known = {} if known is None else known
        self._questions: list[str] = []
        self._tables: list[list[int]] = []
        self._columns: list[list[int]] = []
        self._times = np.zeros(len(index.tables))
        self._column_times = np.zeros(len(index.columns))
        self._words: dict[str, int] = {}  # numbers of all words
        self._word_ids: list[int] = []  # the words of all questions, one question after the other
        self._owners: list[int] = []  # in which question each is
        self._likeness: _WordLikeness | None = None  # of the questions so far; made when it is next needed

    def __len__(self) -> int:
        return len(self._questions)

    def add(self, question: str, sql: str) -> bool:
        """Take in a confirmed question; SQL that does not parse tells nothing and is left out (False)."""
        if sql not in self._known:
            if len(self._known) >= _MOST_KNOWN:
                self._known.clear()
            self._known[sql] = names_used(sql, self._index)
        used = self._known[sql]
        if not used:
            return False
        own = sorted(used)
        columns = sorted(column for columns in used.values() for column in columns)
        words = {self._words.setdefault(word, len(self._words)) for word in question_words(question)}
        self._word_ids += words
        self._owners += [len(self._questions)] * len(words)
        self._questions.append(question)
        self._tables.append(own)
        self._columns.append(columns)
        self._times[own] += 1
        self._column_times[columns] += 1
        self._likeness = None
        return True

    def remove(self, number: int) -> None:
        """Forget one of the questions, counted from 0 in the order in which they were taken in."""
        own, columns = self._tables.pop(number), self._columns.pop(number)
        del self._questions[number]
        self._times[own] -= 1
        self._column_times[columns] -= 1
        left = [(word, at) for word, at in zip(self._word_ids, self._owners, strict=True) if at != number]
        self._word_ids = [word for word, _ in left]
        self._owners = [at - (at > number) for _, at in left]
        self._likeness = None

    def recall(self, question: str) -> EarlierUse | None:
        """What the questions so far tell; None where there are none."""
        if not self._questions:
            return None
        if self._likeness is None:
            self._likeness = _WordLikeness(self._words, self._word_ids, self._owners, len(self._questions))
        times, column_times = self._times.copy(), self._column_times.copy()
        similar, similar_columns = np.zeros(len(times)), np.zeros(len(column_times))
        likeness = self._likeness.to(question)
        best = np.argsort(-likeness, kind="stable")[:_MOST_SIMILAR].tolist()
        total = sum(float(likeness[number]) ** 2 for number in best) + _DOUBT
        nearest: dict[int, str] = {}
        for number in best:
            share = float(likeness[number]) ** 2 / total
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


class _WordLikeness:
    """Cosine of words, rare ones counting more, to each of some questions."""

    def __init__(self, words: dict[str, int], word_ids: list[int], owners: list[int], count: int) -> None:
        self._words, self._count = words, count
        self._word_ids, self._owners = np.array(word_ids, np.int64), np.array(owners, np.int64)
        # Words of questions that were forgotten count like words that no question has.
        frequency = np.maximum(np.bincount(self._word_ids, minlength=len(words)), 1)
        self._weights = np.log(1 + count / frequency) ** 2
        self._norms = np.sqrt(np.bincount(self._owners, self._weights[self._word_ids], minlength=count))

    def to(self, question: str) -> Floats:
        """How like a question each of them is."""
        asked = set(question_words(question))
        known = [number for word in asked if (number := self._words.get(word)) is not None]
        shared = np.zeros(len(self._weights))
        shared[known] = self._weights[known]
        unseen = (len(asked) - len(known)) * math.log(1 + self._count) ** 2
        norms = self._norms * math.sqrt(float(shared.sum()) + unseen)
        found = np.bincount(self._owners, shared[self._word_ids], minlength=self._count)
        return np.divide(found, norms, out=np.zeros(self._count), where=norms > 0)
