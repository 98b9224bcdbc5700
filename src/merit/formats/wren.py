"""WrenAI's knowledge: a Markdown file a pair in `knowledge/sql/`, with `nl` and `sql` in its front matter.

Older projects have them in one `queries.yml`, under `pairs`.
https://github.com/Canner/WrenAI/blob/main/core/wren/src/wren/memory/markdown.py
"""

from collections.abc import Iterator, Sequence

from merit.errors import InputError
from merit.formats.names import unique_names
from merit.formats.pair import Document, FoundPairs, Pair, SkippedPair, found, pair_of
from merit.formats.yaml_items import MOST_EVENTS, items_of
from merit.reading import shown
from merit.yaml import parse_yaml, yaml_text

FOLDER = "knowledge/sql"
_FENCE = "---"


def read_wren(documents: Sequence[Document]) -> FoundPairs:
    """The pairs of Markdown files and of `queries.yml`."""
    return found(item for document in documents for item in _items(document))


def _items(document: Document) -> Iterator[Pair | SkippedPair]:
    if document.path.suffix != ".md":
        for where, item in items_of(document, "pairs"):
            yield pair_of(item.get("nl"), item.get("sql"), where)
        return
    where, matter = str(document.path), _front_matter(document)
    if matter is None:
        yield SkippedPair(where, "has no front matter between two lines ---")
        return
    front = parse_yaml(matter, document.path, first_line=2, most_events=MOST_EVENTS)
    if not isinstance(front, dict):
        raise InputError(f"{where}: its front matter should have the fields nl and sql, not {shown(front)}")
    yield pair_of(front.get("nl"), front.get("sql"), where)


def _front_matter(document: Document) -> str | None:
    first, _, rest = document.text.partition("\n")
    if first.strip() != _FENCE:
        return None
    lines = [line.rstrip("\r") for line in rest.split("\n")]
    return "\n".join(lines[: lines.index(_FENCE)]) + "\n" if _FENCE in lines else None


def write_wren(pairs: Sequence[Pair]) -> dict[str, str]:
    """A Markdown file a pair, as `wren memory store` writes it."""
    names = unique_names((pair.question for pair in pairs), "-")
    return {f"{FOLDER}/{name}.md": _markdown(pair) for name, pair in zip(names, pairs, strict=True)}


def _markdown(pair: Pair) -> str:
    return f"{_FENCE}\n{yaml_text({'nl': pair.question, 'sql': pair.sql, 'source': 'user'})}{_FENCE}\n"
