"""Where what is learned in live use comes from, and what is kept of answers that no person has judged.

Nothing but a person's word confirms an answer; `merit.agent.feedback` makes the entries that come of it.
"""

from merit.live.record.events import Asked
from merit.memory import LIVE_RUN, Entry, Grade, Precedent, Provenance, with_id
from merit.types import Status


def provenance(asked: Asked, author: str, time: str, scope: str | None) -> Provenance:
    """Where an entry comes from: the question's answer, and the person that judged it."""
    return Provenance(
        run=LIVE_RUN,
        question_id=asked.id,
        db_id=asked.database,
        position=asked.position,
        step=max(0, len(asked.tried) - 1),
        episode=f"live:{asked.id}",
        author=author,
        time=time,
        schema_fingerprint=asked.schema_fingerprint,
        dialect=asked.dialect,
        scope=scope,
    )


def kept_answer(asked: Asked, question: str, schema: str, grade: Grade, source: Provenance) -> Entry:
    """An answer that no person has judged, at the grade that it earned by itself."""
    if grade is Grade.CONFIRMED:
        raise ValueError("only a person's word confirms an answer")
    ran = Status.EXECUTED
    return with_id(Precedent("", question, schema, asked.sql, ran, ran, grade, source))
