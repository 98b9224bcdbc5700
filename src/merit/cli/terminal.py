r"""The two ways to the terminal: standard streams that show control characters, and a console that may use colours.

Everything printed may hold text of a model, a database, a file or a server. A control character in it is shown as
`\x1b`, never sent: it could move the cursor, hide text, or make the terminal answer.
"""

import io
import json
import os
import re
import shutil
import sys
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import IO, Any

import click
import rich.console
from rich.cells import cell_len
from rich.console import ConsoleOptions, RenderableType
from rich.markup import escape
from rich.segment import Segment
from rich.text import Text

# C0 but for tab and newline, DEL, C1, what turns the direction of writing, other line ends, and lone surrogates; and
# what cannot be seen, so that two texts look alike, but for what joins letters and shapes emoji.
_CONTROL = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff"
    "\u00ad\u034f\u115f\u1160\u17b4\u17b5\u180e\u200b\u2060-\u2065\u206a-\u206f\u3164\ufeff\uffa0\ufff0-\ufffb"
    "\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0000-\U000e0fff]"
)
_WORD = re.compile(r"\s*(?:[^\s`]|`[^`]*`|`)+")  # with the space before it
_MOST_LISTED = 10
_NARROWEST = 20  # columns for a text, however deep it is indented


def visible(text: str, *, one_line: bool = False) -> str:
    """A text whose control characters can be read; `one_line` does the same to tabs and newlines."""
    shown = _CONTROL.sub(lambda match: _spelled(match[0]), text)
    return shown.replace("\t", "\\t").replace("\n", "\\n") if one_line else shown


def inline(text: str) -> str:
    """Untrusted text for the middle of a line of markup."""
    return escape(visible(text, one_line=True))


def listed(items: Sequence[str]) -> str:
    """Items with commas between them; of many, the first and how many more there are."""
    more = len(items) - _MOST_LISTED
    return ", ".join(items[:_MOST_LISTED]) + (f" and {more} more" if more > 0 else "")


def _spelled(character: str) -> str:
    code = ord(character)
    return f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"


class _EscapingStream(io.TextIOBase):
    """A standard stream on which control characters are shown; only our own console reaches what is below."""

    def __init__(self, below: IO[str]) -> None:
        self.below = below
        if isinstance(below, io.TextIOWrapper):
            below.reconfigure(errors="backslashreplace")  # a terminal that knows only ASCII gets \xe9 for é

    @property
    def encoding(self) -> str:  # type: ignore[override]
        return getattr(self.below, "encoding", None) or "utf-8"

    def write(self, text: str) -> int:
        self.below.write(visible(text))
        return len(text)

    def flush(self) -> None:
        self.below.flush()

    def fileno(self) -> int:
        return self.below.fileno()

    def isatty(self) -> bool:
        return False  # so that libraries send no colours, which would be shown as characters

    def writable(self) -> bool:
        return True


def open_closed_streams() -> bool:
    """Open /dev/null for every standard stream that is closed; says whether standard output was open.

    Otherwise the next file or pipe that is opened would get its number, and what is printed would go there.
    """
    was_open = sys.stdout is not None
    while (free := os.open(os.devnull, os.O_RDWR)) <= 2:  # the lowest free number is given first
        os.set_inheritable(free, True)
    os.close(free)
    sys.stdin = sys.stdin or open(0, closefd=False)  # noqa: SIM115 - for as long as the process is there
    sys.stdout = sys.stdout or open(1, "w", closefd=False)  # noqa: SIM115
    sys.stderr = sys.stderr or open(2, "w", closefd=False)  # noqa: SIM115
    return was_open


@contextmanager
def shown() -> Iterator[None]:
    """Show control characters in everything that is printed meanwhile, by us or by a library."""
    out, err = sys.stdout, sys.stderr
    if (
        isinstance(out, _EscapingStream) or "_MERIT_COMPLETE" in os.environ
    ):  # a shell asks for completions, byte for byte
        yield
        return
    shown_out, shown_err = sys.stdout, sys.stderr = _EscapingStream(out), _EscapingStream(err)
    try:
        yield
    finally:  # click replaces a closed pipe by a stream of its own, which must stay
        sys.stdout = out if sys.stdout is shown_out else sys.stdout
        sys.stderr = err if sys.stderr is shown_err else sys.stderr


class Console(rich.console.Console):
    """A console that colours what merit says and shows control characters in it.

    On a terminal long lines are broken between words; piped, each stays one line.
    """

    def __init__(self, *, stderr: bool = False, soft_wrap: bool | None = None, **options: Any) -> None:
        super().__init__(stderr=stderr, **{"highlight": False, "emoji": False, **options})
        self.soft_wrap = not self.is_terminal if soft_wrap is None else soft_wrap

    @property
    def file(self) -> IO[str]:
        """Where to write: below the stream that would show our own colours as characters."""
        stream = super().file
        return stream.below if isinstance(stream, _EscapingStream) else stream

    @file.setter
    def file(self, new_file: IO[str]) -> None:
        self._file = new_file

    def render_str(self, text: str, **options: Any) -> Text:
        """Every string, with its markup, on its way to the terminal."""
        return super().render_str(visible(text), **options)

    def render(self, renderable: RenderableType, options: ConsoleOptions | None = None) -> Iterable[Segment]:
        """Everything else on its way: texts may have been made without markup."""
        if isinstance(renderable, Text) and _CONTROL.search(renderable.plain):
            renderable = Text(visible(renderable.plain), renderable.style)
        return super().render(renderable, options)

    def block(self, text: str, indent: int, style: str = "", *, head: str = "") -> None:
        """Print untrusted text: every line of it at an indent, the first one after `head` (which is markup)."""
        start = self.render_str(head)
        indent = max(indent, start.cell_len)
        start.pad_right(indent - start.cell_len)
        body = Text(visible(text), style)
        wide = max(_NARROWEST, self.width - indent)
        lines = body.split("\n") if self.soft_wrap else body.wrap(self, wide, overflow="fold")
        for line in lines or [Text()]:
            line.rstrip()
            self.print(start + line, soft_wrap=True)
            start = Text(" " * indent)


def say(sentence: str, *, err: bool = False) -> None:
    """Print a sentence as one line; on a terminal, broken between words, but never inside a command to be copied."""
    shown = visible(sentence, one_line=True)
    stream = sys.stderr if err else sys.stdout
    below = stream.below if isinstance(stream, _EscapingStream) else stream
    click.echo(broken(shown, shutil.get_terminal_size().columns) if below.isatty() else shown, err=err)


def broken(sentence: str, width: int) -> str:
    """A sentence in lines of a width; words and what stands in backticks stay whole, however long they are."""
    lines = [""]
    for word in _WORD.findall(sentence):
        if lines[-1] and cell_len(lines[-1] + word) > width:
            lines.append(word.lstrip())
        else:
            lines[-1] += word
    return "\n".join(lines)


def print_json(value: Any) -> None:
    """Print a value as one JSON document."""
    click.echo(json_line(json.dumps(value, indent=2)))


def json_line(text: str) -> str:
    """JSON of the same value in which every control character is spelled as JSON spells it."""

    def spelled(match: re.Match[str]) -> str:
        units = match[0].encode("utf-16-be", "surrogatepass")
        return "".join(f"\\u{units[at : at + 2].hex()}" for at in range(0, len(units), 2))

    return _CONTROL.sub(spelled, text)
