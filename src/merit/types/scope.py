"""Whom an entry is for: the person who said it, a team, or everyone who asks about its database.

A scope is a text, `personal:ada` or `team:sales`; None stands for everyone.
"""

import re
from dataclasses import dataclass
from enum import StrEnum

_SCOPE = re.compile(r"(?:personal|team):(?=.*\S)[^\x00-\x1f\x7f]{1,200}")


class ScopeKind(StrEnum):
    """How far what a person says goes, the narrowest first."""

    PERSONAL = "personal"
    TEAM = "team"
    DATABASE = "database"


@dataclass(frozen=True, slots=True)
class Viewer:
    """Who asks, and for which team: what such a person may be shown."""

    author: str = ""
    team: str = ""

    @property
    def scopes(self) -> tuple[str, ...]:
        """The scopes that are this person's, besides what is for everyone."""
        named = [(ScopeKind.PERSONAL, self.author), (ScopeKind.TEAM, self.team)]
        return tuple(f"{kind}:{name}" for kind, name in named if name)

    def sees(self, scope: str | None) -> bool:
        """Whether an entry of this scope may be shown."""
        return scope is None or scope in self.scopes


EVERYONE = Viewer()  # sees only what is for everyone


def is_scope(text: str) -> bool:
    """Whether a text is a scope."""
    return _SCOPE.fullmatch(text) is not None


def scope_kind(scope: str | None) -> ScopeKind:
    """How far a scope goes."""
    return ScopeKind.DATABASE if scope is None else ScopeKind(scope.partition(":")[0])


def shown_scope(scope: str | None) -> str:
    """A scope in words."""
    if scope is None:
        return "everyone"
    kind, _, name = scope.partition(":")
    return f"{name} alone" if kind == ScopeKind.PERSONAL else f"the team {name}"


def covers(scope: str | None, other: str | None) -> bool:
    """Whether all who see one scope surely see the other, too: who is in a team is not known here."""
    return scope in (None, other)
