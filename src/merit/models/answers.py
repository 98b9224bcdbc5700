"""Answers of language models on disk: one SQLite file, each answer under its model, messages and sampling.

The file can be handed to a colleague, merged into another, and replayed without a model. It holds no prompt, only a
hash of each, and nothing that was not a model's own answer.
"""

import hashlib
import json
import math
import os
import re
import sqlite3
import time
from collections.abc import Collection, Iterable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import quote

from merit.cache import open_cache
from merit.errors import CacheUnusable, InputError
from merit.reading import ANSWER_CHARACTERS, MIB, check_regular, open_file, shown
from merit.types import Completion, ModelIdentity, Sampling

FILE = "answers-v2.sqlite"
_OLD = "answers-v1.sqlite"  # stored a text once for each answer; now equal texts share a row
_TABLES = """
CREATE TABLE IF NOT EXISTS answer (
    key BLOB PRIMARY KEY, model INT NOT NULL, text INT NOT NULL, prompt_tokens INT NOT NULL,
    output_tokens INT NOT NULL)
    WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS said (id INTEGER PRIMARY KEY, text TEXT NOT NULL);
CREATE TABLE IF NOT EXISTS model (id INTEGER PRIMARY KEY, name TEXT NOT NULL, revision TEXT NOT NULL,
    UNIQUE (name, revision));
"""

_OLD_TABLES = """
CREATE TABLE answer (
    key BLOB PRIMARY KEY, model INT NOT NULL, text TEXT NOT NULL, prompt_tokens INT NOT NULL,
    output_tokens INT NOT NULL)
    WITHOUT ROWID;
CREATE TABLE model (id INTEGER PRIMARY KEY, name TEXT NOT NULL, revision TEXT NOT NULL,
    UNIQUE (name, revision));
"""
# What ANALYZE leaves behind; nothing here is planned by it, since every join below has a fixed order.
_STATISTICS = "CREATE TABLE sqlite_stat1(tbl,idx,stat);CREATE TABLE sqlite_stat4(tbl,idx,neq,nlt,ndlt,sample)"
_WORD = re.compile(r"[(),]|[^(), \t\n\f\r]+")  # SQLite's own blanks: any other is part of a word
_SIDECARS = ("-journal", "-wal", "-shm")
_PACKED = {b"\xfd7zXZ\0": "xz", b"\x1f\x8b": "gzip"}  # how compressed files begin
KEY_BYTES = 16
MOST_TOKENS = 2**40
MOST_BYTES = 2048 * MIB  # of all answers, unpacked: 1.4 million have a third of it
_LONGEST_BYTES = 4 * ANSWER_CHARACTERS  # of an answer
_PAGES_KIB = 256  # of the file that SQLite keeps in the process: keys are hashes, so hardly a page is looked at again
_STEP_S = 30.0  # for one row; in an undamaged file it takes milliseconds
_STEPS = 100_000  # instructions of SQLite's virtual machine between two looks at the clock
_STEPS_A_BYTE = 20  # of the file, for one statement; reading all answers takes two at most, so time grows with the size

_NEW_TEXT, _OLD_TEXT = "(SELECT said.text FROM said WHERE said.id = answer.text)", "answer.text"


def answer_key(model: ModelIdentity, prompt: str, sampling: Sampling) -> bytes:
    """The key of an answer: a hash of everything that decides it."""
    request = {
        "model": [model.name, model.revision],
        "messages": [["user", prompt]],
        "sampling": list(sampling.record().values()),  # the prompt's cut is part of it only where there is one
    }
    return hashlib.sha256(json.dumps(request, sort_keys=True).encode()).digest()[:KEY_BYTES]


class AnswerStore:
    """A file of answers, or without a path a store in memory. Used from one thread; processes may share the file."""

    def __init__(self, path: Path | None) -> None:
        self.path = path
        fresh = path is not None and path.name == FILE and not path.exists()
        self._db = open_cache(path.parent if path else None, path.name if path else "", _TABLES, precious=True)
        self._db.execute(f"PRAGMA cache_size = -{_PAGES_KIB}")
        self._text = _NEW_TEXT  # the SQL expression for a row's text
        self._models: dict[ModelIdentity, int] = {}
        self._step_ends = math.inf
        self._looks = self._looks_left = math.inf  # at the clock, in one statement
        self._foreign = False  # whether the file may come from outside this machine's cache
        self._check_tables(_TABLES)
        if fresh and path is not None and path.with_name(_OLD).is_file():
            self.merge(path.with_name(_OLD))

    @classmethod
    def recording(cls, path: Path) -> "AnswerStore":
        """A file that is only read, as it is now: answers that another process adds later may not be seen.

        The file is not trusted: its tables must be exactly ours, and every value of the expected type.
        """
        _check_head(path)
        # Without a -wal file no process is writing, and SQLite can read without locks; with one, it must read that too.
        busy = path.with_name(path.name + "-wal").exists()
        for beside in (path.with_name(path.name + ending) for ending in _SIDECARS):
            if busy and beside.exists():
                check_regular(beside)
        uri = f"file:{quote(os.fsencode(path.absolute()))}?{'mode=ro' if busy else 'immutable=1'}"
        self = cls(None)
        self._db.close()
        self.path, self._foreign = path, True
        self._db = sqlite3.connect(uri, uri=True, check_same_thread=False)
        try:
            self._db.execute("PRAGMA trusted_schema = OFF")
            self._db.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, _LONGEST_BYTES)
            self._db.set_progress_handler(self._late, _STEPS)
            with self._errors("read"):
                ((size,),) = self._db.execute("SELECT page_count * page_size FROM pragma_page_count, pragma_page_size")
                self._looks = 100 + min(size, MOST_BYTES) * _STEPS_A_BYTE // _STEPS
                if not self._db.execute("SELECT 1 FROM sqlite_schema WHERE name = 'said'").fetchone():
                    self._text = _OLD_TEXT
            self._check_tables(_TABLES if self._text is _NEW_TEXT else _OLD_TABLES)
            next(self.items(), None)
        except BaseException:
            self._db.close()
            raise
        return self

    def get(self, key: bytes) -> Completion | None:
        """An answer that is there."""
        with self._errors("read"):
            row = self._db.execute(
                f"SELECT {self._text}, prompt_tokens, output_tokens FROM answer WHERE key = ?", (key,)
            ).fetchone()
        return self._completion(key, *row) if row else None

    def put(self, key: bytes, model: ModelIdentity, answer: Completion) -> Completion:
        """Store an answer durably; the first answer for a key stays, even another process's, and is returned."""
        self._keep([(key, model, answer)])
        return self.get(key) or answer

    def models(self) -> list[tuple[ModelIdentity, int]]:
        """The models that have answers here, and how many each has."""
        with self._errors("read"):
            # Counted before the names are looked up: a name may be long, and would be sorted once for each answer.
            rows = self._db.execute(
                "SELECT name, revision, answers FROM (SELECT model, count(*) AS answers FROM answer GROUP BY model) "
                "CROSS JOIN model ON model = id ORDER BY name, revision"
            ).fetchall()
        return [(self._identity(name, revision), count) for name, revision, count in rows]

    def erase(self, hashes: Collection[str]) -> int:
        """Take answers out of the file itself, by the SHA-256 of their texts in hexadecimal; returns how many texts."""
        gone = 0
        with self._errors("erased"):
            self._db.execute("PRAGMA secure_delete = ON")
            with self._db:
                for digest in hashes:
                    first = int.from_bytes(bytes.fromhex(digest)[:7])  # as `_text_id` has it
                    gone += self._db.execute("DELETE FROM said WHERE id = ?", (first,)).rowcount
                    self._db.execute("DELETE FROM answer WHERE text = ?", (first,))
            (busy, *_), *_ = self._db.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()
        if busy:
            raise CacheUnusable(f"{self.path}: another process reads it; stop that one, then purge again")
        return gone

    def merge(self, other: Path) -> int:
        """Take over another file's answers, all or none; returns how many were new."""
        with closing(AnswerStore.recording(other)) as source:
            return self.take(source.items())

    def items(self) -> Iterator[tuple[bytes, ModelIdentity, Completion]]:
        """Every answer, in the order of its key."""
        columns = f"key, name, revision, {self._text}, prompt_tokens, output_tokens"
        before, left = b"", MOST_BYTES
        with self._errors("read"):
            rows = self._db.execute(f"SELECT {columns} FROM answer CROSS JOIN model ON model = id ORDER BY key")
            for key, name, revision, *answer in rows:
                if (
                    not isinstance(key, bytes) or len(key) > KEY_BYTES or key <= before
                ):  # else the file could repeat rows forever
                    raise self._damaged("the key of an answer cannot be what it is")
                before, completion = key, self._completion(key, *answer)
                left -= len(completion.text.encode("utf-8", "replace")) if self._foreign else 0
                if left < 0:  # many answers may share one long text
                    raise self._damaged(f"its answers have more than {MOST_BYTES // MIB} MiB")
                yield key, self._identity(name, revision), completion
                self._step_ends = time.monotonic() + _STEP_S

    def __len__(self) -> int:
        with self._errors("read"):
            return int(self._db.execute("SELECT count(*) FROM answer").fetchone()[0])

    def close(self) -> None:
        """Close the file."""
        self._db.close()

    @contextmanager
    def _errors(self, verb: str) -> Iterator[None]:
        self._step_ends, self._looks_left = time.monotonic() + _STEP_S, self._looks
        try:
            yield
        except (sqlite3.Error, UnicodeDecodeError) as error:  # SQLite's message about a damaged file may not be text
            if self._foreign and verb == "read":
                raise self._damaged(str(error)) from None
            raise CacheUnusable(
                f"{self.path}: answers cannot be {verb} ({error}); look at the disk, then run the same again"
            ) from error

    def _keep(self, answers: Iterable[tuple[bytes, ModelIdentity, Completion]]) -> None:
        try:
            with self._errors("kept"), self._db:
                for key, model, answer in answers:
                    cost = (answer.prompt_tokens, answer.output_tokens)
                    row = (key, self._model(model), self._text_id(answer.text), *cost)
                    self._db.execute("INSERT OR IGNORE INTO answer VALUES (?, ?, ?, ?, ?)", row)
        except BaseException:
            self._models.clear()  # these ids were rolled back
            raise

    def _completion(self, key: bytes, text: Any, prompt_tokens: Any, output_tokens: Any) -> Completion:
        if not isinstance(text, str):
            raise self._damaged(f"the text of the answer {key.hex()[:12]} is gone")
        for tokens in (prompt_tokens, output_tokens):
            if not isinstance(tokens, int) or not 0 <= tokens <= MOST_TOKENS:
                raise self._damaged(f"the tokens of the answer {key.hex()[:12]} cannot be {shown(tokens)}")
        return Completion(text, prompt_tokens, output_tokens)

    def _identity(self, name: Any, revision: Any) -> ModelIdentity:
        if not isinstance(name, str) or not isinstance(revision, str):
            raise self._damaged(f"a model cannot be called {shown(name)}, {shown(revision)}")
        return ModelIdentity(name, revision)

    def _damaged(self, why: str) -> InputError | CacheUnusable:
        if self._foreign:
            return InputError(f"{self.path}: not a file of recorded answers, or damaged ({why}); get it anew")
        return CacheUnusable(f"{self.path}: damaged, {why}; restore the file from a copy")

    def _late(self) -> bool:
        """Called by SQLite now and then; True ends a statement that takes too long, as in an endless damaged file."""
        self._looks_left -= 1
        return self._looks_left < 0 or time.monotonic() > self._step_ends

    def _check_tables(self, wanted: str) -> None:
        """Raise unless the file has exactly these tables, and no other view, trigger or index."""
        with self._errors("read"):
            missing, statistics = _statements(wanted.replace("IF NOT EXISTS ", "")), _statements(_STATISTICS)
            for name, sql in self._db.execute("SELECT name, sql FROM sqlite_schema WHERE sql NOT NULL"):
                if _words(str(sql)) not in missing | statistics:
                    raise self._damaged(f"it holds {shown(name)}, which is none of the tables that merit makes")
                missing.discard(_words(str(sql)))
        if missing:
            raise self._damaged("the tables are not there")

    def _text_id(self, text: str) -> int:
        """The id of a stored text, derived from its hash, so that equal texts share a row in every file."""
        text_id = int.from_bytes(hashlib.sha256(text.encode()).digest()[:7])
        while True:
            self._db.execute("INSERT OR IGNORE INTO said VALUES (?, ?)", (text_id, text))
            if self._db.execute("SELECT text FROM said WHERE id = ?", (text_id,)).fetchone()[0] == text:
                return text_id
            text_id += 1  # a collision of hashes: practically impossible, but it must not mix up answers

    def _model(self, model: ModelIdentity) -> int:
        if model not in self._models:
            identity = (model.name, model.revision)
            self._db.execute("INSERT OR IGNORE INTO model (name, revision) VALUES (?, ?)", identity)
            row = self._db.execute("SELECT id FROM model WHERE name = ? AND revision = ?", identity).fetchone()
            self._models[model] = int(row[0])
        return self._models[model]

    def take(self, answers: Iterable[tuple[bytes, ModelIdentity, Completion]]) -> int:
        """Keep many answers, all or none; returns how many were new."""
        before = len(self)
        self._keep(answers)
        return len(self) - before


def _statements(sql: str) -> set[tuple[str, ...]]:
    return {_words(statement) for statement in sql.split(";")} - {()}


def _words(sql: str) -> tuple[str, ...]:
    """The words that SQLite reads in a statement like ours: INTEGERPRIMARYKEY is one, and no key."""
    return tuple(_WORD.findall(sql))


def _check_head(path: Path) -> None:
    """Raise for a file that is not SQLite, and say what to do where that is known."""
    with open_file(path) as file:
        head = file.read(16)
    for mark, program in _PACKED.items():
        if head.startswith(mark):
            raise InputError(f"{path}: is compressed; unpack it with `{program} -dk` first")
    if head != b"SQLite format 3\0":
        raise InputError(
            f"{path}: not a file of recorded answers; give one that merit keeps ({FILE}) or exports (.jsonl, .jsonl.xz)"
        )
