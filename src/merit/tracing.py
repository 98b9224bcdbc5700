"""Spans of what happens, for those who want to watch: OpenTelemetry's, with its GenAI names for model calls.

Nothing is recorded unless `start` was called (`--trace`), and then it goes to whatever collector the usual
OTEL_EXPORTER_OTLP_ENDPOINT names (extra `[trace]`). Prompts, replies and SQL are never part of a span. A collector that
is not there costs a few seconds at the end and one sentence, never a result.
"""

import logging
import os
import time
from collections.abc import Iterator, Mapping, Sequence
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


_LOG = logging.getLogger(__name__)
_TIMEOUTS = ("OTEL_EXPORTER_OTLP_TIMEOUT", "OTEL_EXPORTER_OTLP_TRACES_TIMEOUT")
_TIMEOUT_S = 2.0  # for a collector, unless the environment says otherwise
_REST_S = 10.0  # for which one that does not answer is left alone, so that nobody waits for it batch by batch


class _Collector:
    """Wherever the environment says that spans go; it counts those that do not arrive."""

    def __init__(self, exporter: type[Any], lost: Any) -> None:
        logging.getLogger("opentelemetry").setLevel(logging.CRITICAL)  # what is lost is said once, at the end
        self._exporter = exporter(timeout=None if any(map(os.environ.get, _TIMEOUTS)) else _TIMEOUT_S)
        self._failure = lost
        self._lost = 0
        self._rests_until = 0.0

    def export(self, spans: Sequence[Any]) -> Any:
        """Send spans, unless that was in vain a moment ago."""
        sent = self._exporter.export(spans) if time.monotonic() >= self._rests_until else self._failure
        if sent == self._failure:
            self._lost += len(spans)
            self._rests_until = time.monotonic() + _REST_S
        return sent

    def shutdown(self) -> None:
        """Say what was lost, if anything."""
        self._exporter.shutdown()
        if self._lost:
            _LOG.warning("merit: --trace lost %d spans; is a collector at OTEL_EXPORTER_OTLP_ENDPOINT?", self._lost)


_providers: list[Any] = []  # the one that records, while one does


def start(exporter: Any = None) -> None:
    """Record spans from now on; without an exporter they go to the collector that the environment names."""
    try:
        trace = import_module("opentelemetry.sdk.trace")
        export = import_module("opentelemetry.sdk.trace.export")
        resources = import_module("opentelemetry.sdk.resources")
        if exporter is None:
            sending = import_module("opentelemetry.exporter.otlp.proto.http.trace_exporter")
            exporter = _Collector(sending.OTLPSpanExporter, export.SpanExportResult.FAILURE)
    except ImportError:
        raise InputError("--trace needs OpenTelemetry; run, in merit's own folder: pip install '.[trace]'") from None
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
