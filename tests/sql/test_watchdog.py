"""Deadlines fire once, on time, and only for what is still running."""

import threading
import time

from merit.sql.watchdog import Watchdog


class Statement:
    def __init__(self) -> None:
        self.expired = threading.Event()

    def expire(self) -> None:
        self.expired.set()


def test_an_armed_statement_expires_at_its_deadline() -> None:
    watchdog, statement = Watchdog(), Statement()
    started = time.monotonic()
    watchdog.arm(statement, started + 0.1)
    assert statement.expired.wait(5.0)
    assert time.monotonic() - started >= 0.1


def test_a_disarmed_statement_is_left_alone() -> None:
    watchdog, statement, other = Watchdog(), Statement(), Statement()
    now = time.monotonic()
    watchdog.arm(statement, now + 0.05)
    watchdog.arm(other, now + 0.2)
    watchdog.disarm(statement)
    assert other.expired.wait(5.0)
    assert not statement.expired.is_set()


def test_an_earlier_deadline_overtakes_a_later_one() -> None:
    watchdog, late, early = Watchdog(), Statement(), Statement()
    watchdog.arm(late, time.monotonic() + 60.0)
    time.sleep(0.05)  # the thread now sleeps until the late one
    watchdog.arm(early, time.monotonic() + 0.05)
    assert early.expired.wait(5.0)
    assert not late.expired.is_set()
