"""Variants of a method: the same with other fields, and whether its fields go together."""

from dataclasses import replace
from difflib import get_close_matches
from enum import Enum
from math import inf
from typing import Any

from merit.agent.behaviour import NotingBehaviour
from merit.agent.method import Method
from merit.errors import InputError
from merit.memory import RecallPolicy
from merit.types import Polarity


def varied(method: Method, change: str, name: str) -> Method:
    """A method with one field changed, as `field=value` says; `name` is what the user wrote, for messages."""
    field, _, text = change.partition("=")
    owner: Method | RecallPolicy | None = method if field in _FIELDS else method.recall
    if owner is None or field not in owner.__dataclass_fields__ or field in _FIXED:
        raise InputError(
            f"method {name!r}: {field!r} is not a field of it that can be changed; {_instead(method, field)}"
        )
    try:
        changed: Any = replace(owner, **{field: _value(text, getattr(owner, field))})
    except ValueError:
        raise InputError(
            f"method {name!r}: {field!r} cannot be {text!r}; give {_wanted(getattr(owner, field))}"
        ) from None
    return changed if owner is method else replace(method, recall=changed)


_FIXED = ("name", "summary", "recall", "writes", "seed", "online", "random_seed", "behaviour", "origin")
_MAX_TEMPERATURE = 1000.0  # no model's temperature has a meaning beyond 2
_FIELDS = frozenset(Method.__dataclass_fields__)


# What belongs to a run: options of `merit run`, fields of a grid file, arguments in Python.
_OF_RUNS = ("budget", "seed", "limit", "regime", "encoder", "model")


def _instead(method: Method, field: str) -> str:
    """What to do where a field cannot be changed: the option that is meant, the nearest field, or where all are."""
    if field in _OF_RUNS:
        return f"it belongs to the run: give --{field}, or say it in the grid file or in Python"
    fields = {*_FIELDS, *(RecallPolicy.__dataclass_fields__ if method.recall else ())} - set(_FIXED)
    near = get_close_matches(field, sorted(fields), 1)
    return f"did you mean {near[0]!r}?" if near else "`merit methods --json` lists its fields"


def _value(text: str, old: Any) -> Any:
    """A field's new value, of the kind of its old one."""
    if isinstance(old, bool):
        if text not in ("true", "false"):
            raise ValueError(text)
        return text == "true"
    value = type(old)(text)
    if isinstance(value, int | float) and not 0 <= value < inf:
        raise ValueError(text)
    return value


def _wanted(old: Any) -> str:
    """What a field may be, in words, by the kind of its old value."""
    if isinstance(old, bool):
        return "true or false"
    if isinstance(old, Enum):
        return " or ".join(str(choice.value) for choice in type(old))
    return "a whole number, 0 or more" if isinstance(old, int) else "a number, 0 or more"


def out_of_bounds(method: Method) -> str | None:
    """What number of a method is out of bounds, in words, if one is."""
    if not 0 <= method.agreed <= 1:
        return "'agreed' is a share of the candidates: 1 at most"
    if not 0 <= method.grounded_vote <= 1:
        return "'grounded_vote' is a share of a whole vote: 1 at most"
    if not 0 <= method.temperature <= _MAX_TEMPERATURE:
        return f"'temperature' should be a number from 0 to {_MAX_TEMPERATURE:g}"
    return method.recall.out_of_bounds() if method.recall else None


def contradiction(method: Method) -> str | None:
    """Why fields contradict each other, or None: one would silently cancel what another asks for."""
    policy = method.recall
    if method.draws < 1:
        return "'draws' should be 1 or more"
    if why := out_of_bounds(method):
        return why
    if method.draws > 1 and not method.temperature:
        return "'draws' above 1 need a 'temperature', or the same answer is drawn again and again"
    if not method.history and (method.reflects or method.demonstrations):
        return "without 'history' a prompt is a first prompt, which shows neither reflections nor examples"
    if method.notes and not isinstance(method.behaviour, NotingBehaviour):
        return "it takes 'notes', but its behaviour has no `note` and `read` to ask for them and read them"
    if {Polarity.POSITIVE, Polarity.PRECEDENT} <= method.writes:
        return "it keeps changes and answers, and an episode leaves one entry: leave out one of them"
    if policy is None:
        return None
    if not method.history and (policy.positives or policy.negatives):
        return "without 'history' a prompt is a first prompt, which shows no changes; set positives=0,negatives=0"
    if unkept := [polarity for polarity in policy.pools if polarity is not None and polarity not in method.writes]:
        return f"it keeps no {unkept[0]} entries, so none could be recalled"
    if policy.random_seed is None and not (policy.dense or policy.lexical or policy.recency):
        return "'dense' and 'lexical' are both false, so nothing is left to rank by"
    return None
