"""Reading a model's reply. Every reply can be read; one without SQL gives an empty text.

SQL is taken from the first of these that is there:
1. the last complete `<answer>...</answer>` that is not empty (a model that corrects itself means its last word);
2. what follows a last `<answer>` that was never closed (the reply was cut off);
3. the last code fence, closed or not, that begins like a query, or else the last one;
4. from the first line that begins like a query, or else the first SELECT in capitals, to a semicolon or blank line.
Before that, thoughts (everything up to the last `</think>`) are dropped, and inside a tag a code fence is peeled off.
"""

import re

_TAG = re.compile(r"<(/?)answer>", re.IGNORECASE)
_FENCE = re.compile(
    r"^[ \t]*```(?:(?!select\b|with\b)[\w+-]*[ \t]*\r?\n|(?!select\b|with\b)[\w+-]+[ \t]+)?(.*?)(?:```|\Z)",
    re.DOTALL | re.IGNORECASE | re.MULTILINE,
)
_QUERY = r"(?:select\b|with\s+(?:recursive\s+)?[\w\"`]+\s*(?:\([^()]*\)\s*)?as\s*(?:not\s+)?(?:materialized\s*)?\()"
_BEGINS = re.compile(rf"\s*{_QUERY}", re.IGNORECASE)
_LINE = re.compile(rf"^[ \t]*{_QUERY}", re.IGNORECASE | re.MULTILINE)
_UPPERCASE_SELECT = re.compile(r"\bSELECT\b")
# What may hold a semicolon or a blank line without ending a statement. In SQLite's replies a quote that is never closed
# is passed over, for the others it goes on to the end.
_POSTGRESQL_QUOTED = (
    r"(?<!\w)[eE]'(?:[^'\\]|\\.)*+(?:'|\Z)|'[^']*(?:'|\Z)|\"[^\"]*(?:\"|\Z)"
    r"|\$(?P<tag>(?:[A-Za-z_]\w*)?)\$.*?(?:\$(?P=tag)\$|\Z)|--[^\n]*|/\*.*?(?:\*/|\Z)"
)
_MYSQL_QUOTED = (
    r"'(?:[^'\\]|\\.)*+(?:'|\Z)|\"(?:[^\"\\]|\\.)*+(?:\"|\Z)|`[^`]*(?:`|\Z)"
    r"|\#[^\n]*|--(?=\s)[^\n]*|/\*.*?(?:\*/|\Z)"
)
_QUOTED = {
    "sqlite": r"'[^']*'|\"[^\"]*\"",
    "postgresql": _POSTGRESQL_QUOTED,
    "mysql": _MYSQL_QUOTED,
    "mariadb": _MYSQL_QUOTED,
    "duckdb": _POSTGRESQL_QUOTED,
}
_END = {dialect: re.compile(rf"(?:{quoted})|(?P<end>;|\n[ \t\r]*\n)", re.DOTALL) for dialect, quoted in _QUOTED.items()}
_REFLECTION = re.compile(r"<reflection>(.*?)(?:</reflection>|\Z)", re.DOTALL | re.IGNORECASE)
_LONGEST_NOTE = 4000  # characters
_THOUGHT = re.compile(r"</think>", re.IGNORECASE)
_DECLINED = re.compile(r"^[ \t>*`]*+(?:(?:--|\#)[ \t`*]*+)?UNANSWERABLE\b[ \t:.*`-]*(.*)$", re.MULTILINE)
_LONGEST_REASON = 300  # characters


def parse_sql(reply: str, dialect: str = "sqlite") -> str:
    """The SQL in a reply, or an empty text; the dialect decides what a quoted semicolon looks like."""
    text = _without_thoughts(reply) or reply  # a model that never ended its thoughts may have answered in them
    answer = _answer(text)
    if answer is not None:
        return _fenced(answer) or answer
    return _fenced(text) or _statement(text, dialect)


def parse_decline(reply: str) -> str | None:
    """Why a model says that a question cannot be answered; None where it does not say so.

    It says so by a line `-- UNANSWERABLE: reason` in place of a query, as prompts for live use offer; a query that
    follows such a line is an invention.
    """
    text = _without_thoughts(reply) or reply
    answer = _answer(text)
    body = (_fenced(answer) or answer) if answer is not None else (_fenced(text) or text)
    declined, query = _DECLINED.search(body), _LINE.search(body)
    if declined is None or (query is not None and query.start() < declined.start()):
        return None
    reason = "".join(char if char.isprintable() else " " for char in declined[1])
    return reason.strip(" `*")[:_LONGEST_REASON] or "the model does not say what is missing"


def parse_reflection(reply: str) -> str:
    """The reflection in a reply, on one line: what its tag holds, or else all of it."""
    text = _without_thoughts(reply)
    tagged = _REFLECTION.search(text)
    return " ".join((tagged[1] if tagged else text).split()) or "(none)"


def parse_note(reply: str) -> str:
    """What a reply says in its own lines, without thoughts and within bounds."""
    lines = [line.rstrip() for line in _without_thoughts(reply).strip().splitlines()]
    return "\n".join(lines)[:_LONGEST_NOTE] or "(none)"


def _without_thoughts(reply: str) -> str:
    thoughts = list(_THOUGHT.finditer(reply))
    return reply[thoughts[-1].end() :].strip() if thoughts else reply


def _answer(text: str) -> str | None:
    """What the last answer tag holds."""
    whole, opened = None, None
    for tag in _TAG.finditer(text):
        if not tag[1]:
            opened = tag.end()
        elif opened is not None:
            inside = text[opened : tag.start()].strip()
            whole = inside or whole
            opened = None
    if whole is None and opened is not None:
        whole = text[opened:].strip() or None
    return whole


def _fenced(text: str) -> str:
    fences = [fence[1].strip() for fence in _FENCE.finditer(text) if fence[1].strip()]
    queries = [fence for fence in fences if _BEGINS.match(fence)]
    return (queries or fences or [""])[-1]


def _statement(text: str, dialect: str) -> str:
    begins = _LINE.search(text) or _UPPERCASE_SELECT.search(text)
    if begins is None:
        return ""
    statement = text[begins.start() :]
    end = next((match.start() for match in _END[dialect].finditer(statement) if match["end"]), len(statement))
    return statement[:end].strip()
