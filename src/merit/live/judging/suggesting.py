"""Suggestions: what a program takes for right. They enter as merely executed, so that a person has to review them."""

from merit.errors import InputError
from merit.formats import FoundPairs, Pair
from merit.live.agent import LiveAgent
from merit.live.calls import check_text
from merit.live.judging.importing import Imported
from merit.live.record.visibility import scopes_in
from merit.memory import Grade


def suggest(agent: LiveAgent, answer: str, sql: str, *, program: str, author: str) -> Imported:
    """Keep an answer, or another statement for its question, if it runs: the word of a program that a person uses."""
    check_text(sql + program + author, "the SQL or the author")
    asked, parts = agent.why(answer, author=author).asked, agent.parts
    if asked.database != agent.schema.db_id:
        raise InputError(f"{asked.id}: is about the database {asked.database!r}, and this one is another")
    if not sql.strip() and not asked.status.ran:
        raise InputError(f"{asked.id}: nothing ran, so there is nothing to suggest")
    if scopes_in(parts, asked) - {None}:
        raise InputError(f"{asked.id}: rests on what is not for everyone, so only a person can judge it")
    said_by = f"{program} (program of {author or 'unknown'})"
    pair = Pair(parts.history.whole_question(asked), sql.strip() or asked.sql, asked.id, said_by)
    return agent.import_pairs(FoundPairs((pair,)), grade=Grade.EXECUTED, author=author, source=f"suggestion:{asked.id}")
