"""A schema as a model reads it."""

from merit.types import Column, Schema, Table


def test_a_view_is_called_one() -> None:
    schema = Schema("shop", (Table("t", (Column("a", ""),)), Table("v", (Column("b", "INT"),), view=True)))
    assert schema.text() == "Database: shop\nTable: t\n  a\nView: v\n  b INT"


def test_a_name_that_cannot_be_sent_is_shown_with_question_marks() -> None:
    assert Schema("\ud800", ()).text() == "Database: ?"
