"""Processes that share long work: they count the questions that they finish, and end with their parent."""

import os
import signal
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context, parent_process
from multiprocessing.sharedctypes import Synchronized

from merit.sql.process import end_with_parent

_CONTEXT = get_context("spawn")  # forking a process with threads is unsafe
_finished: "Synchronized[int] | None" = None  # in a worker: the counter that all of them share


def new_counter() -> "Synchronized[int]":
    """A counter of finished questions, for `open_pool`."""
    return _CONTEXT.Value("i", 0)


def open_pool(tasks: int, finished: "Synchronized[int] | None" = None) -> ProcessPoolExecutor:
    """As many workers as there are cores, and no more than there are tasks."""
    workers = min(tasks, os.cpu_count() or 1)
    return ProcessPoolExecutor(workers, mp_context=_CONTEXT, initializer=_begin, initargs=(finished,))


def count_question() -> None:
    """A worker has finished a question."""
    if _finished is not None:
        with _finished.get_lock():
            _finished.value += 1


def _begin(finished: "Synchronized[int] | None") -> None:
    global _finished
    _finished = finished
    signal.signal(signal.SIGINT, signal.SIG_DFL)  # Ctrl-C ends it at once: SQLite takes Python's for a query's end
    parent = parent_process()
    if parent is not None:
        end_with_parent(parent.sentinel)
        if not parent.is_alive():  # it was killed while this process started
            os._exit(1)
