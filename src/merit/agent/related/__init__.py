"""Ideas of related work under merit's rules: one file a method, named by it (docs/explanation/related.md).

All share the first answers, the judge, the budget of candidates and the causal order; what a method has the model write
besides SQL is counted as reflections are. None of them is the original system: each file says what was left out.
"""

from merit.agent.related import (
    ace,
    critic,
    dail_sql,
    expel,
    magic,
    memo_sql,
    reasoning_bank,
    self_debugging,
    self_refine,
)

_MODULES = (self_debugging, self_refine, critic, dail_sql, magic, expel, memo_sql, reasoning_bank, ace)
RELATED = {module.METHOD.name: module.METHOD for module in _MODULES}
