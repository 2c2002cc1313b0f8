"""What happens in a run and how a target is, told to an OpenTelemetry collector: spans and metrics, in OTLP over HTTP.

Nothing of OpenTelemetry is imported unless an endpoint is configured. A collector that is away costs one warning:
what it does not take is dropped, and the run goes on.
"""

from __future__ import annotations

import logging
import os
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit
from uuid import uuid4

from milepost.core.events import Event
from milepost.core.secrets.redact import Redactor
from milepost.engine.events.otel_metrics import Figure, Figures, Instrument
from milepost.engine.events.otel_spans import Fact, Span, Spans, span_number, trace_number
from milepost.engine.project.version import installed_version
from milepost.engine.records.journal import Entry

LONGEST_FACT = 1000
SEND_TIMEOUT_S = 5.0
AWAY_S = 30.0  # how long a collector that did not answer is left alone
SPANS_EVERY_MS, METRICS_EVERY_MS = 1_000, 15_000

_log = logging.getLogger("milepost.telemetry")


@dataclass(frozen=True, slots=True, kw_only=True)
class Endpoints:
    """The addresses that spans and metrics are sent to; empty for what is not sent."""

    traces: str = ""
    metrics: str = ""


def endpoints(environ: Mapping[str, str], setting: str = "") -> Endpoints:
    """Where to send what, as OpenTelemetry's own variables say, or the setting where they say nothing."""
    if environ.get("OTEL_SDK_DISABLED", "").strip().lower() == "true":
        return Endpoints()
    base = environ.get("OTEL_EXPORTER_OTLP_ENDPOINT", "").strip() or setting

    def address(signal: str) -> str:
        if environ.get(f"OTEL_{signal.upper()}_EXPORTER", "").strip().lower() == "none":
            return ""
        whole = environ.get(f"OTEL_EXPORTER_OTLP_{signal.upper()}_ENDPOINT", "").strip()
        return whole or (f"{base.rstrip('/')}/v1/{signal}" if base else "")

    return Endpoints(traces=address("traces"), metrics=address("metrics"))


@contextmanager
def telemetry(where: Endpoints, seed: str, so_far: Iterable[Entry], redact: Redactor) -> Iterator[Telemetry | None]:
    """A listener that sends what it hears, or None where that cannot be; what is left is sent at the end.

    `seed` is what the run's trace is named by; `so_far` is what was heard, and sent, before this process began.
    """
    with _sending(where, seed, redact) as sender:
        teller = Telemetry(sender) if sender is not None else None
        if teller is not None:
            for entry in so_far:
                teller.recall(entry.event, entry.at)
        yield teller


@contextmanager
def state_telemetry(where: Endpoints, redact: Redactor) -> Iterator[StateTelemetry | None]:
    """What sends how something is now, or None where that cannot be; the newest state is sent at the end, too."""
    with _sending(where, "", redact) as sender:
        yield StateTelemetry(sender) if sender is not None else None


@contextmanager
def _sending(where: Endpoints, seed: str, redact: Redactor) -> Iterator[_Sender | None]:
    try:
        sender = _Sender(where, seed, redact)
    except ImportError:
        _log.warning("telemetry is not sent: it needs pip install 'milepost[telemetry]'")
        yield None
        return
    except Exception as error:
        _log.warning("telemetry is not sent: %s", redact(str(error)))
        yield None
        return
    try:
        yield sender
    finally:
        sender.close()


class Telemetry:
    """Hears events; never raises."""

    def __init__(self, sender: _Sender) -> None:
        self._sender = sender
        self._spans, self._figures = Spans(), Figures()
        self._lock = threading.Lock()

    def tell(self, event: Event, at: float) -> None:
        """Send what an event ends and adds."""
        try:
            with self._lock:
                for span in self._spans.hear(event, at):
                    self._sender.span(span)
                for figure in self._figures.hear(event):
                    self._sender.figure(figure)
        except Exception as error:
            self._sender.complain(f"{type(error).__name__}: {error}")

    def recall(self, event: Event, at: float) -> None:
        """Take an event of an earlier life into account, without sending anything."""
        with self._lock:
            self._spans.hear(event, at)
            self._figures.hear(event)


class StateTelemetry:
    """Knows the newest figures, to be collected at any time; what is not among them is not sent. Never raises."""

    def __init__(self, sender: _Sender) -> None:
        self._sender = sender
        self._newest: tuple[Figure, ...] = ()

    def tell(self, figures: Iterable[Figure]) -> None:
        try:
            self._newest = tuple(figures)
            for of in {figure.of.name: figure.of for figure in self._newest}.values():
                self._sender.observe(of, self._figures_of)
        except Exception as error:
            self._sender.complain(f"{type(error).__name__}: {error}")

    def _figures_of(self, of: Instrument) -> Iterator[Figure]:
        return (figure for figure in self._newest if figure.of.name == of.name)


class _Sender:
    """Hands spans and figures to the SDK's exporters, which send them from threads of their own."""

    def __init__(self, where: Endpoints, seed: str, redact: Redactor) -> None:
        from opentelemetry.exporter.otlp.proto.http.metric_exporter import OTLPMetricExporter
        from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
        from opentelemetry.sdk.metrics import MeterProvider
        from opentelemetry.sdk.metrics.export import PeriodicExportingMetricReader
        from opentelemetry.sdk.resources import Resource
        from opentelemetry.sdk.trace.export import BatchSpanProcessor
        from opentelemetry.sdk.util.instrumentation import InstrumentationScope

        _quiet()
        self._seed, self._redact = seed, redact
        self._complained = threading.Event()
        self._away_until = 0.0
        self._scope = InstrumentationScope("milepost", installed_version())
        facts = {"service.version": installed_version(), "service.instance.id": uuid4().hex}
        if not os.environ.get("OTEL_SERVICE_NAME"):
            facts["service.name"] = "milepost"
        self._resource = Resource.create(facts)
        self._processor: Any = None
        self._meters: Any = None
        self._instruments: dict[str, Any] = {}
        if where.traces:
            traces: Any = OTLPSpanExporter(endpoint=where.traces, timeout=SEND_TIMEOUT_S)
            self._forgive(traces, where.traces)
            self._processor = BatchSpanProcessor(traces, schedule_delay_millis=SPANS_EVERY_MS)
        if where.metrics:
            metrics: Any = OTLPMetricExporter(endpoint=where.metrics, timeout=SEND_TIMEOUT_S)
            self._forgive(metrics, where.metrics)
            reader = PeriodicExportingMetricReader(metrics, export_interval_millis=METRICS_EVERY_MS)
            self._meters = MeterProvider([reader], resource=self._resource, shutdown_on_exit=False)

    def span(self, span: Span) -> None:
        if self._processor is not None:
            self._processor.on_end(self._readable(span))

    def figure(self, figure: Figure) -> None:
        if self._meters is None:
            return
        of = figure.of
        if of.name not in self._instruments:
            meter = self._meters.get_meter("milepost", installed_version())
            make = meter.create_counter if of.kind == "sum" else meter.create_histogram
            self._instruments[of.name] = make(of.name, unit=of.unit, description=of.means)
        instrument = self._instruments[of.name]
        (instrument.add if of.kind == "sum" else instrument.record)(figure.value, self._plain(figure.facts))

    def observe(self, of: Instrument, figures: Callable[[Instrument], Iterable[Figure]]) -> None:
        """Ask for the figures of an instrument whenever they are sent."""
        if self._meters is None or of.name in self._instruments:
            return
        from opentelemetry.metrics import Observation

        def answer(_: object) -> list[Observation]:
            return [Observation(figure.value, self._plain(figure.facts)) for figure in figures(of)]

        meter = self._meters.get_meter("milepost", installed_version())
        make = meter.create_observable_counter if of.kind == "total" else meter.create_observable_gauge
        self._instruments[of.name] = make(of.name, callbacks=[answer], unit=of.unit, description=of.means)

    def close(self) -> None:
        """Send what is left, within a few seconds."""
        for close in (self._processor, self._meters):
            try:
                if close is not None:
                    close.shutdown()
            except Exception as error:
                self.complain(str(error))

    def complain(self, problem: str) -> None:
        """Warn, once in the life of a run."""
        if not self._complained.is_set():
            self._complained.set()
            _log.warning("telemetry is dropped: %s", self._redact(problem))

    def _forgive(self, exporter: Any, address: str) -> None:
        """Make a failed export cost one warning, and leave a collector that is away alone for a while."""
        send: Callable[..., Any] = exporter.export

        def export(*args: Any, **kwargs: Any) -> Any:
            if time.monotonic() < self._away_until:
                return None
            try:
                result = send(*args, **kwargs)
                failed = getattr(result, "name", "") != "SUCCESS"
            except Exception:
                result, failed = None, True
            if failed:
                self._away_until = time.monotonic() + AWAY_S
                self.complain(f"{_public(address)} rejects it")
            return result

        exporter.export = export

    def _readable(self, span: Span) -> Any:
        from opentelemetry.sdk.trace import Event as SpanEvent
        from opentelemetry.sdk.trace import ReadableSpan
        from opentelemetry.trace import SpanContext, SpanKind, Status, StatusCode, TraceFlags

        def context(key: str) -> SpanContext:
            return SpanContext(
                trace_id=trace_number(self._seed),
                span_id=span_number(self._seed, key),
                is_remote=False,
                trace_flags=TraceFlags(TraceFlags.SAMPLED),
            )

        failed = Status(StatusCode.ERROR, self._cut(span.problem))
        return ReadableSpan(
            name=self._cut(span.name),
            context=context(span.key),
            parent=context(span.parent) if span.parent else None,
            resource=self._resource,
            attributes=self._plain(span.facts),
            events=[SpanEvent(note.name, self._plain(note.facts), _ns(note.at)) for note in span.notes],
            kind=SpanKind.CLIENT if span.kind == "client" else SpanKind.INTERNAL,
            status=failed if span.problem else Status(StatusCode.UNSET),
            start_time=_ns(span.began),
            end_time=_ns(span.ended),
            instrumentation_scope=self._scope,
        )

    def _plain(self, facts: Mapping[str, Fact]) -> dict[str, Fact]:
        return {name: self._cut(fact) if isinstance(fact, str) else fact for name, fact in facts.items()}

    def _cut(self, text: str) -> str:
        return self._redact(text)[:LONGEST_FACT]


def _ns(at: float) -> int:
    return max(0, int(at * 1_000_000_000))


def _public(address: str) -> str:
    """An address without what may be secret in it."""
    try:
        parts = urlsplit(address)
        return f"{parts.scheme}://{parts.hostname}:{parts.port}" if parts.port else f"{parts.scheme}://{parts.hostname}"
    except ValueError:
        return "the endpoint"


def _quiet() -> None:
    """Keep the SDK's own complaints off stderr; whoever set up logging still hears them."""
    logger = logging.getLogger("opentelemetry")
    if not logger.handlers:
        logger.addHandler(logging.NullHandler())
