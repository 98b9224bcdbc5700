"""What a person may be shown: nothing that is for other people alone, except to those who may curate the memory."""

from collections.abc import Callable

from merit.live import Asked, Feedback
from merit.live.record.uses import Use
from merit.live.record.visibility import Sight, visible
from merit.memory import Listed
from merit.web.access_tokens import Right
from merit.web.authentication import Person
from merit.web.site import Site, agent_of


def curates(who: Person) -> bool:
    """Whether a person decides what becomes of others' entries, and so sees them; prompts never do."""
    return Right.CURATE in who.may


def entries_for(site: Site, who: Person) -> list[Listed]:
    """The memory's entries that a person may be shown."""
    parts = agent_of(site).parts
    listed = parts.memory.listed()
    return listed if curates(who) else visible(listed, parts.viewer(who.author))


def sight_of(site: Site, who: Person) -> Callable[[Asked, Feedback | None], bool]:
    """Whether a person may be shown an answer and what was said about it, for all answers of one request."""
    parts = agent_of(site).parts
    return (lambda _asked, _said: True) if curates(who) else Sight(parts, parts.viewer(who.author)).sees


def answer_for(site: Site, who: Person, answer: str) -> Asked:
    """An answer that a person may be shown; refused otherwise."""
    agent = agent_of(site)
    return agent.answer(answer, author=looking_as(site, who, answer))[0]


def looking_as(site: Site, who: Person, answer: str) -> str:
    """As whom a person looks at an answer: a curator sees what the person who asked sees."""
    return agent_of(site).parts.history.find(answer)[0].author if curates(who) else who.author


def uses_for(site: Site, who: Person, uses: list[Use]) -> list[Use]:
    """Those later answers that a person may be shown."""
    words = {asked.id: feedback for asked, feedback in agent_of(site).parts.history.judged(use.asked for use in uses)}
    seen = sight_of(site, who)
    return [use for use in uses if seen(use.asked, words.get(use.asked.id))]
