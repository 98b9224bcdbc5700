"""A history holds what was acknowledged, whole, whatever happens to the process that writes it."""

import io
import signal
import subprocess
import sys
import textwrap
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from merit.agent.feedback import ExecutedStatement
from merit.errors import InputError, MeritError
from merit.live import AnswerStatus, Asked, Confirmed, Corrected, Feedback, History, Rejected
from merit.live.record.browsing import HistorySearch, search_history
from merit.live.record.events import event_record
from merit.runs.text import to_json
from merit.types import Status

ASKED = Asked(
    "a1", "2026-11-16T10:00:00+00:00", "How many?", "shop", "sqlite", "f0", 3, "precedent_grounded", "told", "00",
    "SELECT 1", AnswerStatus.ANSWERED, 0.75, None, (ExecutedStatement("SELECT x", Status.EXECUTION_ERROR, "no such column: x"),), ("pre-1",), "", 4, 40, 20, 1.5, 1,
)  # fmt: skip
ADDED = ("earlier", "passed", "failed", "kept", "replies", "receipt", "author")
SAID: list[Feedback] = [
    Confirmed("a1", "t", "ada", ("pre-1",)),
    Rejected("a1", "t", "ada", (), "it counts"),
    Corrected("a1", "t", "ada", ("pre-1", "pos-1"), "SELECT 2"),
]


@pytest.mark.parametrize("words", ["many", "zebra"])
def test_a_search_looks_at_what_is_hidden_whether_it_has_the_words_or_not(tmp_path: Path, words: str) -> None:
    history, looked = History(tmp_path), list[str]()
    history.append(ASKED)

    def seen(asked: Asked, _: Feedback | None) -> bool:
        looked.append(asked.id)
        return False

    assert search_history(history, HistorySearch((words,)), 10, seen=seen).items == ()
    assert looked == ["a1"]


def test_events_come_back_as_they_were(tmp_path: Path) -> None:
    history = History(tmp_path)
    for event in [ASKED, *SAID]:
        history.append(event)
    assert history.events() == [ASKED, *SAID]
    assert history.find("a") == (ASKED, SAID[-1])


def test_what_a_crash_left_of_a_line_is_cut_off(tmp_path: Path) -> None:
    history = History(tmp_path)
    history.append(ASKED)
    with history.path.open("a") as file:
        file.write('{"format":1,"kind":"confirmed","answer":')
    assert history.events() == [ASKED]
    history.append(SAID[0])
    assert history.events() == [ASKED, SAID[0]]


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ('"kind":"asked"', '"kind":"guessed"', "line 1: there is no event 'guessed'; use a newer merit"),
        ('"position":3', '"position":"3"', "line 1"),
        ('"status":"answered"', '"status":"sure"', "line 1: a status cannot be what it is; it was edited"),
        ('"dialect":"sqlite"', '"dialect":"sqlit"', "line 1: the field 'dialect' cannot be 'sqlit'; it was edited"),
        ('"recalled":["pre-1"]', '"recalled":"pre-1"', "line 1: the field 'recalled' should be a list of texts"),
        ('"format":3', '"format":9', "line 1: a history of format 9, and this merit .* reads format 3; update merit"),
        ('"format":3', '"format":1', "line 1: not the fields of an event asked"),
        ('"calls":4', '"calls":-4', "line 1: a number cannot be below 0; it was edited"),
        ('"seconds":1.5', '"seconds":"1.5"', "line 1: the field 'seconds' should be a number"),
        ('"question":"How many?",', "", "line 1: not the fields of an event asked"),
    ],
)  # fmt: skip
def test_a_damaged_line_is_named(tmp_path: Path, old: str, new: str, said: str) -> None:
    history = History(tmp_path)
    history.append(ASKED)
    text = history.path.read_text()
    assert old in text
    history.path.write_text(text.replace(old, new))
    with pytest.raises(InputError, match=said):
        history.events()


def test_a_history_of_the_first_format_is_read(tmp_path: Path) -> None:
    record = event_record(ASKED)
    for name in ("reason", "calls", "prompt_tokens", "output_tokens", "seconds", "widened", *ADDED):
        del record[name]
    history = History(tmp_path)
    history.path.write_text(to_json({**record, "format": 1}) + "\n")
    history.append(SAID[0])
    older = replace(ASKED, calls=0, prompt_tokens=0, output_tokens=0, seconds=0.0, widened=0)
    assert history.find("a1") == (older, SAID[0])
    assert history.sent_on("2026-11-16").calls == 0


def test_a_history_of_the_second_format_is_read(tmp_path: Path) -> None:
    record = event_record(ASKED)
    del record["author"]
    history = History(tmp_path)
    history.path.write_text(to_json({**record, "format": 2}) + "\n")
    history.append(replace(ASKED, id="b1", author="ada"))
    assert history.find("a1") == (ASKED, None)
    assert history.find("b1")[0].author == "ada"


@pytest.mark.parametrize("damage", [b"H\xffw", b"H\\qw", b"H\\ud8w"])
def test_a_text_that_cannot_be_read_hides_no_other_answer(tmp_path: Path, damage: bytes) -> None:
    history = History(tmp_path)
    history.append(replace(ASKED, id="b1"))
    history.path.write_bytes(history.path.read_bytes().replace(b"How", damage))
    history.append(ASKED)
    assert history.find("a1") == (ASKED, None)
    assert history.same_question("shop", (), ASKED.question) == [ASKED]
    with pytest.raises(InputError, match="there is no answer 'b1'"):
        history.find("b1")
    with pytest.raises(MeritError, match="history.jsonl, line 1: not"):
        history.events()


def test_what_a_day_took_is_added_up_as_the_history_grows(tmp_path: Path) -> None:
    history, other = History(tmp_path), History(tmp_path)
    assert history.sent_on("2026-11-16").calls == 0
    for number in range(3):
        other.append(replace(ASKED, id=str(number)))
        assert history.sent_on("2026-11-16").calls == 4 * (number + 1)
    other.append(replace(ASKED, question='"time":"2026-11-17', time="2026-11-15T23:59:59+00:00"))
    sent = history.sent_on("2026-11-16")
    assert (sent.calls, sent.prompt_tokens, sent.output_tokens, sent.seconds) == (12, 120, 60, 4.5)
    assert history.sent_on("2026-11-17").calls == 0
    assert history.sent_on("2026-11-15").calls == 4


def test_an_answer_is_found_by_its_text_without_reading_the_others(tmp_path: Path) -> None:
    history = History(tmp_path)
    history.append(replace(ASKED, id="b1", question='{"id":"a1"}, or "answer":"a1"?'))
    with history.path.open("a") as file:
        file.write("a line that is damaged\n")
    history.append(ASKED)
    history.append(SAID[0])
    assert history.find("a1") == (ASKED, SAID[0])
    with pytest.raises(InputError, match="line 2"):
        history.events()


def test_an_ambiguous_beginning_is_told(tmp_path: Path) -> None:
    history = History(tmp_path)
    history.append(ASKED)
    history.append(replace(ASKED, id="a2"))
    with pytest.raises(InputError, match="several answers begin with 'a'"):
        history.find("a")


def test_many_writers_lose_nothing(tmp_path: Path) -> None:
    def write(writer: int) -> None:
        for number in range(20):
            History(tmp_path).append(replace(ASKED, id=f"{writer}-{number}"))

    threads = [threading.Thread(target=write, args=(writer,)) for writer in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(History(tmp_path).answers()) == 80


def test_an_answer_whose_line_is_finished_while_the_file_is_read_is_found(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    history, line = History(tmp_path), (to_json(event_record(ASKED)) + "\n").encode()
    history.append(replace(ASKED, id="first"))
    with history.path.open("ab") as file:
        file.write(line[:100])

    class Growing(io.FileIO):
        """A file that another thread goes on writing to once its end was seen."""

        def readinto(self, buffer: Any) -> int | None:
            read = super().readinto(buffer)
            if not read and line not in history.path.read_bytes():
                with history.path.open("ab") as file:
                    file.write(line[100:])
            return read

    with monkeypatch.context() as patch:
        patch.setattr("merit.live.record.lines.os.fdopen", lambda file, mode: io.BufferedReader(Growing(file, mode)))
        history._lines.follow()
    assert line in history.path.read_bytes()
    assert history._lines.ids("") == ["first", ASKED.id]
    assert history.find(ASKED.id) == (ASKED, None)


def test_whatever_was_acknowledged_survives_a_kill(tmp_path: Path) -> None:
    script = textwrap.dedent(
        f"""
        import sys
        sys.path[:0] = {[str(Path(__file__).parent)]!r}
        from dataclasses import replace
        from pathlib import Path
        from test_history import ASKED, History
        for number in range(10**6):
            History(Path({str(tmp_path)!r})).append(replace(ASKED, id=str(number)))
            print(number, flush=True)
        """
    )
    with subprocess.Popen([sys.executable, "-c", script], stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        for _ in range(25):
            process.stdout.readline()
        process.send_signal(signal.SIGKILL)
        acknowledged = 25 + len(process.stdout.read().splitlines())
    assert len(History(tmp_path).answers()) >= acknowledged


def test_threads_of_one_process_wait_for_each_other_however_long_it_takes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("merit.live.record.history._WAIT_S", 0.05)  # for other processes
    monkeypatch.setattr("merit.files._TRIES", 1)
    monkeypatch.setattr("merit.live.record.history.os.fsync", lambda _: time.sleep(0.05))  # a busy disk
    history = History(tmp_path)
    with ThreadPoolExecutor(10) as threads:
        list(threads.map(lambda number: history.append(replace(ASKED, id=f"a{number}")), range(10)))
    assert len(history.answers()) == 10
