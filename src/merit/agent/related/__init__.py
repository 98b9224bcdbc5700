"""Ideas of related work under merit's rules: one file a method, named by it (docs/explanation/related.md).

All share the first answers, the judge, the budget of candidates and the causal order; what a method has the model write
besides SQL is counted as reflections are. None of them is the original system: each file says what was left out.
"""

from merit.agent.related import (
    ace,
    act_sql,
    chase_sql,
    critic,
    dail_sql,
    din_sql,
    expel,
    generative_agents,
    magic,
    memgpt,
    memo_sql,
    reasoning_bank,
    recode,
    self_debugging,
    self_refine,
    sqlfix_agent,
)

_IN_AN_EPISODE = (self_debugging, self_refine, critic, din_sql, chase_sql)
_EXAMPLES = (dail_sql, act_sql, recode, memo_sql, sqlfix_agent)
_LESSONS = (magic, expel, reasoning_bank, ace)
_MEMORIES = (generative_agents, memgpt)
RELATED = {module.METHOD.name: module.METHOD for module in (*_IN_AN_EPISODE, *_EXAMPLES, *_LESSONS, *_MEMORIES)}
