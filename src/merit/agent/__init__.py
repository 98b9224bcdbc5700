"""The agent: methods as values, the episode, and what is left of it. Knows its judge as a Protocol and no reference."""

from merit.agent.episode import Agent, Attempt, Draft, Episode, Reflection, Task, repair
from merit.agent.finalise import finalise, grade_of, polarity_of
from merit.agent.method import METHODS, Method, find_method
from merit.agent.work import Work

__all__ = [
    "METHODS",
    "Agent",
    "Attempt",
    "Draft",
    "Episode",
    "Method",
    "Reflection",
    "Task",
    "Work",
    "finalise",
    "find_method",
    "grade_of",
    "polarity_of",
    "repair",
]
