"""When two identifiers are one name, written differently."""

from functools import lru_cache


@lru_cache(maxsize=1 << 16)
def plain(name: str) -> str:
    """A name without case and separators, so that `Stu_ID` and `stuid` are the same."""
    return "".join(character for character in name.lower() if character.isalnum())


@lru_cache(maxsize=1 << 16)
def singular(name: str) -> str:
    """A plain name without the ending of an English plural."""
    for ending, instead in (("ies", "y"), ("sses", "ss"), ("xes", "x"), ("ches", "ch"), ("s", "")):
        if name.endswith(ending) and len(name) > len(ending) + 1 and not name.endswith("ss"):
            return name[: -len(ending)] + instead
    return name


def edits_allowed(name: str) -> int:
    """How many letters may differ: short names are too alike."""
    return 0 if len(name) < 4 else 1 if len(name) < 7 else 2


def edits(one: str, other: str, most: int) -> int:
    """How many letters were exchanged, left out, added or swapped with their neighbours; `most + 1` for more."""
    if abs(len(one) - len(other)) > most:
        return most + 1
    before: list[int] = []
    row = list(range(len(other) + 1))
    for i, letter in enumerate(one, 1):
        last, before, row = before, row, [i]
        for j, wanted in enumerate(other, 1):
            cost = min(before[j] + 1, row[j - 1] + 1, before[j - 1] + (letter != wanted))
            if i > 1 and j > 1 and letter == other[j - 2] and one[i - 2] == wanted:
                cost = min(cost, last[j - 2] + 1)
            row.append(cost)
        if min(row) > most:
            return most + 1
    return row[-1]


def nearest(name: str, known: list[str]) -> str | None:
    """The only known name that this one must mean: the same letters, its plural, or a typing error apart."""
    wanted = plain(name)
    if not wanted:
        return None
    forms = [(other, plain(other)) for other in known]
    same = [other for other, form in forms if form == wanted]
    if not same:
        same = [other for other, form in forms if singular(form) == singular(wanted)]
    for most in range(1, edits_allowed(wanted) + 1):
        same = same or [other for other, form in forms if edits(form, wanted, most) <= most]
    return same[0] if len(same) == 1 else None
