"""The schema block of every prompt."""

from pathlib import Path

from merit.data import Dataset, load

LIBRARY = """\
Database: library
Table: author
  author_id number PRIMARY KEY
  name text
  country text
Table: book
  book_id number PRIMARY KEY
  title text
  author_id number FOREIGN KEY -> author.author_id
  year number
  price number
Table: member
  member_id number PRIMARY KEY
  name text
  joined time
Table: loan
  loan_id number PRIMARY KEY
  book_id number FOREIGN KEY -> book.book_id
  member_id number FOREIGN KEY -> member.member_id
  borrowed time
  returned time"""


def test_facts_only_and_original_names(library: Dataset) -> None:
    assert library.schemas["library"].text() == LIBRARY


def test_every_real_schema_renders_all_its_columns(real_data: Path) -> None:
    for name in ("spider", "bird"):
        for schema in load(name, real_data / name).schemas.values():
            lines = schema.text().split("\n")
            assert len(lines) == 1 + sum(1 + len(table.columns) for table in schema.tables)
            assert len(schema.tables) > 0


def test_composite_keys_mark_every_column(real_data: Path) -> None:
    """BIRD lists a key of several columns as a list."""
    schema = load("bird", real_data / "bird").schemas["formula_1"]
    (table,) = (table for table in schema.tables if table.name == "lapTimes")
    assert [column.name for column in table.columns if column.primary_key] == ["raceId", "driverId", "lap"]
