"""What is in a SQLite database, as a hash."""

from pathlib import Path

from merit.files import beside
from merit.reading import hash_file

_JOURNALS = ("-wal", "-journal")  # part of a database's content


def journals(database: Path) -> list[Path]:
    """The journals that lie beside a database, or beside what a link leads to."""
    return [path for suffix in _JOURNALS if (path := beside(database, suffix)).exists()]


def content_hash(database: Path) -> str:
    """The hash of a database's content: the file and its journals.

    The same bytes in the other kind of journal mean something else, so the kind is part of it.
    """
    kinds = [f"{journal.name.rpartition('-')[2]}:{hash_file(journal)}" for journal in journals(database)]
    return "+".join([hash_file(database), *kinds])
