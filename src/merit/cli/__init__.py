"""The command line: parses, shows, nothing else."""

import os
import signal
import threading


def _stop(*_: object) -> None:
    """End at once: importing everything takes a moment, and libraries may swallow an exception on their way in."""
    os.write(2, b"merit: stopped; nothing was begun; the same command begins anew\n")
    os._exit(130)


_usual = signal.getsignal(signal.SIGINT)
_default_handler = _usual is signal.default_int_handler and threading.current_thread() is threading.main_thread()
if _default_handler:  # only where no other code handles Ctrl-C
    signal.signal(signal.SIGINT, _stop)
try:
    from merit.cli.main import main
finally:
    if _default_handler:
        signal.signal(signal.SIGINT, _usual)

__all__ = ["main"]
