"""Spans: nothing unless asked for, and then the whole of an episode."""

import socket
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from opentelemetry.sdk.trace import ReadableSpan
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

from making.benchmark import FickleModel
from making.clock import STALL_S
from making.runs import make_bench
from merit import tracing
from merit.errors import InputError
from merit.models import AnswerStore, CachingCompleter


@pytest.fixture
def exporter() -> Iterator[InMemorySpanExporter]:
    exporter = InMemorySpanExporter()
    tracing.start(exporter)
    yield exporter
    tracing.stop()


def parents(spans: tuple[ReadableSpan, ...]) -> set[tuple[str, str | None]]:
    names = {span.context.span_id: span.name for span in spans if span.context}
    return {(span.name, names[span.parent.span_id] if span.parent else None) for span in spans}


def test_an_episode_is_a_tree_of_spans(tmp_path: Path, exporter: InMemorySpanExporter) -> None:
    asked = CachingCompleter(FickleModel(luck=4), AnswerStore(None))
    view = make_bench(tmp_path).run(tmp_path / "run", model=asked, limit=4)
    tracing.stop()
    spans = exporter.get_finished_spans()
    assert parents(spans) >= {
        ("episode", None),
        ("attempt", "episode"),
        ("judge", "episode"),
        ("judge", "attempt"),
        ("recall", "attempt"),
        ("model", "attempt"),
        ("chat fickle", "model"),
    }
    episodes = [span for span in spans if span.name == "episode"]
    assert [dict(span.attributes or {})["merit.position"] for span in episodes] == [0, 1, 2, 3]
    chats = [dict(span.attributes or {}) for span in spans if span.name == "chat fickle"]
    attempts = [attempt for turn in view.turns for attempt in turn.episode.attempts[1:]]
    assert {chat["gen_ai.operation.name"] for chat in chats} == {"chat"}
    assert sorted(chat["gen_ai.usage.input_tokens"] for chat in chats) == sorted(a.prompt_tokens for a in attempts)  # type: ignore[type-var]


def test_no_prompt_reply_or_sql_is_part_of_a_span(tmp_path: Path, exporter: InMemorySpanExporter) -> None:
    make_bench(tmp_path).run(tmp_path / "run", model=CachingCompleter(FickleModel(luck=4), AnswerStore(None)), limit=4)
    tracing.stop()
    said = " ".join(
        str(value) for span in exporter.get_finished_spans() for value in dict(span.attributes or {}).values()
    )
    assert said
    assert "SELECT" not in said


def test_an_error_is_told_by_its_type_alone(exporter: InMemorySpanExporter) -> None:
    with pytest.raises(InputError), tracing.span("x"):
        raise InputError("SELECT secret FROM prompt")
    tracing.stop()
    (span,) = exporter.get_finished_spans()
    assert dict(span.attributes or {}) == {"error.type": "InputError"}
    assert "secret" not in str(span.to_json())


def test_nothing_is_recorded_unless_asked_for(tmp_path: Path) -> None:
    with tracing.span("x") as watched:
        watched.set_attribute("y", 1)
    assert not tracing._providers


def test_without_the_extra_it_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "opentelemetry.sdk.trace", None)
    with pytest.raises(InputError, match=r"run, in merit's own folder: pip install '.\[trace\]'"):
        tracing.start()


def test_a_collector_that_is_not_there_costs_moments_and_one_sentence(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    with socket.create_server(("127.0.0.1", 0)) as place:
        nowhere = f"http://127.0.0.1:{place.getsockname()[1]}"
    monkeypatch.setenv("OTEL_EXPORTER_OTLP_ENDPOINT", nowhere)
    tracing.start()
    for _ in range(1200):  # more than a batch
        with tracing.span("x"):
            pass
    started = time.monotonic()
    tracing.stop()
    assert time.monotonic() - started < 5.0 + STALL_S
    assert [record.getMessage() for record in caplog.records] == [
        "merit: --trace lost 1200 spans; is a collector at OTEL_EXPORTER_OTLP_ENDPOINT?"
    ]


def test_nor_does_one_that_says_nothing(monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture) -> None:
    with socket.create_server(("127.0.0.1", 0)) as mute:
        monkeypatch.setenv("OTEL_EXPORTER_OTLP_ENDPOINT", f"http://127.0.0.1:{mute.getsockname()[1]}")
        tracing.start()
        with tracing.span("x"):
            pass
        started = time.monotonic()
        tracing.stop()
    assert time.monotonic() - started < 6.0 + STALL_S
    assert len(caplog.records) == 1
