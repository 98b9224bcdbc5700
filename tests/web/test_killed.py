"""A server that is killed while people confirm: nothing that it acknowledged is lost."""

import http.client
import json
import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import Any

from making.clock import COMES_S
from making.live import COUNT, make_shop
from merit.web.access_tokens import Right, TokenStore

PEOPLE = 4
KILLS = 2


def request(port: int, token: str, method: str, path: str, body: object = None) -> tuple[int, Any]:
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=COMES_S)
    headers = {"Authorization": f"Bearer {token}", "Content-Type": "application/json"}
    try:
        connection.request(method, path, json.dumps(body) if body is not None else None, headers)
        answer = connection.getresponse()
        return answer.status, json.loads(answer.read())
    finally:
        connection.close()


def start(folder: Path) -> tuple[subprocess.Popen[str], int]:
    command = [sys.executable, "-m", "merit", "serve", "--database", "sqlite:///shop.sqlite", "--model"]
    command += ["scripted:script.jsonl", "--port", "0", "--no-browser", "--no-json-log"]
    source = str(Path(__file__).parents[2] / "src")
    environment = {**os.environ, "PYTHONPATH": source, "MERIT_CACHE": str(folder / "cache"), "PYTHONUNBUFFERED": "1"}
    process = subprocess.Popen(command, cwd=folder, env=environment, stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    line = process.stdout.readline()
    process.stdout.close()
    return process, int(line.partition("127.0.0.1:")[2].partition("/")[0])


def test_what_was_acknowledged_survives_a_kill(tmp_path: Path) -> None:
    make_shop(tmp_path / "shop.sqlite")
    (tmp_path / "script.jsonl").write_text(json.dumps({"reply": f"<answer>{COUNT}</answer>"}) + "\n")
    store = TokenStore(tmp_path / ".merit")
    tokens = [store.add(f"person-{number}", list(Right)) for number in range(PEOPLE)]
    answered: list[str] = []
    confirmed: list[tuple[str, str]] = []  # answers and entries

    def person(port: int, token: str) -> None:
        number = 0
        while True:
            number += 1
            try:
                status, answer = request(port, token, "POST", "/api/answers", {"question": f"How many, {number}?"})
                assert status == 200, answer
                answered.append(answer["id"])
                status, said = request(port, token, "POST", f"/api/answers/{answer['id']}/confirm")
                assert status == 200, said
                confirmed.append((answer["id"], said["entries"][0]))
            except (OSError, http.client.HTTPException, json.JSONDecodeError):
                return  # the kill

    for _ in range(KILLS):
        process, port = start(tmp_path)
        people = [threading.Thread(target=person, args=(port, token)) for token in tokens]
        before = len(confirmed)
        for one in people:
            one.start()
        until = time.monotonic() + COMES_S
        while len(confirmed) < before + 15 and time.monotonic() < until:
            time.sleep(0.01)
        process.send_signal(signal.SIGKILL)
        process.wait()
        for one in people:
            one.join(COMES_S)
    assert len(confirmed) >= 15 * KILLS
    process, port = start(tmp_path)
    try:
        _, history = request(port, tokens[0], "GET", "/api/answers?limit=500")
        known = {one["id"]: one["feedback"] for one in history["answers"]}
        assert set(answered) <= set(known)
        assert all(known[answer]["kind"] == "confirmed" for answer, _ in confirmed)
        _, memory = request(port, tokens[0], "GET", "/api/memory?limit=500")
        assert {entry for _, entry in confirmed} <= {one["id"] for one in memory["entries"]}
    finally:
        process.send_signal(signal.SIGTERM)
        assert process.wait(COMES_S) in (0, -signal.SIGTERM)
