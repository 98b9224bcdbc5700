"""Who calls a tool: the person whose machine or token it is, their rights, and the program that calls for them."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from mcp.server.auth.middleware.bearer_auth import AuthenticatedUser
from mcp.server.mcpserver import Context

from merit.errors import InputError
from merit.web.access_tokens import Right

ToolContext = Context[Any, Any]
_LONGEST_PROGRAM = 60  # characters of a program's name, which it gives itself


@dataclass(frozen=True, slots=True)
class Caller:
    """A person by name, what their token allows, and the program that speaks for them."""

    author: str
    may: frozenset[Right]
    program: str = ""

    def need(self, right: Right) -> None:
        """Raise unless the caller has a right."""
        if right not in self.may:
            raise InputError(f"your token does not allow this; it needs the right {right.value!r}")


FindCaller = Callable[[ToolContext], Caller]


def owner(author: str) -> FindCaller:
    """The user of this machine, who may do everything: on standard input and output there is no other caller."""
    return lambda context: Caller(author, frozenset(Right), program(context))


def token_holder(author: str) -> FindCaller:
    """The holder of the token that a request came with; where none is needed, the user of this machine."""

    def find(context: ToolContext) -> Caller:
        request = context.request_context.request
        user = request.scope.get("user") if request is not None else None
        if isinstance(user, AuthenticatedUser):
            return Caller(user.username, frozenset(map(Right, user.scopes)), program(context))
        return owner(author)(context)

    return find


def program(context: ToolContext) -> str:
    """What the calling program says its name is, as one short word or two; it can say anything."""
    params = context.session.client_params
    name = params.client_info.name if params is not None else ""
    return "".join(character for character in name if character.isprintable())[:_LONGEST_PROGRAM] or "a program"
