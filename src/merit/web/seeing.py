"""What a person is shown: nothing that is for other people alone, unless they curate the memory."""

from merit.live.parts import LiveParts
from merit.live.records import Asked, Feedback
from merit.live.seeing import sees_answer, visible
from merit.live.uses import Use
from merit.memory import Listed
from merit.types import Viewer
from merit.web.people import Person
from merit.web.tokens import Right


def viewer_of(parts: LiveParts, who: Person) -> Viewer | None:
    """What a person may be shown of the memory; None for one who curates it, and is shown everything."""
    return None if Right.CURATE in who.may else parts.viewer(who.author)


def seen_entries(parts: LiveParts, who: Person) -> list[Listed]:
    """The entries that a person may be shown."""
    listed, viewer = parts.memory.listed(), viewer_of(parts, who)
    return listed if viewer is None else visible(listed, viewer)


def sees(parts: LiveParts, who: Person, asked: Asked, said: Feedback | None) -> bool:
    """Whether a person may be shown an answer."""
    return sees_answer(parts, asked, said, parts.viewer(who.author))


def seen_uses(parts: LiveParts, who: Person, uses: list[Use]) -> list[Use]:
    """Those answers that a person may be shown."""
    return [use for use in uses if sees(parts, who, use.asked, None)]
