"""Answers as JSON lines: what was written is what is read and replayed; what is damaged is said by its line."""

import asyncio
import json
import lzma
from contextlib import closing
from pathlib import Path

import pytest

from making.disks import no_waiting, put_in_the_way
from merit.errors import InputError, NotRecorded
from merit.models import AnswerStore, answer_key, open_completer
from merit.models.exported import Answer, open_exported, write_exported
from merit.types import Completion, ModelIdentity, Sampling

MODEL = ModelIdentity("openai:m", "1")
NAMES = ("a.jsonl", "a.jsonl.xz")


def answers(*prompts: str) -> list[Answer]:
    return [
        (answer_key(MODEL, prompt, Sampling()), MODEL, Completion(f"{prompt}\nÄ \u2028!", 3, 2)) for prompt in prompts
    ]


@pytest.mark.parametrize("name", NAMES)
def test_what_was_written_is_replayed_by_uri(tmp_path: Path, name: str) -> None:
    assert write_exported(tmp_path / name, answers("p", "q")) == 2
    replay = open_completer(f"replay:{tmp_path / name}")
    assert replay.identity == MODEL
    assert asyncio.run(replay.complete("q", Sampling())) == Completion("q\nÄ \u2028!", 3, 2)
    with pytest.raises(NotRecorded, match=f"{name}: no recorded answer of openai:m to the prompt ") as missing:
        asyncio.run(replay.complete("r", Sampling()))
    assert missing.value.prompt == answer_key(MODEL, "r", Sampling()).hex()
    asyncio.run(replay.close())
    assert [path.name for path in tmp_path.iterdir()] == [name]  # nothing unfinished, nothing unpacked


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("kind", ["link", "pipe"])
def test_an_export_is_written_through_nothing_that_lies_in_its_way(tmp_path: Path, name: str, kind: str) -> None:
    other = tmp_path / "other"
    other.write_text("precious")
    put_in_the_way(tmp_path / f"{name}.part", kind, other)
    with no_waiting():
        write_exported(tmp_path / name, answers("p"))
    assert other.read_text() == "precious"
    assert not (tmp_path / name).is_symlink()
    with closing(open_exported(tmp_path / name)) as again:
        assert len(again) == 1


def test_a_store_and_its_export_hold_the_same(tmp_path: Path) -> None:
    with closing(AnswerStore(tmp_path / "a.sqlite")) as store:
        store.take(answers("p", "q", "r"))
        write_exported(tmp_path / "a.jsonl.xz", store.items())
        with closing(open_exported(tmp_path / "a.jsonl.xz")) as again:
            assert list(again.items()) == list(store.items())
            assert again.models() == [(MODEL, 3)]


def test_the_same_answers_are_the_same_bytes(tmp_path: Path) -> None:
    for name in ("one.jsonl.xz", "two.jsonl.xz"):
        write_exported(tmp_path / name, answers("p", "q"))
    assert (tmp_path / "one.jsonl.xz").read_bytes() == (tmp_path / "two.jsonl.xz").read_bytes()


GOOD = {"key": "00" * 16, "model": "m", "revision": "", "text": "t", "prompt_tokens": 1, "output_tokens": 1}


@pytest.mark.parametrize(
    ("second", "said"),
    [
        ('{"key": ', "line 2: not valid JSON"),
        ("[]", "line 2: expected a JSON object"),
        (json.dumps({**GOOD, "text": None}), "line 2: the field 'text' should be a text"),
        (json.dumps({**GOOD, "key": "00"}), "line 2: the field 'key' should be 32 hexadecimal digits"),
        (json.dumps({**GOOD, "key": "xy" * 16}), "line 2: the field 'key' should be 32 hexadecimal digits"),
        (json.dumps({**GOOD, "prompt_tokens": -1}), "line 2: the tokens cannot be -1 and 1"),
        (json.dumps({**GOOD, "output_tokens": 2**50}), f"line 2: the tokens cannot be 1 and {2**50}"),
        (json.dumps({**GOOD, "output_tokens": 2**70}), f"line 2: {2**70} is too large"),
    ],
)
def test_a_damaged_line_is_named(tmp_path: Path, second: str, said: str) -> None:
    path = tmp_path / "a.jsonl"
    path.write_text(f"{json.dumps(GOOD)}\n{second}\n")
    with pytest.raises(InputError, match=said):
        open_exported(path)


def test_a_damaged_file_is_one_sentence(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl.xz"
    write_exported(path, answers(*map(str, range(50))))
    whole = path.read_bytes()
    for content in (whole[: len(whole) // 2], whole[:60] + b"junk" + whole[64:], b"", b"junk"):
        path.write_bytes(content)
        with pytest.raises(InputError, match=r"a.jsonl.xz: damaged, or not compressed with xz \("):
            open_exported(path)
    path.write_bytes(lzma.compress(b"\xff\xfe"))
    with pytest.raises(InputError, match=r"a.jsonl.xz: not UTF-8 text \(byte 0\)"):
        open_exported(path)
    with pytest.raises(InputError, match="none.jsonl: no such file"):
        open_exported(tmp_path / "none.jsonl")
    with pytest.raises(InputError, match="cannot be written"):
        write_exported(tmp_path / "nowhere" / "a.jsonl", answers("p"))
