"""DAIL-SQL: confirmed answers are chosen by the masked question and the skeleton of the SQL.

Source: Gao et al., "Text-to-SQL Empowered by Large Language Models: A Benchmark Evaluation", VLDB 2024,
arXiv:2308.15363.

Essence: what makes an example helpful is not its topic but its shape. Words of the question that name tables, columns
or values are masked, so that questions of different databases can be alike; and a preliminary query tells which
skeleton the answer will have. Examples whose skeleton is near come first, ordered by the likeness of the masked
questions. They are shown as pairs of question and SQL, without their schemas. Here the preliminary query is the last
attempt, and the examples are confirmed answers to earlier questions.

Left out: the training split as the source of examples (a stream has its own); the encoder of masked questions, in whose
place words are counted; the schema as CREATE TABLE statements, since all methods share one schema block.
"""

from dataclasses import replace

from merit.agent.behaviour import Moment, PaperBehaviour
from merit.agent.method import Method
from merit.agent.related.similarity import masked, overlap, skeleton
from merit.memory import Grade, Precedent, RecallPolicy, TypeFilter
from merit.prompts import Prompt
from merit.types import Polarity

_SHOWN = 4  # as many as the method `precedent` shows
_NEAR = 0.85  # from which two skeletons count as alike; the threshold in the authors' code


class DailSQL(PaperBehaviour):
    """Chooses from what was recalled, and asks as the first prompt does."""

    def ask(self, method: Method, moment: Moment) -> Prompt:
        """The first prompt again, with the chosen answers."""
        recalled = replace(moment.recalled, precedents=_chosen(moment))
        return super().ask(method, replace(moment, recalled=recalled))


def _chosen(moment: Moment) -> list[Precedent]:
    """The best examples first."""
    question, shape = masked(moment.question.text, moment.schema), skeleton(moment.attempts[-1].sql)

    def key(entry: Precedent) -> tuple[bool, float, str]:
        alike = overlap(shape, skeleton(entry.sql)) >= _NEAR
        return not alike, -overlap(question, masked(entry.question, entry.schema)), entry.id

    return sorted(moment.recalled.precedents, key=key)[:_SHOWN]


METHOD = Method(
    "dail_sql",
    "DAIL-SQL: draws like resample, and shows up to 4 confirmed answers chosen by masked question and SQL skeleton.",
    history=False,
    temperature=0.8,
    draws=3,
    votes=True,
    recall=RecallPolicy(positives=0, negatives=0, type_filter=TypeFilter.NONE, precedents=24, least_grade=Grade.AGREED),
    writes=frozenset({Polarity.PRECEDENT}),
    behaviour=DailSQL(),
)
