"""Contradictions: answers to the same question about one database that give different results.

Nothing is decided here: people are shown what was said, by whom, and delete what is wrong.
"""

from collections.abc import Collection, Iterable
from dataclasses import dataclass
from typing import Any

from merit.live.record.lines import plain_question
from merit.live.results import StatementResult, StatementResults
from merit.memory import Listed, Precedent


@dataclass(frozen=True, slots=True)
class Contradiction:
    """Answers to one question, newest first, and what each of them gives now."""

    question: str  # as it was asked last
    entries: tuple[Precedent, ...]
    results: tuple[StatementResult, ...]

    @property
    def certain(self) -> bool:
        """Whether two results differ that can be compared: neither was cut off, and each came twice."""
        return len({result.digest for result in self.results if result.error is None and result.comparable}) > 1

    def record(self) -> dict[str, Any]:
        """As plain values."""
        return {
            "question": self.question,
            "certain": self.certain,
            "answers": [
                {
                    "id": entry.id,
                    "sql": entry.sql,
                    "grade": entry.grade,
                    "author": entry.provenance.author,
                    "time": entry.provenance.time,
                    "result": result.digest,
                    "error": result.error,
                    "comparable": result.comparable,
                }
                for entry, result in zip(self.entries, self.results, strict=True)
            ],
        }


def contradictions(
    listed: Iterable[Listed], database: str, results: StatementResults, about: Collection[str] | None = None
) -> list[Contradiction]:
    """The contradictions among a memory's answers that can be recalled or wait for a person, newest first.

    With `about`, only those that the entries of these ids have a part in. Statements are run only where one question
    has several.
    """
    groups: dict[str, list[Precedent]] = {}
    newest: dict[str, int] = {}
    for number, item in enumerate(listed):
        entry = item.entry
        if isinstance(entry, Precedent) and item.recallable and entry.provenance.db_id == database:
            key = plain_question(entry.question)
            groups.setdefault(key, []).insert(0, entry)
            newest[key] = number
    wanted = [
        group
        for key, group in sorted(groups.items(), key=lambda named: -newest[named[0]])
        if len(group) > 1 and (about is None or any(entry.id in about for entry in group))
    ]
    several = [group for group in wanted if len({results.form(entry.sql) for entry in group}) > 1]
    results.run(entry.sql for group in several for entry in group)
    differing = [group for group in several if len(_digests(group, results)) > 1]
    results.run_again(entry.sql for group in differing for entry in group)
    return [
        Contradiction(group[0].question, tuple(group), tuple(results.of(entry.sql) for entry in group))
        for group in differing
    ]


def _digests(group: Iterable[Precedent], results: StatementResults) -> set[str | None]:
    """The different results of those that run."""
    return {result.digest for entry in group if (result := results.of(entry.sql)).error is None}
