"""Whether functions of a database's own are volatile, asked of its catalogue once for each name."""

from collections.abc import Callable


class Volatility:
    """Remembers what a catalogue says of a function; one that is not there yet is asked for again."""

    def __init__(self, ask: Callable[[str], bool | None]) -> None:
        self._ask = ask
        self._known: dict[str, bool] = {}

    def __call__(self, name: str) -> bool | None:
        """True where a function of this name is volatile or writes, False where it is not, None where there is none."""
        known = self._known.get(name)
        if known is None and (answer := self._ask(name)) is not None:
            known = self._known[name] = bool(answer)
        return known
