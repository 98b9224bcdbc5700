"""Which tables and columns of a large schema go into a prompt.

`selector.Selector` chooses; a schema that fits the budget goes in whole and needs no index. `words` makes words of
names and questions, `index` holds a schema's words, keys, links and the cost of each line, `index_cache` keeps it.
`features` turns a question into numbers for each table and column, `confirmed` earlier questions whose SQL was
confirmed (`used` reads the names in it); `weights` has all constants. `choose` spends the budget: next comes what adds
most, for each token, to the chance that nothing needed is missing. `explain` says why each table and column is in.
`token_estimate` is for where no tokenizer is given.
"""

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
