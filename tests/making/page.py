"""`merit serve` as a process of its own on a shop's database, with a model that a test tells what to say."""

import json
import os
import random
import signal
import socket
import sqlite3
import subprocess
import sys
import threading
import time
import urllib.request
from collections import Counter
from contextlib import closing
from pathlib import Path
from typing import Any

from making.clock import COMES_S
from making.endpoint import Action, Asked, ChatServer, as_json, completion

ALERT = "<img src=x onerror='window.hurt=1'><script>window.hurt=1</script>"
HOSTILE_TABLE = f"bad {ALERT}"
CITIES = ("Berlin", "Hamburg", "Köln", "Leipzig")


def make_shop(path: Path) -> Path:
    """Customers, 5,000 orders and items; and a table whose name, columns and values are markup."""
    draw = random.Random(4)
    with closing(sqlite3.connect(path)) as db, db:
        db.executescript(
            "CREATE TABLE customers (id INTEGER PRIMARY KEY, name TEXT, city TEXT);"
            "CREATE TABLE orders (id INTEGER PRIMARY KEY, customer_id INTEGER REFERENCES customers(id), state TEXT,"
            " total REAL, ordered DATE);"
            "CREATE TABLE items (id INTEGER PRIMARY KEY, name TEXT, stock INTEGER);"
            f'CREATE TABLE "{HOSTILE_TABLE}" ("<b>{ALERT}" TEXT, "javascript:hurt()" TEXT);'
        )
        cities = [(number, f"Customer {number}", CITIES[number % 4]) for number in range(1, 41)]
        db.executemany("INSERT INTO customers VALUES (?, ?, ?)", cities)
        states = ("paid", "open", "shipped")
        for number in range(1, 5001):
            day = f"2025-{draw.randint(1, 12):02}-{draw.randint(1, 28):02}"
            order = (number, draw.randint(1, 40), draw.choice(states), round(draw.uniform(1, 300), 2), day)
            db.execute("INSERT INTO orders VALUES (?, ?, ?, ?, ?)", order)
        db.executemany("INSERT INTO items VALUES (?, ?, ?)", [(1, "lamp", 0), (2, "desk", 3), (3, "rug", 0)])
        words = [ALERT, "javascript:hurt()", "\x1b[2J\x00\u202e", "w" * 5000, "two\nlines", "=1+1", None]
        db.executemany(f'INSERT INTO "{HOSTILE_TABLE}" VALUES (?, ?)', [(word, ALERT) for word in words])
    return path


class ToldModel:
    """Says what it was told for a question: the first reply first, the last one for ever; waits where it is held."""

    def __init__(self) -> None:
        self.replies: dict[str, list[str]] = {}
        self.held_from: dict[str, int] = {}  # by question: the call, from 1, that waits for `go`
        self.go = threading.Event()
        self._calls = Counter[str]()

    def tell(self, question: str, *replies: str, held_from: int | None = None) -> str:
        """What to say for a question, which is returned."""
        self.replies[question] = list(replies)
        if held_from is not None:
            self.held_from[question] = held_from
            self.go.clear()
        return question

    def __call__(self, asked: Asked) -> Action:
        prompt = asked.prompt
        known = [question for question in self.replies if f"{question}\n" in prompt]
        question = max(known, key=lambda one: prompt.rfind(f"{one}\n"), default="")  # what was recalled comes before
        self._calls[question] += 1
        call = self._calls[question]
        if call >= self.held_from.get(question, 10**9):
            self.go.wait(COMES_S)
        replies = self.replies.get(question, ["SELECT 1"])
        reply = replies[min(call, len(replies)) - 1]
        return as_json(completion(f"<answer>{reply}</answer>", 100, 10))


class ServedPage:
    """A server process that can be killed and started again on the same port."""

    def __init__(self, folder: Path, model: ToldModel, endpoint: ChatServer) -> None:
        self.folder = folder
        self.model = model
        self._endpoint = endpoint
        self._process: subprocess.Popen[bytes] | None = None
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self.port = int(free.getsockname()[1])

    @property
    def address(self) -> str:
        return f"http://127.0.0.1:{self.port}/"

    def start(self) -> None:
        """Start, and wait until it answers."""
        given = ["--database", "sqlite:///shop.sqlite", "--model", "openai:told"]
        settings = [] if (self.folder / "merit.toml").exists() else given
        command = [sys.executable, "-m", "merit", "serve", "--no-browser", "--port", str(self.port), *settings]
        own = {
            "OPENAI_BASE_URL": self._endpoint.url,
            "OPENAI_API_KEY": "none",
            "MERIT_CACHE": str(self.folder / "cache"),
        }
        environment = {**os.environ, **own}
        log = (self.folder / "serve.log").open("ab")
        with log:
            self._process = subprocess.Popen(command, cwd=self.folder, env=environment, stdout=log, stderr=log)
        until = time.monotonic() + COMES_S
        while not self._alive():
            assert self._process.poll() is None, (self.folder / "serve.log").read_text()[-2000:]
            assert time.monotonic() < until, "the server did not start in time"
            time.sleep(0.05)

    def kill(self) -> None:
        """End it at once, as a crash would."""
        if self._process is not None:
            self._process.send_signal(signal.SIGKILL)
            self._process.wait()

    def api(self, path: str, body: Any = None, method: str | None = None) -> Any:
        """What the API says."""
        data = None if body is None else json.dumps(body).encode()
        request = urllib.request.Request(
            f"{self.address}api/{path}", data, {"Content-Type": "application/json"}, method=method
        )
        with urllib.request.urlopen(request, timeout=COMES_S) as reply:
            return json.load(reply)

    def ask(self, question: str, *replies: str) -> str:
        """Ask without the page; the answer's id."""
        self.model.tell(question, *replies)
        return str(self.api("answers", {"question": question})["id"])

    def _alive(self) -> bool:
        try:
            with urllib.request.urlopen(f"{self.address}health/live", timeout=10) as reply:
                return bool(reply.status == 200)
        except OSError:
            return False
