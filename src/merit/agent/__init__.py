"""The agent: methods as values, the episode, and what is left of it. Knows its judge as a Protocol and no reference.

- `episode`: `repair` is Algorithm 1 for one question. It reads the memory and never writes it; `finalise` turns a
  finished episode into at most one entry. `rules` has the rules of an episode, which runs and audits share,
  `trajectory` its nouns.
- `method`: a method is a value of `Method`; `methods` has the paper's, `known_methods` finds one by name, those of
  other packages too (entry point group `merit.methods`), `variants` changes single fields by name, and `related` has
  ideas of related work, one file each.
- `behaviour`: what a method decides besides its fields: what to recall, how to ask, what to keep. A behaviour sees a
  `Moment`, which holds only what it declares. `notes` asks for what a behaviour has the model write besides SQL.
- `oracle_wrappers`: an `Oracle` in a thread, one statement at a time, or with the verdicts of a run remembered.
- `agreement`: which candidate stands where no oracle says what is right, and its share of votes; `confidence`: how
  often such a share was right, which decides nothing in a run.
- `feedback`: the entries that come of what is said about an answer, by people or by a simulated reviewer.

A draw that repeats an earlier candidate is set aside. Two texts count as the same candidate only by `sql.canonical`,
since a candidate must never be given another one's verdict.
"""

from merit.agent.behaviour import PAPER, Behaviour, Keep, Moment, NotingBehaviour, PaperBehaviour, Part, Recalled
from merit.agent.episode import Agent, repair
from merit.agent.feedback import SIMULATED_REVIEWER, learned_from, only_sure
from merit.agent.finalise import finalise, grade_of, polarity_of
from merit.agent.known_methods import all_methods, find_method, restored, unavailable
from merit.agent.method import Method, Origin
from merit.agent.methods import METHODS
from merit.agent.oracle_wrappers import KnownVerdicts, OneAtATime, RememberingOracle, ThreadedOracle
from merit.agent.related import RELATED
from merit.agent.trajectory import Attempt, Episode, FirstAnswer, Reflection, RefusedStatement, Task
from merit.agent.work import Work

__all__ = [
    "METHODS",
    "PAPER",
    "RELATED",
    "SIMULATED_REVIEWER",
    "Agent",
    "Attempt",
    "Behaviour",
    "Episode",
    "FirstAnswer",
    "Keep",
    "KnownVerdicts",
    "Method",
    "Moment",
    "NotingBehaviour",
    "OneAtATime",
    "Origin",
    "PaperBehaviour",
    "Part",
    "Recalled",
    "Reflection",
    "RefusedStatement",
    "RememberingOracle",
    "Task",
    "ThreadedOracle",
    "Work",
    "all_methods",
    "finalise",
    "find_method",
    "grade_of",
    "learned_from",
    "only_sure",
    "polarity_of",
    "repair",
    "restored",
    "unavailable",
]
