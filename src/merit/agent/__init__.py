"""The agent: methods as values, the episode, and what is left of it. Knows its judge as a Protocol and no reference."""

from merit.agent.behaviour import PAPER, Behaviour, Keep, Moment, NotingBehaviour, PaperBehaviour, Part, Recalled
from merit.agent.episode import Agent, repair
from merit.agent.feedback import SIMULATED_REVIEWER, learned_from, only_sure
from merit.agent.finalise import finalise, grade_of, polarity_of
from merit.agent.known_methods import all_methods, find_method, restored, unavailable
from merit.agent.method import Method, Origin
from merit.agent.method_table import METHODS
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
