"""A collector of traces on loopback, as OpenTelemetry's exporters speak to one."""

from __future__ import annotations

import base64
import json
import socket
import threading
from collections.abc import Generator, Mapping
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, HTTPServer
from typing import Any, NamedTuple

from google.protobuf.json_format import Parse
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest


class Received(NamedTuple):
    """A span as it arrived."""

    trace: str
    id: str
    parent: str
    name: str
    kind: int
    start: int
    end: int
    is_error: bool
    attributes: Mapping[str, Any]


class Collector:
    """What came in, and where."""

    def __init__(self) -> None:
        self.spans: list[Received] = []
        self.resource: dict[str, Any] = {}
        self.url = ""

    def take(self, body: bytes) -> None:
        request = ExportTraceServiceRequest()
        request.ParseFromString(body)
        self.resource |= resource_of(request)
        self.spans += spans_in(request)


def resource_of(request: ExportTraceServiceRequest) -> dict[str, Any]:
    (sent,) = request.resource_spans
    return _attributes(sent.resource.attributes)


def spans_in(request: ExportTraceServiceRequest) -> list[Received]:
    return [
        Received(
            span.trace_id.hex(), span.span_id.hex(), span.parent_span_id.hex(), span.name,
            span.kind, span.start_time_unix_nano, span.end_time_unix_nano,
            span.status.code == 2, _attributes(span.attributes),
        )
        for sent in request.resource_spans for scope in sent.scope_spans for span in scope.spans
    ]  # fmt: skip


def _attributes(found: Any) -> dict[str, Any]:
    return {each.key: _value(each.value) for each in found}


def _value(value: Any) -> Any:
    kind = value.WhichOneof("value")
    said = getattr(value, kind)
    return [_value(each) for each in said.values] if kind == "array_value" else said


def exported(text: str) -> ExportTraceServiceRequest:
    """An export in JSON, read by the protocol's own definition.

    The protocol wants ids in hexadecimal there, where the usual reader of such JSON wants base64.
    """
    body = json.loads(text)
    for span in body["resourceSpans"][0]["scopeSpans"][0]["spans"]:
        for key in ("traceId", "spanId", "parentSpanId"):
            if key in span:
                span[key] = base64.b64encode(bytes.fromhex(span[key])).decode()
    return Parse(json.dumps(body), ExportTraceServiceRequest())


@contextmanager
def collecting() -> Generator[Collector]:
    """A collector that takes everything."""
    collector = Collector()

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            assert self.path == "/v1/traces"
            collector.take(self.rfile.read(int(self.headers["Content-Length"])))
            self.send_response(200)
            self.end_headers()

        def log_message(self, format: str, *args: Any) -> None:
            """Nobody reads it."""

    server = HTTPServer(("127.0.0.1", 0), Handler)
    collector.url = f"http://127.0.0.1:{server.server_port}"
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    try:
        yield collector
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


@contextmanager
def hanging() -> Generator[str]:
    """The address of a collector that takes connections and never says a word."""
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        listener.listen(16)
        yield f"http://127.0.0.1:{listener.getsockname()[1]}"
