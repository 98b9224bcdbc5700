"""Answers of language models on disk: one SQLite file, each answer under its model, messages and sampling.

The file can be handed to a colleague, merged into another, and replayed without a model. It holds no prompt, only a
hash of each, and nothing that was not a model's own answer.
"""

import hashlib
import json
import sqlite3
from collections.abc import Iterable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from urllib.parse import quote

from merit.cache import open_cache
from merit.errors import CacheUnusable, InputError
from merit.models.completer import Completion, ModelIdentity, Sampling

FILE = "answers-v2.sqlite"
_OLD = "answers-v1.sqlite"  # which kept a text as often as it was said
_TABLES = """
CREATE TABLE IF NOT EXISTS answer (
    key BLOB PRIMARY KEY, model INT NOT NULL, text INT NOT NULL, prompt_tokens INT NOT NULL,
    output_tokens INT NOT NULL)
    WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS said (id INTEGER PRIMARY KEY, text TEXT NOT NULL);
CREATE TABLE IF NOT EXISTS model (id INTEGER PRIMARY KEY, name TEXT NOT NULL, revision TEXT NOT NULL,
    UNIQUE (name, revision));
"""

_NEW_TEXT, _OLD_TEXT = "(SELECT said.text FROM said WHERE said.id = answer.text)", "answer.text"


def answer_key(model: ModelIdentity, prompt: str, sampling: Sampling) -> bytes:
    """Under what an answer is kept: everything that decides it."""
    asked = {
        "model": [model.name, model.revision],
        "messages": [["user", prompt]],
        "sampling": [sampling.temperature, sampling.max_tokens, sampling.seed],
    }
    return hashlib.sha256(json.dumps(asked, sort_keys=True).encode()).digest()[:16]


class AnswerStore:
    """A file of answers, or without a path some in memory. Used from one thread; processes may share the file."""

    def __init__(self, path: Path | None) -> None:
        self.path = path
        fresh = path is not None and path.name == FILE and not path.exists()
        self._db = open_cache(path.parent if path else None, path.name if path else "", _TABLES, precious=True)
        self._text = _NEW_TEXT  # how a row's text is found
        self._models: dict[ModelIdentity, int] = {}
        if fresh and path is not None and path.with_name(_OLD).is_file():
            self.merge(path.with_name(_OLD))

    @classmethod
    def recording(cls, path: Path) -> "AnswerStore":
        """A file that is only read, wherever it lies, as it is now: what others add later may not be seen."""
        try:
            found = path.is_file()
        except OSError as error:
            raise InputError(f"{path}: cannot be read ({error.strerror})") from None
        if not found:
            raise InputError(f"{path}: no such file; give a file of recorded answers")
        # A file nobody writes needs no lock files beside it; only where they are there must SQLite look at them.
        busy = path.with_name(path.name + "-wal").exists()
        uri = f"file:{quote(str(path.absolute()))}?{'mode=ro' if busy else 'immutable=1'}"
        self = cls(None)
        try:
            self._db.close()
            self._db = sqlite3.connect(uri, uri=True, check_same_thread=False)
            if not self._db.execute("SELECT 1 FROM sqlite_schema WHERE name = 'said'").fetchone():
                self._text = _OLD_TEXT
            self._db.execute(f"SELECT {self._columns} FROM answer JOIN model ON model = id LIMIT 1").fetchone()
        except sqlite3.Error as error:
            self._db.close()
            raise InputError(f"{path}: not a file of recorded answers ({error})") from None
        self.path = path
        return self

    def get(self, key: bytes) -> Completion | None:
        """An answer that is there."""
        with self._told("read"):
            row = self._db.execute(
                f"SELECT {self._text}, prompt_tokens, output_tokens FROM answer WHERE key = ?", (key,)
            ).fetchone()
        return self._completion(*row) if row else None

    def put(self, key: bytes, model: ModelIdentity, answer: Completion) -> Completion:
        """Keep an answer, safe from a kill; the first for a key stays, perhaps another process's, and is returned."""
        self._keep([(key, model, answer)])
        return self.get(key) or answer

    def models(self) -> list[tuple[ModelIdentity, int]]:
        """Whose answers are there, and how many."""
        with self._told("read"):
            rows = self._db.execute(
                "SELECT name, revision, count(*) FROM answer JOIN model ON model = id GROUP BY id "
                "ORDER BY name, revision"
            ).fetchall()
        return [(ModelIdentity(name, revision), count) for name, revision, count in rows]

    def merge(self, other: Path) -> int:
        """Take over another file's answers, all or none; returns how many were new."""
        with closing(AnswerStore.recording(other)) as source:
            before = len(self)
            self._keep(source.items())
        return len(self) - before

    def items(self) -> Iterator[tuple[bytes, ModelIdentity, Completion]]:
        """Every answer, in the order of its key."""
        with self._told("read"):
            rows = self._db.execute(f"SELECT {self._columns} FROM answer JOIN model ON model = id ORDER BY key")
            for key, name, revision, *answer in rows:
                yield key, ModelIdentity(name, revision), self._completion(*answer)

    def __len__(self) -> int:
        with self._told("read"):
            return int(self._db.execute("SELECT count(*) FROM answer").fetchone()[0])

    def close(self) -> None:
        """Close the file."""
        self._db.close()

    @contextmanager
    def _told(self, verb: str) -> Iterator[None]:
        try:
            yield
        except sqlite3.Error as error:
            raise CacheUnusable(
                f"{self.path}: answers cannot be {verb} ({error}); look at the disk, then run the same command again"
            ) from error

    def _keep(self, answers: Iterable[tuple[bytes, ModelIdentity, Completion]]) -> None:
        try:
            with self._told("kept"), self._db:
                for key, model, answer in answers:
                    cost = (answer.prompt_tokens, answer.output_tokens)
                    row = (key, self._model(model), self._said(answer.text), *cost)
                    self._db.execute("INSERT OR IGNORE INTO answer VALUES (?, ?, ?, ?, ?)", row)
        except CacheUnusable:
            self._models.clear()  # what was noted was taken back
            raise

    def _completion(self, text: str | None, prompt_tokens: int, output_tokens: int) -> Completion:
        if text is None:
            raise CacheUnusable(f"{self.path}: damaged, the text of an answer is gone; restore the file from a copy")
        return Completion(text, prompt_tokens, output_tokens)

    @property
    def _columns(self) -> str:
        return f"key, name, revision, {self._text}, prompt_tokens, output_tokens"

    def _said(self, text: str) -> int:
        """Where a text is kept, once however often it is said; its place follows from it, whoever writes it first."""
        place = int.from_bytes(hashlib.sha256(text.encode()).digest()[:7])
        while True:
            self._db.execute("INSERT OR IGNORE INTO said VALUES (?, ?)", (place, text))
            if self._db.execute("SELECT text FROM said WHERE id = ?", (place,)).fetchone()[0] == text:
                return place
            place += 1  # taken by another text, which never happens

    def _model(self, model: ModelIdentity) -> int:
        if model not in self._models:
            named = (model.name, model.revision)
            self._db.execute("INSERT OR IGNORE INTO model (name, revision) VALUES (?, ?)", named)
            found = self._db.execute("SELECT id FROM model WHERE name = ? AND revision = ?", named).fetchone()
            self._models[model] = int(found[0])
        return self._models[model]

    def take(self, answers: Iterable[tuple[bytes, ModelIdentity, Completion]]) -> None:
        """Keep many answers, all or none."""
        self._keep(answers)
