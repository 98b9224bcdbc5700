"""YAML of other people, read without building anything but texts, lists and objects; and texts as YAML.

PyYAML's parser gives events; the values are made here. So no tag makes an object, no alias multiplies, no number
or date is computed, and depth and size are bounded while it reads. PyYAML and not ruamel.yaml: no file is changed in
place, and most machines have it.
"""

from pathlib import Path
from typing import Any

import yaml

from merit.errors import InputError
from merit.reading import MIB, read_text, sendable, shown

_MOST_BYTES = 4 * MIB  # Snowflake refuses semantic models of more than 1 MB
_MOST_EVENTS = 200_000  # 1 MB of a semantic model has less than half
_MOST_DIRECTIVES = 100  # lines before a document, such as %YAML 1.1; each is compared with all before it
_WIDEST = 1 << 20  # columns: a long line stays one line
_DEEPEST = 50  # levels; semantic models have about 8
_LOADER = getattr(yaml, "CSafeLoader", yaml.SafeLoader)  # the one in C is ten times as fast, and not everywhere
_BASE_DUMPER = getattr(yaml, "CSafeDumper", yaml.SafeDumper)
_EMPTY = {"", "~", "null", "Null", "NULL"}


def read_yaml(path: Path) -> Any:
    """The value of a YAML document in a file."""
    return parse_yaml(read_text(path, _MOST_BYTES), path)


def parse_yaml(text: str, path: Path, first_line: int = 1, most_events: int = _MOST_EVENTS) -> Any:
    """The value of a YAML document that starts at a line of `path`.

    It has objects, lists, texts (numbers too, as they are written) and null.
    """
    if f"\n{text}".count("\n%") > _MOST_DIRECTIVES:
        raise InputError(f"{path}: more than {_MOST_DIRECTIVES} lines begin with %; is it the right file?")
    builder = _Builder(path, first_line)
    try:
        for number, event in enumerate(yaml.parse(text, Loader=_LOADER)):
            if number > most_events:
                raise InputError(f"{path}: more than {most_events} values; is it the right file?")
            builder.take(event)
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        line = f", line {mark.line + first_line}" if mark else ""
        raise InputError(f"{path}{line}: not valid YAML ({error.problem or error.context})") from None
    except yaml.YAMLError as error:  # characters that YAML does not have
        raise InputError(f"{path}: not valid YAML ({error})") from None
    return builder.document


class _Dumper(_BASE_DUMPER):  # type: ignore[misc, valid-type]
    """Writes a text of several lines as a block, as people do."""


def _write_text(dumper: Any, text: str) -> Any:
    return dumper.represent_scalar("tag:yaml.org,2002:str", text, style="|" if "\n" in text else None)


_Dumper.add_representer(str, _write_text)


def yaml_text(value: Any) -> str:
    """Objects, lists, texts and numbers as YAML, which is read back as it was."""
    text: str = yaml.dump(
        value, Dumper=_Dumper, sort_keys=False, allow_unicode=True, default_flow_style=False, width=_WIDEST
    )
    return text


class _Builder:
    """Makes a value of events, with a stack of what is open."""

    def __init__(self, path: Path, first_line: int) -> None:
        self.document: Any = None
        self._path = path
        self._first_line = first_line
        self._open: list[dict[str, Any] | list[Any]] = []
        self._keys: list[str | None] = []  # of each open object: the key that waits for its value
        self._documents = 0

    def take(self, event: yaml.Event) -> None:
        """Go on by one event."""
        match event:
            case yaml.DocumentStartEvent():
                self._documents += 1
                if self._documents > 1:
                    raise self._fault(event, "a second document begins here; write one document a file")
            case yaml.AliasEvent():
                raise self._fault(event, f"the alias *{event.anchor} is not followed; write the value out")
            case yaml.ScalarEvent():
                self._check_tag(event)
                empty = event.style in (None, "") and event.value in _EMPTY
                self._put(event, None if empty else sendable(event.value))
            case yaml.MappingStartEvent() | yaml.SequenceStartEvent():
                self._check_tag(event)
                nested: dict[str, Any] | list[Any] = {} if isinstance(event, yaml.MappingStartEvent) else []
                self._put(event, nested)
                self._open.append(nested)
                self._keys.append(None)
                if len(self._open) > _DEEPEST:
                    raise self._fault(event, f"nested more than {_DEEPEST} levels deep")
            case yaml.MappingEndEvent() | yaml.SequenceEndEvent():
                self._open.pop()
                self._keys.pop()

    def _put(self, event: yaml.Event, value: Any) -> None:
        if not self._open:
            self.document = value
            return
        nested = self._open[-1]
        if isinstance(nested, list):
            nested.append(value)
        elif (key := self._keys[-1]) is not None:
            nested[key] = value
            self._keys[-1] = None
        elif not isinstance(value, str):
            raise self._fault(event, "a key should be a text")
        elif value in nested:
            raise self._fault(event, f"the key {shown(value)} is there twice")
        else:
            self._keys[-1] = value

    def _check_tag(self, event: yaml.NodeEvent) -> None:
        tag = getattr(event, "tag", None)
        if tag not in (None, "!", *(f"tag:yaml.org,2002:{kind}" for kind in ("str", "map", "seq"))):
            raise self._fault(event, f"the tag {shown(tag)} is not read; write a plain value")

    def _fault(self, event: yaml.Event, what: str) -> InputError:
        return InputError(f"{self._path}, line {event.start_mark.line + self._first_line}: {what}")
