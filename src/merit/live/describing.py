"""The schema in words: all of it where it is small, what a question needs, or one table."""

import difflib
from dataclasses import dataclass, replace

from merit.errors import InputError
from merit.live.asking.preparing import shown_of
from merit.live.parts import LiveParts
from merit.reading import shown

_MOST_NAMES = 500  # of tables that are listed where the schema is too large to be shown


@dataclass(frozen=True, slots=True)
class Description:
    """CREATE TABLE statements, with example values where rows may be shown, and the notes that people wrote down."""

    text: str
    tables: tuple[str, ...]  # that the text shows, or only names
    left_out: int  # tables that it does not show
    notes: tuple[str, ...]


def describe(parts: LiveParts, question: str = "", table: str = "", *, author: str = "") -> Description:
    """One table, or what the prompts of a person's question would show; without both, everything that fits into one."""
    if table:
        return _one_table(parts, table)
    selection = parts.selection.choose(question, viewer=parts.viewer(author)) if parts.selection is not None else None
    if selection is not None and not selection.whole and not question.strip():
        return _names(parts)
    schema = parts.schema if selection is None else selection.schema
    names = tuple(found.name for found in schema.tables)
    left_out = len(parts.schema.tables) - len(names)
    return Description(shown_of(parts, selection).tables, names, left_out, parts.notes)


def _one_table(parts: LiveParts, table: str) -> Description:
    by_name = {found.name.casefold(): found for found in parts.schema.tables}
    found = by_name.get(table.casefold())
    if found is None:
        near = difflib.get_close_matches(table.casefold()[:200], by_name, 1)
        other = f"did you mean {by_name[near[0]].name!r}?" if near else "leave it out to see which there are"
        raise InputError(f"there is no table {shown(table)}; {other}")
    text = parts.texts.context(replace(parts.schema, tables=(found,))).tables
    return Description(text, (found.name,), len(by_name) - 1, ())


def _names(parts: LiveParts) -> Description:
    names = tuple(found.name for found in parts.schema.tables)
    listed = names[:_MOST_NAMES]
    cut = f", and {len(names) - len(listed)} more" if len(listed) < len(names) else ""
    text = f"-- {len(names)} tables, too many to show; give a question or a table:\n{', '.join(listed)}{cut}"
    return Description(text, listed, len(names) - len(listed), parts.notes)
