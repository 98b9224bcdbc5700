"""Messages of a database without values: for `rows = "never"`, before a message is shown to a model or written down.

A message may quote a stored value (`invalid input syntax for type integer: "Smith"`), in any place and with or without
quotes. So a word stays only where it is known to be no value: it stands in the statement, it names a table or a column,
or it belongs to the words that databases complain with.
"""

import re
from dataclasses import dataclass, replace

from merit.types import Engine, Error, Health, Limits, Result, Schema

_WORD = re.compile(r"[\w$]+")
_LONGEST = 500  # characters of a message
_HIDDEN = "…"
_COMPLAINTS = frozenset(
    """
    a access after aggregate aggregated aggregates aggregation alias all already ambiguous an and any applied are
    argument arguments array as at attempt be before bigint binder bit boolean both but by call called can candidate
    candidates cannot cast casts catalog char character check clause closed column columns comparison complete compound
    connection consider constant constraint contain contains conversion convert converted could create cross cte
    database date datetime decimal defined deleted denied depth did different disabled division do does double
    duplicate each element elements else empty end ended entry error escape exceeded execute execution exist exists
    expected explicit expression expressions extension failed field fields file find float flow for forbidden foreign
    format found from full function functions given greater group grouping has have having hint identifier if ilike
    implicit in incomplete incorrect index inner input insert int integer interval into invalid is it join json key
    large left length level levels like limit line list literal log long lower malformed many maximum mean memory might
    misuse mode more must name named names near need needs negative nested no non not null number numeric object of
    offset on one only operand operator operators or order other out over overflow parameter parser parse partition
    pattern perhaps permission point position possible precision procedure query range read real recursive reference
    referenced regexp relation requires result returned returns right row rows same scalar schema select set should
    similar size smallint sort stack statement string subquery such supported syntax system table tables temporary
    terminated text than that the then this time timeout timestamp tinyint to token too transaction tried truncated try
    type types unable undefined unexpected union unique unknown unrecognized unsupported unterminated update usage use
    used using valid value values varchar view was were when where which window with within without would write
    wrong you your zero
    """.split()  # noqa: SIM905 - three hundred words
)


@dataclass(frozen=True, slots=True)
class ScrubbedEngine:
    """An engine whose messages hold no stored value; rows still go to the person who asked."""

    engine: Engine
    names: frozenset[str]  # of tables and columns

    @property
    def dialect(self) -> str:
        """The engine's own."""
        return self.engine.dialect

    def execute(self, sql: str, limits: Limits) -> Result:
        """The engine's result; of a message, only what is known to be no value. Its code stays."""
        result = self.engine.execute(sql, limits)
        if not isinstance(result, Error):
            return result
        message, hint = (scrubbed(text, sql, self.names) for text in (result.message, result.hint))
        return replace(result, message=message, hint=hint)

    def schema(self) -> Schema:
        """The engine's own."""
        return self.engine.schema()

    def health(self) -> Health:
        """The engine's own."""
        return self.engine.health()

    def close(self) -> None:
        """Close the engine."""
        self.engine.close()


def names_of(schema: Schema) -> frozenset[str]:
    """The words in the names of tables and columns."""
    names = [name for table in schema.tables for name in (table.name, *(column.name for column in table.columns))]
    return _words(" ".join(names))


def scrubbed(message: str, sql: str, names: frozenset[str]) -> str:
    """A message about a statement, with every word that may be a stored value hidden."""
    known = _COMPLAINTS | names | _words(sql)
    shown = _WORD.sub(lambda word: word[0] if word[0].casefold() in known else _HIDDEN, message[: 4 * _LONGEST])
    return shown[:_LONGEST]


def _words(text: str) -> frozenset[str]:
    return frozenset(word.casefold() for word in _WORD.findall(text))
