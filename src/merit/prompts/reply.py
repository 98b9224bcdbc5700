"""Reading a model's reply. Whatever it says, something comes back; nothing at all is the empty text.

SQL is taken from the first of these that is there:
1. the last complete `<answer>...</answer>` (a model that corrects itself means its last word);
2. what follows the last `<answer>` that was never closed (the reply was cut off);
3. the last code fence, closed or not;
4. from the first line that begins with SELECT or WITH, up to the first semicolon or blank line.
Before that, everything up to the last `</think>` is dropped; inside a tag, a code fence around the SQL is peeled off.
"""

import re

_ANSWER = re.compile(r"<answer>(.*?)</answer>", re.DOTALL | re.IGNORECASE)
_OPEN_ANSWER = re.compile(r".*<answer>(.*)", re.DOTALL | re.IGNORECASE)
_FENCE = re.compile(r"```[a-z0-9]*[ \t]*\n?(.*?)(?:```|\Z)", re.DOTALL | re.IGNORECASE)
_STATEMENT = re.compile(r"^[ \t]*((?:select|with)\b.*?)(?:;|\n[ \t]*\n|\Z)", re.DOTALL | re.IGNORECASE | re.MULTILINE)
_REFLECTION = re.compile(r"<reflection>(.*?)(?:</reflection>|\Z)", re.DOTALL | re.IGNORECASE)
_THOUGHT = "</think>"


def parse_sql(reply: str) -> str:
    """The SQL in a reply, or an empty text."""
    said = reply.rpartition(_THOUGHT)[2]
    answers = [answer for answer in _ANSWER.findall(said) if answer.strip()]
    if answers:
        return _bare(answers[-1])
    if (cut_off := _OPEN_ANSWER.fullmatch(said)) and cut_off[1].strip():
        return _bare(cut_off[1])
    if fences := [fence for fence in _FENCE.findall(said) if fence.strip()]:
        return str(fences[-1]).strip()
    statement = _STATEMENT.search(said)
    return statement[1].strip() if statement else ""


def parse_reflection(reply: str) -> str:
    """The reflection in a reply, on one line: what its tag holds, or else all of it."""
    said = reply.rpartition(_THOUGHT)[2]
    tagged = _REFLECTION.search(said)
    return " ".join((tagged[1] if tagged else said).split()) or "(none)"


def _bare(answer: str) -> str:
    fence = _FENCE.search(answer)
    return (fence[1] if fence and fence[1].strip() else answer).strip()
