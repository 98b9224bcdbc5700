"""Files people give us: what is no JSON is said with its place."""

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from making.clock import COMES_S
from making.disks import no_waiting
from merit.errors import InputError
from merit.reading import (
    MIB,
    check_fields,
    check_regular,
    hash_file,
    open_file,
    parse_json,
    read_json_lines,
    read_text,
    split_lines,
)
from merit.runs.text import read_lines


def test_a_file_of_holes_is_not_hashed_for_hours(tmp_path: Path) -> None:
    (tmp_path / "holes.sqlite").touch()
    os.truncate(tmp_path / "holes.sqlite", 17 << 30)
    with no_waiting(), pytest.raises(InputError, match=r"holes.sqlite: more than 16 GiB; is it the right file\?"):
        hash_file(tmp_path / "holes.sqlite")


@pytest.mark.parametrize("value", ["NaN", "Infinity", "-Infinity", "1e999", "-1e999"])
def test_what_is_no_finite_number_is_refused(value: str) -> None:
    with pytest.raises(InputError) as said:
        parse_json(f'{{"a": [1.5, {value}]}}', Path("a.json"), 7)
    assert str(said.value) == f"a.json, line 7: {value} is not a finite number"
    with pytest.raises(InputError, match=r"^a\.jsonl, line 3: "):
        list(read_json_lines(f"1\n\n{value}\n", Path("a.jsonl")))


def test_other_numbers_are_what_they_say() -> None:
    assert parse_json('[0.1, -2.5e-3, 1E5, 7, "NaN"]', Path("a.json")) == [0.1, -0.0025, 100000.0, 7, "NaN"]


def test_only_regular_files_are_opened(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "zero").symlink_to("/dev/zero")
    (tmp_path / "random").symlink_to("/dev/random")
    for name in ("pipe", "zero", "random"):
        for read in (open_file, read_text, hash_file, check_regular):
            with pytest.raises(InputError, match=f"{name}: is a pipe, a socket or a device; only regular files are"):
                read(tmp_path / name)
    with pytest.raises(InputError, match="is a folder, where a file is expected"):
        read_text(tmp_path)
    with pytest.raises(InputError, match="none: no such file"):
        read_text(tmp_path / "none")


def test_no_more_is_read_than_an_honest_file_has(tmp_path: Path) -> None:
    path = tmp_path / "sparse.json"
    with path.open("wb") as file:
        file.truncate(1 << 40)
    with pytest.raises(InputError, match=r"sparse.json: more than 64 MiB; is it the right file\?"):
        read_text(path)


@pytest.mark.parametrize(
    ("chunk", "times", "said"),
    [
        (b"x" * MIB, 100, "a.jsonl, line 1: more than 16 MiB long"),
        (b"x\n" + b"x" * MIB, 100, "a.jsonl: more than 64 MiB"),
        (b"\n" * 11 * MIB, 1, "10000000 lines; is it the right file?"),
        (b"ab\n\xff\n", 1, r"a.jsonl: not UTF-8 text \(byte 3\)"),
    ],
)
def test_lines_without_an_end_come_to_one(chunk: bytes, times: int, said: str) -> None:
    with pytest.raises(InputError, match=said):
        for _ in split_lines((chunk for _ in range(times)), Path("a.jsonl"), 64 * MIB):
            pass


@pytest.mark.parametrize("end", [b"\n", b"\r", b"\r\n"])
def test_a_file_of_empty_lines_is_not_split(end: bytes, tmp_path: Path) -> None:
    """Each line takes eight bytes at least: half a gigabyte of them would take four."""
    path = tmp_path / "a.jsonl"
    path.write_bytes(b"1" + end * 9_999_999 + b"2\n")
    if end == b"\r\n":
        assert len(read_text(path)) == 10_000_002
    path.write_bytes(b"1" + end * 10_000_001)
    with pytest.raises(InputError, match=r"a\.jsonl: more than 10000000 lines; is it the right file\?"):
        read_text(path)
    with pytest.raises(InputError, match="more than 10000000 lines"):
        read_lines(path)


@pytest.mark.parametrize("size", [1, 2, 3, 100])
def test_lines_are_the_same_however_they_come(size: int) -> None:
    text = "eins\nzw\u00f6i\n\n\u2028 drei"
    data = text.encode()
    chunks = [data[i : i + size] for i in range(0, len(data), size)]
    assert list(split_lines(chunks, Path("a"), MIB)) == list(enumerate(text.split("\n"), 1))


@pytest.mark.parametrize("depth", [90, 110, 600, 100_000])
def test_what_is_nested_deeply_is_refused_before_it_does_harm(depth: int) -> None:
    for opening, closing in (("[", "]"), ('{"a":', "}")):
        text = opening * depth + "1" + closing * depth
        if depth < 100:
            assert parse_json(text, Path("a.json"))
        else:
            with pytest.raises(InputError, match="a.json, line 1: JSON nested too deeply"):
                parse_json(text, Path("a.json"))


def test_many_brackets_side_by_side_are_not_deep() -> None:
    assert len(parse_json("[" + "[{}]," * 5000 + "0]", Path("a.json"))) == 5001


@pytest.mark.parametrize("number", ["9" * 19, "-" + "9" * 19, str(2**63), "1" * 4000, "1" * 5000, "1" * 20])
def test_numbers_beyond_all_use_are_refused(number: str) -> None:
    with pytest.raises(InputError, match="is too large; integers have at most 64 bits") as said:
        parse_json(f'{{"a": {number}}}', Path("a.json"))
    assert len(str(said.value)) < 120


def test_long_numbers_in_texts_and_large_ones_of_use_stay() -> None:
    text = f'{{"a": "{"1" * 50}", "b": {2**63 - 1}, "c": {-(2**63)}, "d": 1.{"1" * 30}}}'
    assert parse_json(text, Path("a.json")) == json.loads(text)


def test_a_key_twice_among_many_is_found_at_once() -> None:
    keys = ",".join(f'"{i}": 0' for i in range(200_000))
    with pytest.raises(InputError, match="the key '199999' is there twice"):
        parse_json(f'{{{keys}, "199999": 1}}', Path("a.json"))


@pytest.mark.parametrize(
    ("value", "said"),
    [
        (None, "a text, not null"),
        (True, "a text, not true"),
        (7, "a text, not 7"),
        (["x" * 10**6] * 1000, "a text, not ['xxx"),
    ],
)
def test_a_wrong_value_is_said_as_json_and_shortly(value: object, said: str) -> None:
    with pytest.raises(InputError, match=re.escape(f"here: the field 'a' should be {said}")) as refused:
        check_fields({"a": value}, {"a": str}, "here")
    assert len(str(refused.value)) < 700


def test_what_the_users_own_shell_opened_is_read_and_comes_to_an_end(tmp_path: Path) -> None:
    for size, fits in ((1000, True), (70 * MIB, False)):
        script = (
            "import sys; from pathlib import Path; from merit.reading import read_text\n"
            "from merit.errors import InputError\n"
            "try: print(len(read_text(Path('/dev/stdin'))))\n"
            "except InputError as error: print(error)"
        )
        done = subprocess.run([sys.executable, "-c", script], input=b"x" * size, capture_output=True, timeout=COMES_S)
        said = str(size) if fits else "/dev/stdin: more than 64 MiB; is it the right file?"
        assert done.stdout.decode().strip() == said
    os.mkfifo(tmp_path / "stdin")
    with pytest.raises(InputError, match="only regular files are read"):
        read_text(tmp_path / "stdin")


@pytest.mark.parametrize("head", [b"\x1f\x8b\x08", b"\xfd7zXZ\x00", b"PK\x03\x04"])
def test_a_packed_file_is_to_be_unpacked(tmp_path: Path, head: bytes) -> None:
    path = tmp_path / "predictions.jsonl"
    path.write_bytes(head + b"\x00" * 20)
    with pytest.raises(InputError, match=r"predictions\.jsonl: is a packed file; unpack it first"):
        read_text(path)


@pytest.mark.parametrize(
    ("text", "line"), [('{"a":\n', 1), ('{"a":\n\n\n', 1), ('{"a": 1,\n "b":\n', 2), ('{\n"a" 1\n}\n', 2)]
)
def test_json_that_ends_too_early_is_at_fault_where_it_ends(text: str, line: int) -> None:
    with pytest.raises(InputError, match=f"^one.json, line {line}: not valid JSON"):
        parse_json(text, Path("one.json"))
