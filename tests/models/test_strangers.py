"""Files of answers that somebody else made: each is read as what it should be, or refused in one sentence, at once."""

import asyncio
import json
import lzma
import os
import random
import sqlite3
import subprocess
import sys
import time
from collections.abc import Callable
from contextlib import closing, suppress
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from making.clock import STALL_S
from making.hostile import put_super_journal
from merit.cli.main import cli
from merit.errors import CacheUnusable, InputError
from merit.models import AnswerStore, answer_key, open_completer
from merit.models import answers as answers_module
from merit.models import exported as exported_module
from merit.models.exported import open_exported, open_recording, write_exported
from merit.types import Completion, ModelIdentity, Sampling

MODEL = ModelIdentity("openai:m", "1")
KEY = answer_key(MODEL, "p", Sampling())
ENDLESS = "WITH RECURSIVE c(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM c)"


def fill(path: Path, count: int = 20) -> Path:
    with closing(AnswerStore(path)) as store:
        store.take(
            (answer_key(MODEL, f"p{i}", Sampling()), MODEL, Completion(f"answer {i}", 3, 2)) for i in range(count)
        )
    return path


def change(path: Path, script: str) -> None:
    with closing(sqlite3.connect(path)) as db:
        db.executescript(script)


def refused(path: Path) -> str:
    """What every use of a file is refused with; our own store is as it was."""
    said = set()
    with closing(AnswerStore(path.with_name("ours.sqlite"))) as store:
        uses: list[Callable[[], object]] = [
            lambda: open_completer(f"replay:{path}"),
            lambda: open_recording(path),
            lambda: store.merge(path) if path.suffix == ".sqlite" else open_recording(path),
        ]
        for use in uses:
            started = time.monotonic()
            with pytest.raises(InputError) as caught:
                use()
            assert time.monotonic() - started < 2 * STALL_S
            assert len(store) == 0
            said.add(str(caught.value))
    (sentence,) = said
    assert sentence.startswith(f"{path}: ")
    assert sentence.isprintable()
    return sentence


SCHEMAS = {
    "an endless view for the answers": f"""
        DROP TABLE answer;
        CREATE VIEW answer AS {ENDLESS} SELECT zeroblob(16) AS key, 1 AS model, 1 AS text, 1 AS prompt_tokens,
            1 AS output_tokens FROM c;""",
    "an endless view for the texts": f"DROP TABLE said; CREATE VIEW said AS {ENDLESS} SELECT i AS id, 'x' AS text FROM c;",
    "a generated column": """
        DROP TABLE said;
        CREATE TABLE said (id INTEGER PRIMARY KEY, text TEXT AS (hex(zeroblob(100000000))) NOT NULL);""",
    "a trigger": "CREATE TRIGGER t AFTER INSERT ON answer BEGIN DELETE FROM said; END;",
    "an index": "CREATE INDEX i ON answer (abs(hex(zeroblob(1000000))));",
    "a view beside them": f"CREATE VIEW v AS {ENDLESS} SELECT i FROM c;",
    "a virtual table": "DROP TABLE said; CREATE VIRTUAL TABLE said USING fts5(id, text);",
    "columns of other types": "DROP TABLE model; CREATE TABLE model (id INTEGER PRIMARY KEY, name, revision);",
    "no table": "DROP TABLE model;",
    "a type that reads like a key": "DROP TABLE said; CREATE TABLE said (id INTEGERPRIMARYKEY, text TEXT NOT NULL);",
    "a type with a blank that is none": """
        DROP TABLE said;
        CREATE TABLE said (id INTEGER\u00a0PRIMARY\u00a0KEY, text TEXT NOT NULL);""",
    "a table under a name of SQLite's": f"""
        PRAGMA writable_schema = ON;
        INSERT INTO sqlite_schema VALUES ('view', 'sqlite_v', 'sqlite_v', 0, 'CREATE VIEW sqlite_v AS {ENDLESS} SELECT 1');
        """,
}


@pytest.mark.parametrize("kind", SCHEMAS)
def test_only_our_own_tables_are_read(tmp_path: Path, kind: str) -> None:
    path = fill(tmp_path / "theirs.sqlite")
    change(path, SCHEMAS[kind])
    assert "not a file of recorded answers, or damaged (" in refused(path)
    if kind not in ("no table",):  # which is made again
        with pytest.raises(CacheUnusable, match="which is none of the tables that merit makes"):
            AnswerStore(path)  # nor is it written to


def test_a_file_that_was_analysed_is_read(tmp_path: Path) -> None:
    path = fill(tmp_path / "theirs.sqlite")
    change(path, "ANALYZE;")
    with closing(AnswerStore(tmp_path / "ours.sqlite")) as store:
        assert store.merge(path) == 20


def small_answers(path: Path, count: int) -> Path:
    """Answers that take hardly a byte each, and a text for each one that none of them has."""
    fill(path, 1)
    with closing(sqlite3.connect(path)) as db, db:
        db.execute("UPDATE answer SET key = x'00'")
        db.executemany("INSERT INTO said VALUES (?, '')", ((number,) for number in range(count)))
        rows = ((number.to_bytes(3), count - 1) for number in range(1, count))
        db.executemany("INSERT INTO answer SELECT ?, min(id), ?, 0, 0 FROM model", rows)
    return path


def test_a_file_whose_reading_grows_with_the_square_of_its_size_is_given_up(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Counted in SQLite's own instructions, so a slow machine gives up no other file."""
    path = small_answers(tmp_path / "theirs.sqlite", 3000)
    change(path, "CREATE TABLE slow (id INT, text TEXT); INSERT INTO slow SELECT * FROM said;")
    change(path, "DROP TABLE said; ALTER TABLE slow RENAME TO said;")
    monkeypatch.setattr(AnswerStore, "_check_tables", lambda *_: None)
    monkeypatch.setattr(answers_module, "_STEP_S", 1e9)
    monkeypatch.setattr(answers_module, "_STEPS", 1000)
    with closing(AnswerStore.recording(path)) as store, pytest.raises(InputError, match=r"damaged \(interrupted\)"):
        list(store.items())


def test_an_honest_file_is_read_however_short_its_answers_are(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = small_answers(tmp_path / "theirs.sqlite", 20_000)
    monkeypatch.setattr(answers_module, "_STEPS", 100)
    with closing(AnswerStore.recording(path)) as store:
        assert sum(1 for _ in store.items()) == len(store) == sum(count for _, count in store.models()) == 20_000


VALUES = {
    "a text for a key": ("answer", "key", "'" + "k" * 16 + "'", "the key of an answer cannot be what it is"),
    "a long key": ("answer", "key", "zeroblob(17)", "the key of an answer cannot be what it is"),
    "a text for tokens": ("answer", "prompt_tokens", "'many'", "the tokens of the answer .* cannot be 'many'"),
    "negative tokens": ("answer", "output_tokens", "-1", "the tokens of the answer .* cannot be -1"),
    "tokens beyond all": ("answer", "output_tokens", str(2**62), "the tokens of the answer .* cannot be"),
    "a blob for a text": ("said", "text", "x'00ff'", "the text of the answer .* is gone"),
    "no UTF-8": ("said", "text", "CAST(x'ff' AS TEXT)", r"Could not decode to UTF-8"),
    "a blob for a name": ("model", "name", "x'00'", "a model cannot be called b'.x00', '1'"),
}


@pytest.mark.parametrize("kind", VALUES)
def test_every_value_is_of_its_kind(tmp_path: Path, kind: str) -> None:
    table, column, value, said = VALUES[kind]
    path = fill(tmp_path / "theirs.sqlite")
    with closing(sqlite3.connect(path)) as db, db:
        first = db.execute(f"SELECT min({'key' if table == 'answer' else 'rowid'}) FROM {table}").fetchone()[0]
        db.execute(
            f"UPDATE {table} SET {column} = {value} WHERE {'key' if table == 'answer' else 'rowid'} = ?", (first,)
        )
    store = AnswerStore(tmp_path / "ours.sqlite")
    with closing(store), pytest.raises(InputError, match=rf"theirs.sqlite: not a file .* or damaged \({said}"):
        store.merge(path)


def test_huge_cells_are_not_read(tmp_path: Path) -> None:
    path = fill(tmp_path / "theirs.sqlite")
    first = "(SELECT text FROM answer ORDER BY key)"
    change(path, f"UPDATE said SET text = CAST(zeroblob(17000000) AS TEXT) WHERE id = {first};")
    assert "string or blob too big" in refused(path)


def test_many_answers_that_share_a_long_text_are_not_written_out(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = fill(tmp_path / "theirs.sqlite", 200)
    change(path, "UPDATE said SET text = hex(zeroblob(500000)); UPDATE answer SET text = (SELECT min(id) FROM said);")
    monkeypatch.setattr(answers_module, "MOST_BYTES", 20 << 20)
    with closing(AnswerStore(tmp_path / "ours.sqlite")) as store:
        with pytest.raises(InputError, match="its answers have more than 20 MiB"):
            store.merge(path)
        assert len(store) == 0
    with closing(AnswerStore.recording(path)) as store, pytest.raises(InputError, match="more than 20 MiB"):
        write_exported(tmp_path / "out.jsonl", store.items())
    assert not (tmp_path / "out.jsonl").exists()


def test_no_export_is_larger_than_what_can_be_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(exported_module, "MOST_BYTES", 1000)
    with (
        closing(AnswerStore(fill(tmp_path / "ours.sqlite"))) as store,
        pytest.raises(InputError, match="out.jsonl: would"),
    ):
        write_exported(tmp_path / "out.jsonl", store.items())
    assert not (tmp_path / "out.jsonl").exists()


def test_a_statement_that_does_not_end_is_ended(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(answers_module, "_STEP_S", 0.2)
    with (
        closing(AnswerStore.recording(fill(tmp_path / "a.sqlite"))) as store,
        pytest.raises(InputError, match="interrupted"),
        store._errors("read"),
    ):
        store._db.execute(f"{ENDLESS} SELECT count(*) FROM c").fetchone()


def test_bytes_that_were_changed_end_in_a_sentence(tmp_path: Path) -> None:
    honest = fill(tmp_path / "a.sqlite", 200).read_bytes()
    path, draw = tmp_path / "theirs.sqlite", random.Random(5)
    for _ in range(150):
        data = bytearray(honest)
        for _ in range(draw.choice([1, 5, 50, 500])):
            data[draw.randrange(len(data))] = draw.randrange(256)
        path.write_bytes(data)
        with closing(AnswerStore(tmp_path / "ours.sqlite")) as store, suppress(InputError):
            store.merge(path)


KINDS: dict[str, Callable[[Path], object]] = {
    "a pipe": os.mkfifo,
    "a folder": Path.mkdir,
    "a device": lambda path: path.symlink_to("/dev/zero"),
}


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("name", ["a.sqlite", "a.jsonl", "a.jsonl.xz"])
def test_what_is_no_file_hangs_nothing(tmp_path: Path, kind: str, name: str) -> None:
    KINDS[kind](tmp_path / name)
    assert "regular files" in refused(tmp_path / name) or kind == "a folder"
    if name == "a.sqlite":
        with pytest.raises(CacheUnusable, match="a.sqlite: is not a file; move it away"):
            AnswerStore(tmp_path / name)


def test_a_pipe_beside_a_file_hangs_nothing(tmp_path: Path) -> None:
    path = fill(tmp_path / "a.sqlite")
    os.mkfifo(tmp_path / "a.sqlite-wal")
    with pytest.raises(InputError, match="a.sqlite-wal: is a pipe"):
        AnswerStore.recording(path)


LINE = {"key": "00" * 16, "model": "m", "revision": "", "text": "t", "prompt_tokens": 1, "output_tokens": 1}


def bomb(path: Path, piece: bytes, times: int) -> Path:
    """A small file that becomes a large one."""
    packer = lzma.LZMACompressor(preset=0)
    with path.open("wb") as file:
        for _ in range(times):
            file.write(packer.compress(piece))
        file.write(packer.flush())
    return path


@pytest.mark.parametrize(
    ("piece", "said"),
    [
        (b"\0" * (1 << 20), "line 1: more than 16 MiB long"),
        (b'{"key": "' + b"0" * (1 << 20), "line 1: more than 16 MiB long"),
    ],
)
def test_a_small_file_that_becomes_a_large_one_is_refused(tmp_path: Path, piece: bytes, said: str) -> None:
    path = bomb(tmp_path / "a.jsonl.xz", piece, 40)
    assert path.stat().st_size < 100_000
    with pytest.raises(InputError, match=said):
        open_exported(path)


def test_all_streams_of_a_packed_file_are_read(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl.xz"
    other = {**LINE, "key": "01" * 16}
    path.write_bytes(b"".join(lzma.compress(json.dumps(line).encode() + b"\n") for line in (LINE, other)))
    with closing(open_exported(path)) as store:
        assert len(store) == 2
    path.write_bytes(path.read_bytes() + b"junk")
    with pytest.raises(InputError, match="damaged, or not compressed with xz"):
        open_exported(path)


def test_a_packed_file_that_unpacks_to_nothing_is_not_read_without_end(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(exported_module, "MOST_BYTES", 1 << 20)
    path = tmp_path / "a.jsonl.xz"
    path.write_bytes(lzma.compress(b"") * 40_000)
    with pytest.raises(InputError, match="more than 1 MiB; is it the right file"):
        open_exported(path)


def test_what_needs_too_much_to_be_unpacked_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl.xz"
    filters = [{"id": lzma.FILTER_LZMA2, "preset": 0, "dict_size": 1 << 29}]
    path.write_bytes(lzma.compress(b"{}", filters=filters))
    with pytest.raises(InputError, match="damaged, or not compressed with xz"):
        open_exported(path)


@pytest.mark.parametrize(
    ("head", "said"), [(b"\xfd7zXZ\0...", "`xz -dk`"), (b"\x1f\x8b...", "`gzip -dk`"), (b"", "gives?")]
)
def test_what_is_packed_is_to_be_unpacked_first(tmp_path: Path, head: bytes, said: str) -> None:
    (tmp_path / "a.sqlite.xz").write_bytes(head)
    with pytest.raises(InputError) as caught:
        open_recording(tmp_path / "a.sqlite.xz")
    assert said in str(caught.value) or "give one that merit keeps" in str(caught.value)


# The commands.


def merit(*arguments: object) -> Result:
    return CliRunner().invoke(cli, [str(argument) for argument in arguments])


def test_no_answers_yet_is_no_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MERIT_CACHE", str(tmp_path / "cache"))
    result = merit("answers", "list")
    assert result.exit_code == 0
    assert (
        f"{tmp_path / 'cache' / 'answers-v2.sqlite'}: no answers yet; `merit predict` and `merit run`" in result.output
    )
    assert not (tmp_path / "cache").exists()
    result = merit("answers", "export", "--out", tmp_path / "a.jsonl")
    assert isinstance(result.exception, InputError)
    assert "no answers yet" in str(result.exception)


@pytest.mark.parametrize("name", ["a.jsonl", "a.jsonl.xz", "a.sqlite"])
def test_whatever_is_exported_can_be_listed_and_merged(tmp_path: Path, name: str) -> None:
    with closing(AnswerStore.recording(fill(tmp_path / "whole.sqlite"))) as store:
        everything = list(store.items())
        write_exported(tmp_path / "a.jsonl", store.items())
        write_exported(tmp_path / "a.jsonl.xz", store.items())
    (tmp_path / "whole.sqlite").rename(tmp_path / "a.sqlite")
    assert "openai:m" in merit("answers", "list", "--file", tmp_path / name).output
    result = merit("answers", "merge", tmp_path / name, "--file", tmp_path / "ours.sqlite")
    assert result.output == "20 new answers, 20 in all\n"
    with closing(AnswerStore.recording(tmp_path / "ours.sqlite")) as store:
        assert list(store.items()) == everything
    assert merit("answers", "merge", tmp_path / name, "--file", tmp_path / "ours.sqlite").output.startswith("0 new")


def test_what_is_refused_is_not_merged_in_part(tmp_path: Path) -> None:
    fill(tmp_path / "ours.sqlite", 3)
    (tmp_path / "a.jsonl").write_text(f"{json.dumps(LINE)}\n{json.dumps({**LINE, 'text': None})}\n")
    result = merit("answers", "merge", tmp_path / "a.jsonl", "--file", tmp_path / "ours.sqlite")
    assert str(result.exception) == f"{tmp_path / 'a.jsonl'}, line 2: the field 'text' should be a text, not null"
    with closing(AnswerStore(tmp_path / "ours.sqlite")) as store:
        assert store.models() == [(MODEL, 3)]


def test_a_merge_that_fails_leaves_a_store_that_works(tmp_path: Path) -> None:
    theirs = fill(tmp_path / "theirs.sqlite")
    change(theirs, "UPDATE answer SET output_tokens = -1 WHERE key = (SELECT max(key) FROM answer);")
    with closing(AnswerStore(tmp_path / "ours.sqlite")) as store:
        with pytest.raises(InputError):
            store.merge(theirs)
        store.put(KEY, MODEL, Completion("mine", 1, 1))
        assert store.models() == [(MODEL, 1)]
    replay = open_completer(f"replay:{tmp_path / 'ours.sqlite'}")
    assert asyncio.run(replay.complete("p", Sampling())) == Completion("mine", 1, 1)
    asyncio.run(replay.close())


def test_a_file_to_merge_into_deletes_no_other_file(tmp_path: Path) -> None:
    path, other, victim = fill(tmp_path / "a.sqlite"), fill(tmp_path / "b.sqlite"), tmp_path / "victim"
    victim.write_text("precious")
    change(path, "PRAGMA journal_mode = DELETE")
    put_super_journal(path, victim)
    result = CliRunner().invoke(cli, ["answers", "merge", str(other), "--file", str(path)])
    assert victim.read_text() == "precious"
    assert isinstance(result.exception, CacheUnusable), result.output
    assert "a.sqlite-journal: names another file, which SQLite would delete" in str(result.exception)


_COUNTED = """
import sqlite3, sys
from contextlib import closing
from pathlib import Path
from merit.models import AnswerStore

with closing(AnswerStore.recording(Path(sys.argv[1]))) as store:
    sqlite3.connect(":memory:").execute("PRAGMA hard_heap_limit = 16777216")  # for the rest of the process
    print([count for _, count in store.models()])
"""


def test_a_long_name_of_a_model_is_not_held_once_for_each_answer(tmp_path: Path) -> None:
    path, named = tmp_path / "long.sqlite", ModelIdentity("n" * 200_000, "")
    with closing(AnswerStore(path)) as store:
        store.take((answer_key(named, f"p{i}", Sampling()), named, Completion("a", 1, 1)) for i in range(3000))
    counted = subprocess.run([sys.executable, "-c", _COUNTED, path], capture_output=True, text=True, check=False)
    assert counted.stdout == "[3000]\n", counted.stderr
