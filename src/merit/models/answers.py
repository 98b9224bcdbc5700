"""Answers of language models on disk: one SQLite file, each answer under its model, messages and sampling.

The file can be handed to a colleague, merged into another, and replayed without a model. It holds no prompt, only a
hash of each, and nothing that was not a model's own answer.
"""

import hashlib
import json
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

from merit.cache import open_cache
from merit.errors import CacheUnusable, InputError
from merit.models.completer import Completion, ModelIdentity, Sampling

FILE = "answers-v1.sqlite"
_TABLES = """
CREATE TABLE IF NOT EXISTS answer (
    key BLOB PRIMARY KEY, model INT NOT NULL, text TEXT NOT NULL, prompt_tokens INT NOT NULL,
    output_tokens INT NOT NULL)
    WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS model (id INTEGER PRIMARY KEY, name TEXT NOT NULL, revision TEXT NOT NULL,
    UNIQUE (name, revision));
"""


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

    def __init__(self, path: Path | None, *, create: bool = True) -> None:
        if path is not None and not create and not path.is_file():
            raise InputError(f"{path}: no such file; give a file of recorded answers")
        self.path = path
        self._db = open_cache(path.parent if path else None, path.name if path else "", _TABLES, precious=True)
        self._models: dict[ModelIdentity, int] = {}

    def get(self, key: bytes) -> Completion | None:
        """An answer that is there."""
        try:
            row = self._db.execute(
                "SELECT text, prompt_tokens, output_tokens FROM answer WHERE key = ?", (key,)
            ).fetchone()
        except sqlite3.DatabaseError as error:
            raise CacheUnusable(f"{self.path}: cannot be read ({error})") from error
        return Completion(*row) if row else None

    def put(self, key: bytes, model: ModelIdentity, answer: Completion) -> None:
        """Keep an answer; the first one for a key stays."""
        try:
            with self._db:
                self._db.execute(
                    "INSERT OR IGNORE INTO answer VALUES (?, ?, ?, ?, ?)",
                    (key, self._model(model), answer.text, answer.prompt_tokens, answer.output_tokens),
                )
        except sqlite3.DatabaseError as error:
            raise CacheUnusable(
                f"{self.path}: an answer could not be kept ({error}); make room and run the same command again"
            ) from error

    def models(self) -> list[tuple[ModelIdentity, int]]:
        """Whose answers are there, and how many."""
        rows = self._db.execute(
            "SELECT name, revision, count(*) FROM answer JOIN model ON model = id GROUP BY id ORDER BY name, revision"
        )
        return [(ModelIdentity(name, revision), count) for name, revision, count in rows]

    def merge(self, other: Path) -> int:
        """Take over another file's answers; returns how many were new."""
        with closing(AnswerStore(other, create=False)) as source:
            before = self._count()
            for key, model, answer in source.items():
                self._db.execute(
                    "INSERT OR IGNORE INTO answer VALUES (?, ?, ?, ?, ?)",
                    (key, self._model(model), answer.text, answer.prompt_tokens, answer.output_tokens),
                )
            self._db.commit()
        return self._count() - before

    def items(self) -> Iterator[tuple[bytes, ModelIdentity, Completion]]:
        """Every answer, in the order of its key."""
        rows = self._db.execute(
            "SELECT key, name, revision, text, prompt_tokens, output_tokens FROM answer JOIN model ON model = id "
            "ORDER BY key"
        )
        for key, name, revision, *answer in rows:
            yield key, ModelIdentity(name, revision), Completion(*answer)

    def close(self) -> None:
        """Close the file."""
        self._db.close()

    def _count(self) -> int:
        return int(self._db.execute("SELECT count(*) FROM answer").fetchone()[0])

    def _model(self, model: ModelIdentity) -> int:
        if model not in self._models:
            self._db.execute("INSERT OR IGNORE INTO model (name, revision) VALUES (?, ?)", (model.name, model.revision))
            row = self._db.execute(
                "SELECT id FROM model WHERE name = ? AND revision = ?", (model.name, model.revision)
            ).fetchone()
            self._models[model] = int(row[0])
        return self._models[model]
