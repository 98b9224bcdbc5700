"""Reading a model's reply. Whatever it says, something comes back; nothing at all is the empty text.

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
_SHOUTED = re.compile(r"\bSELECT\b")
_END = re.compile(r"'[^']*'|\"[^\"]*\"|(;|\n[ \t\r]*\n)")  # quoted text ends nothing
_REFLECTION = re.compile(r"<reflection>(.*?)(?:</reflection>|\Z)", re.DOTALL | re.IGNORECASE)
_THOUGHT = re.compile(r"</think>", re.IGNORECASE)


def parse_sql(reply: str) -> str:
    """The SQL in a reply, or an empty text."""
    said = _without_thoughts(reply) or reply  # a model that never came out of its thoughts may have said it there
    answer = _answer(said)
    if answer is not None:
        return _fenced(answer) or answer
    return _fenced(said) or _statement(said)


def parse_reflection(reply: str) -> str:
    """The reflection in a reply, on one line: what its tag holds, or else all of it."""
    said = _without_thoughts(reply)
    tagged = _REFLECTION.search(said)
    return " ".join((tagged[1] if tagged else said).split()) or "(none)"


def _without_thoughts(reply: str) -> str:
    thoughts = list(_THOUGHT.finditer(reply))
    return reply[thoughts[-1].end() :].strip() if thoughts else reply


def _answer(said: str) -> str | None:
    """What the last answer tag holds."""
    whole, opened = None, None
    for tag in _TAG.finditer(said):
        if not tag[1]:
            opened = tag.end()
        elif opened is not None:
            inside = said[opened : tag.start()].strip()
            whole = inside or whole
            opened = None
    if whole is None and opened is not None:
        whole = said[opened:].strip() or None
    return whole


def _fenced(text: str) -> str:
    fences = [found[1].strip() for found in _FENCE.finditer(text) if found[1].strip()]
    queries = [fence for fence in fences if _BEGINS.match(fence)]
    return (queries or fences or [""])[-1]


def _statement(said: str) -> str:
    begins = _LINE.search(said) or _SHOUTED.search(said)
    if begins is None:
        return ""
    text = said[begins.start() :]
    end = next((found.start() for found in _END.finditer(text) if found[1]), len(text))
    return text[:end].strip()
