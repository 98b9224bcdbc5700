"""What one server serves, and the state that its requests share."""

from dataclasses import dataclass, field
from pathlib import Path

from merit.errors import InputError
from merit.live import LiveAgent
from merit.report.page import FollowedRuns
from merit.settings import ServeSettings
from merit.web.access_tokens import TokenStore
from merit.web.kept_rows import KeptRows
from merit.web.limits import FAILURES_PER_MINUTE, ConcurrencyLimit, RateLimit
from merit.web.metrics import Metrics
from merit.web.names import Names
from merit.web.replies import RefusedRequest
from merit.web.running_asks import RunningAsks
from merit.web.running_proof import RunningProof
from merit.web.sessions import SessionStore

_REQUESTS_AT_A_TIME = 12  # of one person, besides questions: a browser has about six, and each may run a statement


@dataclass(frozen=True, slots=True)
class Site:
    """An agent, a folder of runs, or both; and who may use them."""

    names: Names
    folder: Path  # of the project: memory, history, tokens
    author: str  # the user's name, under which everything is recorded where no token is needed
    agent: LiveAgent | None = None
    runs: FollowedRuns | None = None
    memory: str = ""  # where the memory is, without secrets
    settings: ServeSettings = field(default_factory=ServeSettings)
    tokens: TokenStore = field(init=False)
    sessions: SessionStore = field(init=False)
    had_tokens: bool = field(init=False)  # at the start: revoking the last token opens nothing
    asks: RunningAsks = field(init=False)
    proof: RunningProof = field(init=False)
    requests: RateLimit = field(init=False)
    failures: RateLimit = field(init=False)
    at_a_time: ConcurrencyLimit = field(init=False)
    rows: KeptRows = field(default_factory=KeptRows)
    metrics: Metrics = field(default_factory=Metrics)

    def __post_init__(self) -> None:
        tokens = TokenStore(self.folder)
        made = {
            "tokens": tokens,
            "sessions": SessionStore(self.folder, tokens),
            "had_tokens": bool(tokens.listed()),
            "asks": RunningAsks(self.settings.asks_each, self.settings.asks, self.without_paths),
            "proof": RunningProof(self.folder, self.without_paths),
            "requests": RateLimit(self.settings.requests_per_minute),
            "failures": RateLimit(FAILURES_PER_MINUTE),
            "at_a_time": ConcurrencyLimit(_REQUESTS_AT_A_TIME + self.settings.asks_each),
        }
        for name, value in made.items():
            object.__setattr__(self, name, value)

    @property
    def needs_token(self) -> bool:
        """Whether a request needs a token."""
        return self.had_tokens or not self.names.local or bool(self.tokens.listed())

    def without_paths(self, sentence: str) -> str:
        """A sentence as other people may see it: files of the project by their names alone."""
        for folder in (self.folder.resolve(), self.folder):
            sentence = sentence.replace(f"{folder}/", "")
        return sentence

    def check(self) -> None:
        """Refuse to be reachable from other machines without a token."""
        if not self.names.local and not self.had_tokens:
            raise InputError(
                f"{self.names.address}: other machines can reach this address, and there is no token yet; make one "
                "with `merit token add NAME --may ask,confirm,curate`, or leave out --host and --public-url"
            )


def agent_of(site: Site) -> LiveAgent:
    """The agent; refused where only runs are served."""
    if site.agent is None:
        raise RefusedRequest(404, "this server shows runs only; start it with a database to ask")
    return site.agent
