"""Suggestions: what a program takes for right. They enter as merely executed, so that a person has to review them."""

from merit.errors import InputError
from merit.formats import FoundPairs, Pair
from merit.live.importing import Imported, import_pairs
from merit.live.parts import LiveParts
from merit.live.records import Asked
from merit.live.results import StatementResults
from merit.memory import Grade


def suggest(parts: LiveParts, results: StatementResults, asked: Asked, sql: str, author: str) -> Imported:
    """Keep an answer, or another statement for its question, if it runs; `author` names the program."""
    if not sql.strip() and not asked.status.ran:
        raise InputError(f"{asked.id}: nothing ran, so there is nothing to suggest")
    pair = Pair(parts.history.standing(asked), sql.strip() or asked.sql, asked.id)
    return import_pairs(
        parts, results, FoundPairs((pair,)), grade=Grade.EXECUTED, importer=author, source=f"suggestion:{asked.id}"
    )
