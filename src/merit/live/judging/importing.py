"""Pairs of other tools become entries: each is executed first, and enters at the grade that it has earned.

That a statement runs is all that a file can show by itself; that its answers are right is the word of the person who
imports it. Rows are compared and never kept.
"""

import hashlib
from collections.abc import Callable, Collection, Iterable
from dataclasses import dataclass, field, replace
from typing import Any

from merit.formats import FoundPairs, Pair, SkippedPair
from merit.live.judging.contradictions import Contradiction, contradictions
from merit.live.judging.ladder import rejected_before
from merit.live.parts import LiveParts
from merit.live.record.events import now
from merit.live.record.lines import plain_question
from merit.live.record.visibility import visible
from merit.live.results import StatementResults
from merit.memory import Deletion, Entry, Grade, Listed, Precedent, Provenance, with_id
from merit.types import Status, covers

EARNED = (Grade.EXECUTED, Grade.CONFIRMED)  # what an import can claim: that it ran, or that people said it is right


@dataclass(frozen=True, slots=True)
class Imported:
    """What became of the pairs of a file."""

    entries: tuple[Entry, ...]  # new ones
    known: int  # pairs that were there already, at this grade or a better one, or earlier in the file
    deleted: int  # pairs that were deleted here, and stay so
    skipped: tuple[SkippedPair, ...]
    contradictions: tuple[Contradiction, ...]

    def record(self) -> dict[str, Any]:
        """As plain values."""
        return {
            "imported": [entry.id for entry in self.entries],
            "known": self.known,
            "deleted": self.deleted,
            "left_out": [{"where": skipped.where, "reason": skipped.reason} for skipped in self.skipped],
            "contradictions": [contradiction.record() for contradiction in self.contradictions],
        }


@dataclass(slots=True)
class _SortedPairs:
    """Pairs by what is to become of them."""

    fresh: dict[str, Entry] = field(default_factory=dict)
    superseded: list[Deletion] = field(default_factory=list)  # less sure entries that say the same
    known: int = 0
    deleted: int = 0
    skipped: list[SkippedPair] = field(default_factory=list)


def import_pairs(
    parts: LiveParts,
    results: StatementResults,
    pairs: FoundPairs,
    *,
    grade: Grade,
    importer: str,
    source: str,
    keep: bool = True,
    done: Callable[[int, int], object] | None = None,
) -> Imported:
    """Execute pairs and remember those that run, all of them at once or none.

    `source` names their file, `importer` the person; without `keep` nothing is remembered, and all else is the same.
    """
    if grade not in EARNED:
        raise ValueError(f"an import cannot make an entry {grade}")
    database, memory = parts.schema.db_id, parts.memory
    own = [pair for pair in pairs.pairs if pair.database in ("", database)]
    others = [pair for pair in pairs.pairs if pair.database not in ("", database)]
    results.run((pair.sql for pair in own), done)
    memory.refresh()
    listed = memory.listed()
    template = Provenance(
        run="import",
        question_id="",
        db_id=database,
        position=memory.sequence,
        step=0,
        episode=f"import:{importer}:{source}",
        author=importer,
        time=now(),
        schema_fingerprint=parts.fingerprint,
        dialect=parts.engine.dialect,
        scope=parts.scope_of(importer),
    )
    viewer = parts.viewer(importer)
    about = [item for item in listed if item.entry.provenance.db_id == database]
    there = [item for item in about if covers(item.entry.provenance.scope, template.scope)]
    answers = _answers(there, own, results)
    found = _sort(own, answers, parts, results, grade, template)
    found.skipped += [_of_another(pair, database) for pair in others]
    gone = {deletion.id for deletion in found.superseded}
    after = [item for item in visible(listed, viewer) if item.entry.id not in gone]
    after += [Listed(entry) for entry in found.fresh.values()]
    against = contradictions(after, database, results, about=set(found.fresh))
    if keep:  # last of all: whatever failed before, nothing was remembered
        memory.commit_all(found.fresh.values(), found.superseded)
        if parts.schemas is not None:
            for entry in found.fresh.values():
                parts.schemas.lineage_of(entry)  # computed now, so that a change of the schema is quick to follow
    skipped = (*pairs.skipped, *found.skipped)
    return Imported(tuple(found.fresh.values()), found.known, found.deleted, skipped, tuple(against))


def _answers(
    listed: Iterable[Listed], pairs: Collection[Pair], results: StatementResults
) -> dict[tuple[str, str], list[Listed]]:
    """What entries say of the questions of some pairs, by question and statement."""
    asked = {plain_question(pair.question) for pair in pairs}
    answers: dict[tuple[str, str], list[Listed]] = {}
    for item in listed:
        entry = item.entry
        if isinstance(entry, Precedent):
            question = plain_question(entry.question)
            if question in asked:
                answers.setdefault((question, results.form(entry.sql)), []).append(item)
    return answers


def _sort(
    pairs: Iterable[Pair],
    answers: dict[tuple[str, str], list[Listed]],
    parts: LiveParts,
    results: StatementResults,
    grade: Grade,
    template: Provenance,
) -> _SortedPairs:
    found = _SortedPairs()
    seen: set[tuple[str, str]] = set()
    for pair in pairs:
        key = (plain_question(pair.question), results.form(pair.sql))
        there = answers.get(key, [])
        kept = [item.entry for item in there if item.deleted is None]
        if (reason := _against(pair, parts, results, template)) is not None:
            found.skipped.append(SkippedPair(pair.where, reason))
        elif key in seen or any(entry.grade.at_least(grade) for entry in kept):
            found.known += 1
        elif there and not kept:
            found.deleted += 1
        else:
            seen.add(key)
            new = _entry(pair, key[0], grade, template)
            found.fresh[new.id] = new
            same = [entry for entry in kept if entry.provenance.scope == template.scope]  # others need theirs still
            found.superseded += [Deletion(entry.id, f"{grade} as {new.id}") for entry in same]
    return found


def _against(pair: Pair, parts: LiveParts, results: StatementResults, template: Provenance) -> str | None:
    """Why a pair is left out, if it is."""
    if (error := results.of(pair.sql).error) is not None:
        return f"does not run: {error}"
    dialect = parts.engine.dialect
    viewer = parts.viewer(template.author or "")
    rejected = rejected_before(parts.history, parts.schema.db_id, (), pair.question, dialect, viewer)
    said = rejected.get(results.form(pair.sql))
    return None if said is None else f"a person said here that it is wrong: {said}"


def _entry(pair: Pair, question: str, grade: Grade, template: Provenance) -> Entry:
    identity = hashlib.sha256(question.encode()).hexdigest()[:12]
    source = replace(template, question_id=f"import-{identity}", author=pair.author or template.author)
    outcome = Status.CORRECT if grade is Grade.CONFIRMED else Status.EXECUTED
    # The schema's text is left out: its fingerprint names it, and a large import would keep it thousands of times.
    return with_id(
        Precedent(
            id="",
            question=pair.question,
            schema="",
            sql=pair.sql,
            observed=Status.EXECUTED,
            outcome=outcome,
            grade=grade,
            provenance=source,
        )
    )


def _of_another(pair: Pair, database: str) -> SkippedPair:
    return SkippedPair(pair.where, f"is about the database {pair.database!r}, and this one is {database!r}")
