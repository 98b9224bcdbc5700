"""Commands on a real terminal."""

import fcntl
import os
import re
import select
import struct
import subprocess
import sys
import termios
import time
from collections.abc import Mapping, Sequence

from making.clock import COMES_S

COLOURS = re.compile(r"\x1b\[[0-9;]*m")


def _own_terminal() -> None:
    fcntl.ioctl(0, termios.TIOCSCTTY, 0)


def _until_keys_are_read(terminal: int) -> None:
    over = time.monotonic() + COMES_S
    while termios.tcgetattr(terminal)[3] & termios.ICANON and time.monotonic() < over:
        time.sleep(0.01)


def on_terminal(
    arguments: Sequence[object],
    *,
    columns: int = 80,
    keys: Sequence[tuple[str, str]] = (),
    environment: Mapping[str, str] | None = None,
) -> tuple[int, str]:
    """Run merit on a terminal; of `keys`, each is pressed once its text has been seen and single keys are read.

    Returns exit code and output.
    """
    ours, theirs = os.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 50, columns, 0, 0))
    kept = {name: value for name, value in os.environ.items() if name not in ("COLUMNS", "LINES", "NO_COLOR")}
    process = subprocess.Popen(
        [sys.executable, "-m", "merit", *map(str, arguments)],
        stdin=theirs,
        stdout=theirs,
        stderr=theirs,
        start_new_session=True,
        preexec_fn=_own_terminal,
        env={**kept, "TERM": "xterm-256color", "PYTHONPATH": os.pathsep.join(sys.path), **(environment or {})},
    )
    os.close(theirs)
    waiting, output, seen, over = list(keys), b"", 0, time.monotonic() + COMES_S
    while time.monotonic() < over:
        if waiting and (place := output.find(waiting[0][0].encode(), seen)) >= 0:
            seen = place + len(waiting[0][0].encode())
            _until_keys_are_read(ours)
            os.write(ours, waiting.pop(0)[1].encode())
        if not select.select([ours], [], [], 0.05)[0]:
            continue
        try:
            chunk = os.read(ours, 1 << 16)
        except OSError:  # Linux says so when nobody has the other end open
            break
        if not chunk:
            break
        output += chunk
    process.kill() if time.monotonic() >= over else None
    code = process.wait()
    os.close(ours)
    assert not waiting, f"{waiting[0][0]!r} never came: {output!r}"
    return code, output.decode("utf-8", "surrogateescape").replace("\r\n", "\n")


def plain(output: str) -> str:
    """What a person reads of it."""
    return COLOURS.sub("", output)
