"""Manifests as typed values: what is written is read back, and nothing else is taken for one."""

import copy
import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from making.outcomes import identity_record, made
from making.runs import make_bench
from merit.agent import METHODS, RELATED, find_method
from merit.errors import MeritError
from merit.runs import decode_identity, difference, new_manifest, read_manifest, run_id
from merit.runs.text import json_text
from merit.types import Demonstration

Change = Callable[[dict[str, Any]], object]


def identity(method: str = "merit") -> dict[str, Any]:
    chosen = find_method(method).seeded(3)
    return {**identity_record(chosen, 3, {}), "length": None if chosen.online else 5}


@pytest.mark.parametrize(
    "method", [*METHODS, *RELATED, "merit:positives=5,dense=false", "resample:temperature=1,draws=2"]
)
def test_what_is_encoded_is_decoded(method: str, tmp_path: Path) -> None:
    record = identity(method)
    decoded = decode_identity(copy.deepcopy(record), "here")
    assert decoded.record() == record
    assert decoded.method == find_method(method).seeded(3)
    manifest = made(record)
    (tmp_path / "manifest.json").write_text(json_text(manifest.record()))
    assert read_manifest(tmp_path) == manifest
    assert json.dumps(manifest.identity.record()) == json.dumps(record)  # in the same order too


def test_labels_and_examples_come_back() -> None:
    record = identity("vanilla")
    record["dataset"]["label"] = "our warehouse"
    record["demonstrations"] = [{"question": "q", "sql": "SELECT 1", "evidence": ""}]
    decoded = decode_identity(record, "here")
    assert decoded.record() == record
    assert (decoded.dataset.title, decoded.demonstrations[0].sql) == ("our warehouse", "SELECT 1")


@pytest.mark.parametrize(("dataset", "counts_as"), [("spider", "dropped"), ("bundled", "dropped"), ("bird", None)])
def test_runs_that_do_not_say_dropped_distinct(dataset: str, counts_as: str | None) -> None:
    """Versions before the choice have no such field."""
    record = identity()
    record["dataset"]["name"] = dataset
    del record["distinct"]
    assert decode_identity(record, "here").distinct == counts_as
    assert decode_identity({**record, "distinct": counts_as}, "here") == decode_identity(record, "here")


@pytest.mark.parametrize(
    ("dataset", "value"), [("spider", None), ("bundled", "all"), ("bird", "kept"), ("spider", []), ("bird", False)]
)
def test_a_choice_that_a_benchmark_does_not_have_is_refused(dataset: str, value: object) -> None:
    record = identity()
    record["dataset"]["name"] = dataset
    record["distinct"] = value
    with pytest.raises(MeritError, match=f"here: the field 'distinct' cannot be .* for {dataset}"):
        decode_identity(record, "here")


UNKNOWN: dict[str, Change] = {
    "here": lambda record: record.update(luck=7),
    "here.dataset": lambda record: record["dataset"].update(luck=7),
    "here.model": lambda record: record["model"].update(luck=7),
    "here.sampling": lambda record: record["sampling"].update(luck=7),
    "here.prompts": lambda record: record["prompts"].update(luck=7),
    "here.encoder": lambda record: record["encoder"].update(luck=7),
}


@pytest.mark.parametrize("where", UNKNOWN)
def test_a_field_that_nothing_reads_is_refused(where: str) -> None:
    """A decoder that dropped it would give a run another identity than its own."""
    record = identity()
    UNKNOWN[where](record)
    with pytest.raises(MeritError, match=rf"^{where}: the field 'luck' is not known to this merit"):
        decode_identity(record, "here")


@pytest.mark.parametrize(
    ("change", "says"),
    [
        (
            lambda record: record["sampling"].update(temperature=-1.0),
            "sampling: the field 'temperature' cannot be -1.0",
        ),
        (lambda record: record["sampling"].update(max_tokens="x"), "the field 'max_tokens' should be a whole number"),
        (lambda record: record["sampling"].update(seed="x"), "the field 'seed' should be a whole number"),
        (lambda record: record.update(regime="all"), "the field 'regime' should be denotation_confirmed or dbms_only"),
        (lambda record: record["method"].update(luck=7), "method: not a method of this merit"),
        (lambda record: record["dataset"].update(name="x"), "dataset: there is no dataset 'x'"),
        (lambda record: record.update(timeout_s=3600.5), "the field 'timeout_s' cannot be 3600.5; .* 3600 at most"),
        (lambda record: record.update(timeout_s=1e6), "the field 'timeout_s' cannot be 1000000.0"),
        (lambda record: record["method"].update(temperature=-1.0), "method: 'temperature' should be a number from 0"),
        (lambda record: record["method"].update(agreed=7.0), "method: 'agreed' is a share"),
        *(
            (
                lambda record, name=name, value=value: record["method"]["recall"].update({name: value}),
                f"'{name}' should be",
            )
            for name in ("dense_weight", "type_bonus", "database_bonus")
            for value in (1e308, -0.5)
        ),
    ],
)
def test_what_cannot_be_is_refused_when_it_is_read(change: Change, says: str) -> None:
    record = identity()
    change(record)
    with pytest.raises(MeritError, match=says):
        decode_identity(record, "here")


NAMES: dict[str, Callable[[dict[str, Any], str], object]] = {
    "method": lambda record, name: record["method"].update(name=name),
    "summary": lambda record, name: record["method"].update(summary=name),
    "model": lambda record, name: record["model"].update(name=name),
    "revision": lambda record, name: record["model"].update(revision=name),
    "encoder": lambda record, name: record["encoder"].update(name=name),
    "encoder's revision": lambda record, name: record["encoder"].update(revision=name),
    "label": lambda record, name: record["dataset"].update(label=name),
    "split": lambda record, name: record["dataset"].update(split=name),
    "data": lambda record, name: record["dataset"].update(sha256=name),
    "templates": lambda record, name: record["prompts"].update(family=name),
    "protocol": lambda record, name: record.update(protocol=name),
    "initial": lambda record, name: record.update(initial_sha256=name),
    "code": lambda record, name: record.update(code=name),
}


@pytest.mark.parametrize("sign", ["\x1b]0;title\x07", "\n", "\x7f", "\x9b", "\u202e", "\u2066", "\u200b", "\u200f"])
@pytest.mark.parametrize("name", NAMES)
def test_names_are_printable(name: str, sign: str) -> None:
    """They are shown in tables, files and pages, where nobody expects them to do something."""
    record = identity()
    NAMES[name](record, f"merit{sign}")
    with pytest.raises(MeritError) as caught:
        decode_identity(record, "here")
    assert "cannot be" in str(caught.value)
    assert str(caught.value).isprintable()


def test_a_difference_is_told_with_both_values() -> None:
    there, here = identity(), identity()
    here["dataset"]["split"] = "train"
    assert difference(there, here) == 'dataset.split is "dev" there and "train" here'
    assert difference(there, copy.deepcopy(there)) is None


def test_the_name_follows_from_the_identity_alone(tmp_path: Path) -> None:
    bench = make_bench(tmp_path)
    view = bench.run(tmp_path / "run", "iterative", limit=2)
    assert view.manifest.run == run_id(view.identity.record())
    assert json.loads((tmp_path / "run" / "manifest.json").read_text()) == view.manifest.record()


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"seed": 2**63}, "9223372036854775808 is too large; integers have at most 64 bits"),
        ({"demonstrations": (Demonstration("q" * (64 << 20), "SELECT 1"),)}, "more than 64 MiB of JSON"),
        (
            {"demonstrations": (Demonstration("\u00e9" * (33 << 20), "SELECT 1"),)},
            "manifest.json would have more than 64",
        ),
    ],
)
def test_a_manifest_that_could_not_be_read_is_never_begun(change: dict[str, Any], said: str) -> None:
    manifest = made(identity())
    new_manifest(manifest.identity, manifest.made_with)
    with pytest.raises(MeritError, match=said):
        new_manifest(replace(manifest.identity, **change), manifest.made_with)
