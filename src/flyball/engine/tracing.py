"""Export a run's spans to a collector while it is driven; the only user of OpenTelemetry.

Spans are sent from a separate thread. A slow, missing or hanging collector costs a run nothing
while it works, and at its end no more than `PATIENCE`.
"""

from __future__ import annotations

import asyncio
import logging
import os
import threading
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from importlib.metadata import version

from opentelemetry.context import Context
from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
from opentelemetry.sdk.resources import OTELResourceDetector, Resource
from opentelemetry.sdk.trace import ReadableSpan, TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor, SpanExporter, SpanExportResult
from opentelemetry.sdk.trace.id_generator import IdGenerator
from opentelemetry.sdk.trace.sampling import Decision
from opentelemetry.trace import (
    NonRecordingSpan,
    SpanContext,
    SpanKind,
    StatusCode,
    TraceFlags,
    set_span_in_context,
)

from flyball.engine.telemetry import Telemetry
from flyball.errors import ConfigError
from flyball.record.spans import OWN, SpanBuilder, TraceSpan
from flyball.run.event import AnyEvent
from flyball.run.machine import advance
from flyball.run.state import RunState

HTTP = "http/protobuf"
PATIENCE = 2.0
"""Seconds that the last spans of a run are waited for."""
LOST = (
    "The collector did not accept {spans} of this run. "
    "`flyball runs export {run} --otel` writes all of it."
)


class Tracer:
    """Sends a run's spans to a collector as it is driven, without repeating any."""

    def __init__(
        self, run: str, history: Iterable[AnyEvent], watch: Callable[[Telemetry], None]
    ) -> None:
        protocol = _protocol(os.environ)
        if protocol != HTTP:
            raise ConfigError(
                f"The trace collector uses {protocol}, and Flyball supports only {HTTP}.",
                "Set its address for that, and unset OTEL_EXPORTER_OTLP_PROTOCOL.",
            )
        self._run = run
        self._watch = watch
        self._reported = 0
        self._teller = SpanBuilder()
        state = RunState()
        for event in history:
            after = advance(state, event).state
            for _ in self._teller.take(state, event, after):
                """Whoever drove the run then has told it."""
            state = after
        # It complains to the terminal that a run is shown on, unless somebody else listens.
        logging.getLogger("opentelemetry").addHandler(logging.NullHandler())
        self._exporter = CountingExporter(OTLPSpanExporter())
        self._ids = GivenIds()
        defaults = {"service.name": OWN, "service.version": version(OWN)}
        settled = dict(OTELResourceDetector().detect().attributes)
        self._provider = TracerProvider(
            resource=Resource.create({**defaults, **settled}),
            id_generator=self._ids,
            shutdown_on_exit=False,
        )
        self._provider.add_span_processor(BatchSpanProcessor(self._exporter))
        self._tracer = self._provider.get_tracer(OWN, version(OWN))

    def take(self, before: RunState, event: AnyEvent, after: RunState) -> None:
        """Send the spans that ended with an event."""
        for span in self._teller.take(before, event, after):
            self._send(span)

    def _send(self, span: TraceSpan) -> None:
        trace = self._ids.trace = int(span.trace, 16)
        self._ids.span = int(span.id, 16)
        context = Context()
        if span.parent:
            flags = TraceFlags(TraceFlags.SAMPLED if self._is_sampled(trace) else 0)
            above = SpanContext(trace, int(span.parent, 16), is_remote=False, trace_flags=flags)
            context = set_span_in_context(NonRecordingSpan(above), context)
        sent = self._tracer.start_span(
            span.name,
            context,
            SpanKind.CLIENT if span.is_request else SpanKind.INTERNAL,
            span.attributes,
            start_time=span.start,
        )
        if span.is_error:
            sent.set_status(StatusCode.ERROR)
        self._reported += sent.get_span_context().trace_flags.sampled
        sent.end(span.end)

    def _is_sampled(self, trace: int) -> bool:
        """Return whether the run's trace is sampled; its first span is sent last."""
        answer = self._provider.sampler.should_sample(None, trace, "")
        return answer.decision is Decision.RECORD_AND_SAMPLE

    async def close(self) -> None:
        """Flush the rest; what cannot be delivered in time is reported and dropped."""
        over, loop = asyncio.Event(), asyncio.get_running_loop()

        def shut() -> None:
            self._provider.shutdown()
            # By then the loop, and the run, may be long over.
            with suppress(RuntimeError):
                loop.call_soon_threadsafe(over.set)

        threading.Thread(target=shut, daemon=True).start()
        try:
            await asyncio.wait_for(over.wait(), PATIENCE)
        except TimeoutError:
            self._exporter.shutdown()
        if left := self._reported - self._exporter.delivered:
            spans = "1 span" if left == 1 else f"{left} spans"
            text = LOST.format(spans=spans, run=self._run)
            self._watch({"type": "notice", "text": text})


def _protocol(environ: Mapping[str, str]) -> str:
    """Return the protocol of the user's collector."""
    for name in ("OTEL_EXPORTER_OTLP_TRACES_PROTOCOL", "OTEL_EXPORTER_OTLP_PROTOCOL"):
        if setting := environ.get(name, "").strip():
            return setting
    return HTTP


class GivenIds(IdGenerator):
    """The ids of the next span."""

    trace = 0
    span = 0

    def generate_span_id(self) -> int:
        return self.span

    def generate_trace_id(self) -> int:
        return self.trace


class CountingExporter(SpanExporter):
    """Counts the spans that arrived."""

    def __init__(self, inner: SpanExporter) -> None:
        self._inner = inner
        self.delivered = 0

    def export(self, spans: Sequence[ReadableSpan]) -> SpanExportResult:
        result = self._inner.export(spans)
        if result is SpanExportResult.SUCCESS:
            self.delivered += len(spans)
        return result

    def shutdown(self) -> None:
        self._inner.shutdown()
