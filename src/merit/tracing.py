"""OpenTelemetry spans of what merit does, with the GenAI names for model calls.

Nothing is recorded unless `start` was called (`--trace`), and then spans go to the collector that
OTEL_EXPORTER_OTLP_ENDPOINT names (extra `[trace]`). Prompts, replies and SQL are never part of a span. A missing
collector costs a few seconds and a warning at the end, never a result.
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
        """Record a value for it."""
        ...


class _NoSpan:
    def set_attribute(self, name: str, value: Value) -> None:
        """Tracing is off: nothing is recorded."""


_LOG = logging.getLogger(__name__)
_TIMEOUTS = ("OTEL_EXPORTER_OTLP_TIMEOUT", "OTEL_EXPORTER_OTLP_TRACES_TIMEOUT")
_TIMEOUT_S = 2.0  # for a collector, unless the environment says otherwise
_RETRY_S = 10.0  # pause after a failed export, so that not every batch waits for the timeout


class _Collector:
    """Sends spans to the collector that the environment names, and counts those that do not arrive."""

    def __init__(self, exporter: type[Any], failure: Any) -> None:
        logging.getLogger("opentelemetry").setLevel(logging.CRITICAL)  # lost spans are reported once, at the end
        self._exporter = exporter(timeout=None if any(map(os.environ.get, _TIMEOUTS)) else _TIMEOUT_S)
        self._failure = failure
        self._lost = 0
        self._retry_at = 0.0

    def export(self, spans: Sequence[Any]) -> Any:
        """Send spans, unless that failed a moment ago."""
        result = self._exporter.export(spans) if time.monotonic() >= self._retry_at else self._failure
        if result == self._failure:
            self._lost += len(spans)
            self._retry_at = time.monotonic() + _RETRY_S
        return result

    def shutdown(self) -> None:
        """Warn if spans were lost."""
        self._exporter.shutdown()
        if self._lost:
            _LOG.warning("merit: --trace lost %d spans; is a collector at OTEL_EXPORTER_OTLP_ENDPOINT?", self._lost)


_providers: list[Any] = []  # holds one provider while tracing is on


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
    """Send the remaining spans and stop recording."""
    while _providers:
        _providers.pop().shutdown()


@contextmanager
def span(name: str, attributes: Mapping[str, Value] | None = None) -> Iterator[Span]:
    """A piece of work, inside the one it is part of."""
    if not _providers:
        yield _NoSpan()
        return
    tracer = _providers[-1].get_tracer("merit")
    # Messages of exceptions may hold parts of a prompt, so only their type is recorded.
    options = {"attributes": dict(attributes or {}), "record_exception": False, "set_status_on_exception": False}
    with tracer.start_as_current_span(name, **options) as current:
        try:
            yield current
        except Exception as error:
            current.set_attribute("error.type", type(error).__name__)
            raise
