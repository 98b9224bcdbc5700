"""Spans of what happens, for those who want to watch: OpenTelemetry's, with its GenAI names for model calls.

Nothing is recorded unless `start` was called (`--trace`), and then it goes to whatever collector the usual
OTEL_EXPORTER_OTLP_ENDPOINT names (extra `[trace]`). Prompts, replies and SQL are never part of a span.
"""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from importlib import import_module
from typing import Any, Protocol

from merit.errors import InputError

Value = str | int | float | bool


class Span(Protocol):
    """One piece of work under way."""

    def set_attribute(self, name: str, value: Value) -> None:
        """Say something about it."""
        ...


class _Nothing:
    def set_attribute(self, name: str, value: Value) -> None:
        """Nobody is watching."""


_providers: list[Any] = []  # the one that records, while one does


def start(exporter: Any = None) -> None:
    """Record spans from now on; without an exporter they go to the collector that the environment names."""
    try:
        trace = import_module("opentelemetry.sdk.trace")
        export = import_module("opentelemetry.sdk.trace.export")
        resources = import_module("opentelemetry.sdk.resources")
        if exporter is None:
            exporter = import_module("opentelemetry.exporter.otlp.proto.http.trace_exporter").OTLPSpanExporter()
    except ImportError:
        raise InputError("--trace needs OpenTelemetry; install merit-sql[trace]") from None
    stop()
    provider = trace.TracerProvider(resource=resources.Resource.create({"service.name": "merit"}))
    provider.add_span_processor(export.BatchSpanProcessor(exporter))
    _providers.append(provider)


def stop() -> None:
    """Send what is left and record no more."""
    while _providers:
        _providers.pop().shutdown()


@contextmanager
def span(name: str, attributes: Mapping[str, Value] | None = None) -> Iterator[Span]:
    """A piece of work, inside the one it is part of."""
    if not _providers:
        yield _Nothing()
        return
    tracer = _providers[-1].get_tracer("merit")
    # Messages of exceptions may hold parts of a prompt, so only their type is told.
    options = {"attributes": dict(attributes or {}), "record_exception": False, "set_status_on_exception": False}
    with tracer.start_as_current_span(name, **options) as current:
        try:
            yield current
        except Exception as error:
            current.set_attribute("error.type", type(error).__name__)
            raise
