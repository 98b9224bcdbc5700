"""What one server serves, and the state that its requests share."""

from dataclasses import dataclass, field
from pathlib import Path

from merit.live import LiveAgent
from merit.report.page import LiveRuns
from merit.web.asks import RunningAsks
from merit.web.names import Names
from merit.web.tokens import TokenStore


@dataclass(frozen=True, slots=True)
class Site:
    """An agent, a folder of runs, or both; and who may use them."""

    names: Names
    tokens: TokenStore
    needs_token: bool  # decided at the start: revoking the last token opens nothing
    author: str  # the user's name, under which everything is recorded where no token is needed
    agent: LiveAgent | None = None
    runs: LiveRuns | None = None
    memory: str = ""  # where the memory is, without secrets
    folder: Path = Path(".merit")
    asks: RunningAsks = field(default_factory=lambda: RunningAsks(4, 64))
