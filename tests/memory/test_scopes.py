"""Entries for one person or a team: how they are written, named and recalled."""

import json
from dataclasses import replace
from pathlib import Path

import pytest

from making.memories import WordEncoder, make_cue, make_entry, make_precedent
from merit.errors import InputError
from merit.memory import Entry, FileStore, Memory, RecallPolicy, curate, with_id
from merit.memory.format4 import entry_line, parse_entry
from merit.types import EVERYONE, Polarity, ScopeKind, Viewer, covers, is_scope, scope_kind, shown_scope

POLICY = RecallPolicy(positives=9, negatives=9, precedents=9)
SCOPES = (None, "personal:ada", "personal:bob", "team:sales")


def scoped(entry: Entry, scope: str | None) -> Entry:
    return with_id(replace(entry, id="", provenance=replace(entry.provenance, scope=scope)))


def recalled(memory: Memory, viewer: Viewer) -> set[str | None]:
    matches = memory.recall(make_cue(viewer=viewer), POLICY).matches
    return {match.entry.provenance.scope for match in matches}


def test_recall_shows_what_is_for_everyone_and_for_the_one_who_asks(tmp_path: Path) -> None:
    kinds = (make_entry(1), make_entry(1, polarity=Polarity.NEGATIVE), make_precedent(1))
    with Memory(tmp_path, WordEncoder()) as memory:
        memory.commit_all(scoped(entry, scope) for entry in kinds for scope in SCOPES)
        assert len(memory) == 12  # the same words for other people are another entry
        for _ in range(2):  # the second time from what is kept of recalls
            assert recalled(memory, EVERYONE) == {None}
            assert recalled(memory, Viewer("ada")) == {None, "personal:ada"}
            assert recalled(memory, Viewer("bob", "sales")) == {None, "personal:bob", "team:sales"}
            assert recalled(memory, Viewer("sales", "ada")) == {None}
    with Memory(tmp_path, WordEncoder()) as memory:  # from its snapshot
        assert recalled(memory, Viewer("ada")) == {None, "personal:ada"}
        report = memory.recall(make_cue(viewer=Viewer("ada")), POLICY).pools[0]
        assert (report.legal, report.size) == (2, 2)


def test_what_is_for_others_changes_no_score(tmp_path: Path) -> None:
    """Neither ranges nor word counts of a pool know of it, so that nothing can be guessed from scores."""
    own = [make_precedent(number, question=f"how many things {number}") for number in range(5)]
    others = [scoped(make_precedent(number, question="how many things"), "personal:bob") for number in range(9)]
    with Memory(tmp_path / "a", WordEncoder()) as alone, Memory(tmp_path / "b", WordEncoder()) as among:
        alone.commit_all(own)
        among.commit_all([*others, *own])
        viewer = Viewer("ada", "sales")
        expected = alone.recall(make_cue(viewer=viewer), POLICY).matches
        assert among.recall(make_cue(viewer=viewer), POLICY).matches == expected


def test_an_entry_for_everyone_is_written_as_it_always_was() -> None:
    entry = with_id(make_precedent(1))
    assert "scope" not in entry_line(entry)
    personal = scoped(entry, "personal:ada")
    assert personal.id != entry.id
    assert json.loads(entry_line(personal))["provenance"]["scope"] == "personal:ada"
    assert parse_entry(json.loads(entry_line(personal)), "here") == personal


@pytest.mark.parametrize(
    "scope", ["", "ada", "personal:", "team: ", "group:x", "personal:a\nb", 7, "team:" + "x" * 201]
)
def test_what_is_no_scope_is_refused(scope: object) -> None:
    record = json.loads(entry_line(scoped(make_precedent(1), "team:sales")))
    record["provenance"]["scope"] = scope
    with pytest.raises(InputError, match="here, provenance: the field 'scope' cannot be"):
        parse_entry(record, "here")


def test_a_merit_that_knows_no_scopes_refuses_them(monkeypatch: pytest.MonkeyPatch) -> None:
    """It would show them to all; an older one checks the fields of an entry in the same way."""
    record = json.loads(entry_line(scoped(make_precedent(1), "team:sales")))
    monkeypatch.setattr("merit.memory.records._SCOPES_SINCE", 5)
    with pytest.raises(InputError, match="'scope' does not belong to memory format 4"):
        parse_entry(record, "here")


def test_exports_keep_scopes_or_are_refused(tmp_path: Path) -> None:
    store = FileStore(tmp_path / "one")
    store.append([scoped(make_precedent(1), "personal:ada"), with_id(make_entry(2))])
    with pytest.raises(InputError, match="format 3 would show to all; use 4"):
        curate.export(store, tmp_path / "old.jsonl", 3)
    curate.export(store, tmp_path / "new.jsonl")
    other = FileStore(tmp_path / "other")
    assert curate.import_entries(other, tmp_path / "new.jsonl")[0] == 2
    assert [listed.entry.provenance.scope for listed in curate.entries_in(tmp_path / "other")] == ["personal:ada", None]
    assert curate.stats(store)["by_scope"] == {"database": 1, "personal": 1}
    store.close()
    other.close()


def test_who_sees_what() -> None:
    assert Viewer("ada").scopes == ("personal:ada",)
    assert not Viewer().scopes
    assert is_scope("team:a b")
    assert [scope_kind(scope) for scope in SCOPES[::2]] == [ScopeKind.DATABASE, ScopeKind.PERSONAL]
    assert [shown_scope(scope) for scope in SCOPES[1:]] == ["ada alone", "bob alone", "the team sales"]
    assert covers(None, "team:sales")
    assert not covers("team:sales", None)
    assert not covers("personal:ada", "team:sales")
