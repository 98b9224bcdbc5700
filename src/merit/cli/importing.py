"""Ctrl-C while a command's modules are imported: it ends at once."""

import os
import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager

AGAIN = "the same command begins anew"


def _stop(*_: object) -> None:
    """End at once: importing everything takes a moment, and libraries may swallow an exception on their way in."""
    os.write(2, f"merit: stopped; nothing was begun; {AGAIN}\n".encode())
    os._exit(130)


@contextmanager
def ending_at_once() -> Iterator[None]:
    """Let Ctrl-C end the process within this block, where no other code handles it."""
    usual = signal.getsignal(signal.SIGINT)
    if usual is not signal.default_int_handler or threading.current_thread() is not threading.main_thread():
        yield
        return
    signal.signal(signal.SIGINT, _stop)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, usual)
