"""What is written in a format is read back from it as it was."""

import re
from pathlib import Path

import jinja2
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from making.fuzzing import tries
from merit.formats import FORMATS, Pair, read_pairs, write_pairs
from merit.formats.pair import Document
from merit.yaml import parse_yaml

WITH_AUTHORS = ("csv", "jsonl", "cortex")  # and times
NAMES = {"csv": "a.csv", "jsonl": "a.jsonl", "vanna": "a.json", "cortex": "a.yml"}
TEXT = st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=60).map(str.strip).filter(bool)
SPECIAL = st.sampled_from(
    [
        *("=1+1", "'=1", "-- x\nSELECT 1", "@a", "null", "~", "1e5", "yes", "- a: b", "# no", "|", "---", "a\n---\nb"),
        *("{{ ref('x') }}", "{% raw %}", "{% endraw %}", "{% raw %}x{% endraw %}", "{{ 'endraw' }} endraw", "{#"),
        *(
            "a\r\nb",
            "a\rb",
            "a\tb",
            "x;y,z",
            'say "x"',
            "it''s",
            "\x00\x1b[2J",
            "a\u2028b\x85c",
            "\ufeffa",
            "a \nb",
            "\\n",
        ),
    ]
)
PAIR = st.builds(
    Pair,
    TEXT | SPECIAL,
    TEXT | SPECIAL,
    author=st.sampled_from(["", "ada", "Ada L.", "=cmd"]),
    time=st.sampled_from(["", "2026-11-16T12:45:32+00:00"]),
)


def kept(pair: Pair, name: str) -> tuple[str, ...]:
    return (pair.question, pair.sql, *((pair.author, pair.time) if name in WITH_AUTHORS else ()))


@pytest.mark.parametrize("name", FORMATS)
@given(pairs=st.lists(PAIR, min_size=1, max_size=5))
@settings(max_examples=tries(25), deadline=None)
def test_any_text_comes_back(name: str, pairs: list[Pair]) -> None:
    texts = FORMATS[name].write(pairs)
    documents = [Document(Path(file or NAMES[name]), text) for file, text in texts.items()]
    found = FORMATS[name].read(documents)
    assert found.skipped == ()
    assert sorted(kept(pair, name) for pair in found.pairs) == sorted(kept(pair, name) for pair in pairs)


@given(pair=PAIR)
@settings(max_examples=tries(25), deadline=None)
def test_dbt_makes_of_an_analysis_what_was_written(pair: Pair) -> None:
    """dbt renders both with Jinja, which makes every line end a newline."""
    texts = dict(FORMATS["dbt"].write([pair]))
    described = parse_yaml(texts.pop("analyses/merit_analyses.yml"), Path("a.yml"))["analyses"][0]["description"]
    for written, meant in ((described, pair.question), (*texts.values(), pair.sql)):
        rendered = jinja2.Environment().from_string(written).render()
        assert rendered.strip() == re.sub("\r\n|\r", "\n", meant).strip()


@pytest.mark.parametrize("name", FORMATS)
def test_what_is_written_to_disk_is_recognised(name: str, tmp_path: Path) -> None:
    pairs = [
        Pair("How many orders?", "SELECT count(*)\nFROM orders", author="ada"),
        Pair("How many orders?!", "SELECT 1"),
        Pair("../../etc/passwd", "SELECT 2"),
        Pair("何件ですか", "SELECT 'é'"),
    ]
    write_pairs(pairs, tmp_path / "out", name)
    found_name, found = read_pairs(tmp_path / "out")
    assert found_name == name
    assert sorted(pair.sql for pair in found.pairs) == sorted(pair.sql for pair in pairs)
    assert sorted(pair.question for pair in found.pairs) == sorted(pair.question for pair in pairs)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["out"]
