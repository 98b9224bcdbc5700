"""Whether functions of a database's own are volatile, asked of its catalogue once for each statement."""

import re
from collections.abc import Callable, Mapping

_WORD = re.compile(r"[^\W\d][\w$]*")
_QUOTED = re.compile(r'"((?:[^"]|"")*)"|`((?:[^`]|``)*)`')


class Volatility:
    """Remembers what a catalogue says of functions; one that is not there yet is asked for again."""

    def __init__(self, ask: Callable[[list[str]], Mapping[str, bool]], built_in: frozenset[str] = frozenset()) -> None:
        """`ask` gets names, and says of those that are functions whether any of that name is volatile or writes.

        `built_in` has names that the catalogue knows only where the database has a function of its own under them:
        they are asked for once, with the first statement, since nearly every statement calls some.
        """
        self._ask = ask
        self._built_in = built_in
        self._known: dict[str, bool] = {}
        self._lacking: frozenset[str] = frozenset()  # of the built-in ones

    def of(self, sql: str) -> Callable[[str], bool | None]:
        """For the names in one statement: True for a volatile function, False for another one, None for other names.

        All names of the statement are asked for at once: a query with a thousand columns must not cost a thousand
        queries of the catalogue before its own time limit begins.
        """
        absent: set[str] = set()

        def volatile(name: str) -> bool | None:
            if name not in self._known and name not in absent and name not in self._lacking:
                names = {name, *_names(sql), *self._built_in} - self._known.keys() - absent - self._lacking
                self._known |= {found: bool(answer) for found, answer in self._ask(sorted(names)).items()}
                absent.update(names - self._known.keys())
                self._lacking |= absent & self._built_in
            return self._known.get(name)

        return volatile


def _names(sql: str) -> set[str]:
    """Every name that a statement may hold, and more: as it stands and in lower case."""
    found = set(_WORD.findall(sql))
    found |= {a.replace('""', '"') or b.replace("``", "`") for a, b in _QUOTED.findall(sql)}
    return {form for name in found for form in (name, name.lower())}
