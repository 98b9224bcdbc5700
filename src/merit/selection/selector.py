"""Choosing the tables and columns that a question needs."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np

from merit.prompts.tables import TableTexts
from merit.selection.choose import Chooser
from merit.selection.confirmed import ConfirmedQuestions, EarlierUse, NamesUsed
from merit.selection.explain import SelectionExplainer
from merit.selection.features import TABLE_FEATURES, QuestionFeatures, ask, column_features
from merit.selection.index import Floats, SchemaIndex
from merit.selection.selection import INDENT, ChosenColumn, ChosenTable, Selection, schema_text
from merit.selection.token_estimate import LINES, CountTokens, estimated_tokens
from merit.selection.weights import (
    COLUMN,
    COLUMN_BASE,
    COLUMN_RECALLED,
    COLUMN_RECALLED_BASE,
    NAMED,
    SHARPER,
    TABLE,
    TABLE_BASE,
    TABLE_RECALLED,
    TABLE_RECALLED_BASE,
    likelihood,
    weighted,
)
from merit.types import Encoder, Schema
from merit.values import ValueIndex

BUDGET_TOKENS = 8_000
_WIDER = 1.5  # times the budget, where something was missing
_NOTE_TOKENS = 40  # for the lines on the usual type and on what is not shown
_ROUNDS = 4  # of measuring the text and spending what is left
_WORTH_SPENDING = 25  # tokens; less buys hardly anything
_WHOLE_NAME = 0.95  # of a table's name, weighted by how rare its words are


class Selector:
    """Chooses from one schema; the index is made once and serves all questions."""

    def __init__(
        self,
        schema: Schema,
        *,
        budget: int = BUDGET_TOKENS,
        tokens: CountTokens = estimated_tokens,
        dialect: str = "sqlite",
        values: ValueIndex | None = None,
        encoder: Encoder | None = None,
        index: SchemaIndex | None = None,
    ) -> None:
        self._schema, self._budget, self._tokens, self._dialect = schema, budget, tokens, dialect
        self._values, self._encoder, self._index = values, encoder, index
        self._line_tokens: dict[str, int] = {}
        self._lean = TableTexts(dialect, indent=INDENT)
        self._whole_text = schema_text(schema, TableTexts(dialect), 0, 0)
        self._whole_tokens = self._counted(self._whole_text)
        self._names_used: dict[str, NamesUsed] = {}  # of confirmed statements: several lists may have the same ones

    @property
    def index(self) -> SchemaIndex:
        """The schema's index, made when it is first needed: a schema that fits needs none."""
        if self._index is None:
            self._index = SchemaIndex(self._schema, self._tokens, self._dialect, self._encoder)
        return self._index

    @property
    def fits(self) -> bool:
        """Whether the whole schema is within the budget, so that there is nothing to choose."""
        return self._whole_tokens <= self._budget

    def confirmed(self) -> ConfirmedQuestions:
        """An empty list of confirmed questions over this schema."""
        return ConfirmedQuestions(self.index, self._names_used)

    def select(
        self,
        question: str,
        *,
        earlier: ConfirmedQuestions | None = None,
        missing: Sequence[str] = (),
        budget: int | None = None,
    ) -> Selection:
        """The tables and columns for a question, within the budget.

        `missing` names tables or columns (`column` or `table.column`) that a failed query lacked: they come in,
        what is like them counts as asked for, and half of the budget is added. The caller counts the failure.
        """
        limit = self._budget if budget is None else budget
        if self._whole_tokens <= limit:
            return self._everything()
        limit = int(limit * _WIDER) if missing else limit
        mentions = self._values.mentioned(question) if self._values is not None else ()
        asked = ask(self.index, question, mentions, " ".join(missing))
        recalled = earlier.recall(question) if earlier is not None else None
        tables, columns = likelihoods(self.index, asked, recalled)
        forced = self._named(missing)
        chosen, schema, text = self._fitting(tables, columns, limit, forced)
        explainer = SelectionExplainer(self.index, asked, recalled, chosen, forced)
        likeliest = sorted(chosen, key=lambda table: (-tables[table], table))

        def explain() -> tuple[ChosenTable, ...]:
            return tuple(self._chosen_table(table, chosen[table], explainer) for table in likeliest)

        columns_out = sum(len(self.index.columns_of[table]) - len(own) for table, own in chosen.items())
        tables_out = len(self._schema.tables) - len(chosen)
        return Selection(schema, tables_out, columns_out, text, self._counted(text), explain)

    def _everything(self) -> Selection:
        reason = ("the whole schema fits",)

        def explain() -> tuple[ChosenTable, ...]:
            return tuple(
                ChosenTable(table.name, reason, tuple(ChosenColumn(column.name, reason) for column in table.columns), 0)
                for table in self._schema.tables
            )

        return Selection(self._schema, 0, 0, self._whole_text, self._whole_tokens, explain)

    def _counted(self, text: str) -> int:
        """The tokens of a text, line by line: lines come again, and tokenizers are slow."""
        total = 0
        for line in LINES.findall(text):
            if line not in self._line_tokens:
                self._line_tokens[line] = self._tokens(line)
            total += self._line_tokens[line]
        return total

    def _fitting(
        self, tables: Floats, columns: Floats, limit: int, forced: Sequence[int]
    ) -> tuple[Mapping[int, Sequence[int]], Schema, str]:
        """The last choice within the limit: what single lines cost does not add up exactly."""
        chooser = Chooser(self.index, tables, columns, limit, forced)
        spend, best = limit - _NOTE_TOKENS, None
        for _ in range(_ROUNDS):
            chosen = chooser.choose(spend)
            schema = self._trimmed(chosen)
            left_out = sum(len(self.index.columns_of[table]) - len(own) for table, own in chosen.items())
            missing = len(self._schema.tables) - len(chosen)
            text = schema_text(schema, self._lean, missing, left_out, chooser.usual_type)
            slack = limit - self._counted(text)
            if best is None or slack >= 0 or best[3] < 0:
                best = chosen, schema, text, slack
            if 0 <= slack < _WORTH_SPENDING:
                break
            spend += slack
        assert best is not None
        return best[:3]

    def _trimmed(self, chosen: Mapping[int, Sequence[int]]) -> Schema:
        """The schema with the chosen columns, and foreign keys only to tables that are in."""
        names = {self.index.tables[table].name.lower() for table in chosen}
        tables = []
        for table in sorted(chosen):
            columns = []
            for number in chosen[table]:
                column = self.index.columns[number]
                keys = tuple(key for key in column.foreign_keys if key.rpartition(".")[0].lower() in names)
                columns.append(column if keys == column.foreign_keys else replace(column, foreign_keys=keys))
            tables.append(replace(self.index.tables[table], columns=tuple(columns)))
        return Schema(self._schema.db_id, tuple(tables))

    def _chosen_table(self, table: int, columns: Sequence[int], explainer: SelectionExplainer) -> ChosenTable:
        shown = tuple(ChosenColumn(self.index.columns[c].name, explainer.column(c)) for c in columns)
        left_out = len(self.index.columns_of[table]) - len(columns)
        return ChosenTable(self.index.tables[table].name, explainer.table(table), shown, left_out)

    def _named(self, missing: Sequence[str]) -> list[int]:
        """The columns that a failure named, and all columns of tables that it named."""
        found: set[int] = set()
        for name in missing:
            plain = name.strip().lower()
            table, _, column = plain.rpartition(".")
            for number, known in enumerate(self._schema.tables):
                full = known.name.lower()
                own = full.rpartition(".")[2]
                if plain in (full, own):
                    found.update(self.index.columns_of[number])
                elif not table or table in (full, own):
                    place = self.index.column(number, column)
                    found.update([] if place is None else [place])
        return sorted(found)


def likelihoods(index: SchemaIndex, asked: QuestionFeatures, recalled: EarlierUse | None) -> tuple[Floats, Floats]:
    """How likely each table is needed, and each column where its table is."""
    if recalled is None:
        scores = weighted(asked.tables, TABLE, TABLE_BASE)
        columns = weighted(column_features(index, asked, likelihood(scores)), COLUMN, COLUMN_BASE)
    else:
        scores = weighted(np.hstack([asked.tables, recalled.tables]), TABLE_RECALLED, TABLE_RECALLED_BASE)
        own = column_features(index, asked, likelihood(scores))
        columns = weighted(np.hstack([own, recalled.columns]), COLUMN_RECALLED, COLUMN_RECALLED_BASE)
    named = asked.tables[:, TABLE_FEATURES.index("name")] >= _WHOLE_NAME
    scores = np.where(named, np.maximum(scores, NAMED), scores)
    return likelihood(SHARPER * scores), likelihood(columns)
