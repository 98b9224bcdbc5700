"""Which tables and columns of a large schema go into a prompt."""

from merit.selection.confirmed import ConfirmedQuestions
from merit.selection.index import SchemaIndex, fingerprint
from merit.selection.index_cache import open_index
from merit.selection.selection import ChosenColumn, ChosenTable, Selection
from merit.selection.selector import BUDGET_TOKENS, Selector
from merit.selection.token_estimate import CountTokens, estimated_tokens
from merit.selection.used import names_used

__all__ = [
    "BUDGET_TOKENS",
    "ChosenColumn",
    "ChosenTable",
    "ConfirmedQuestions",
    "CountTokens",
    "SchemaIndex",
    "Selection",
    "Selector",
    "estimated_tokens",
    "fingerprint",
    "names_used",
    "open_index",
]
