"""`http_probe`: ask a local address and see what it answers."""

from __future__ import annotations

import asyncio
import http.client
import ipaddress
import time
from typing import Annotated, NamedTuple
from urllib.parse import quote, urlsplit

import msgspec

from flyball.core.memory.fingerprint import without_passing_things
from flyball.core.terms.call import Access, CommandFact
from flyball.core.terms.evidence import HttpReport
from flyball.tools.call.protocol import CallContext, CallFacts, Form, Result, Text, Tool

KEPT = 4_000


class ProbeForm(Form, frozen=True, kw_only=True):
    """An address on this machine and how long to wait."""

    url: Text
    seconds: Annotated[float, msgspec.Meta(gt=0, le=60)] = 10.0

    def __post_init__(self) -> None:
        try:
            parts = urlsplit(self.url)
            host, _ = parts.hostname, parts.port
        except ValueError as error:
            raise ValueError(f"`url` is not an address: {error}") from error
        if parts.scheme != "http" or not host:
            raise ValueError("`url` must be an http address such as http://127.0.0.1:8000/")
        if not is_loopback(host):
            raise ValueError(f"`url` names {host}; only this machine may be asked")


class HttpAnswer(NamedTuple):
    """What came back, or why nothing did."""

    status: int = 0
    body: bytes = b""
    error: str = ""


def is_loopback(host: str) -> bool:
    """Whether a host can only be this machine."""
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def facts(form: ProbeForm, _context: CallContext) -> CallFacts:
    # What a run starts ends with its call and has a network of its own, so whatever listens here is
    # the user's: their database, another project, a machine's own services.
    reason = "nothing that this run has started listens there, so it is a server of the user's."
    asked = CommandFact(f"GET {form.url}", "verification", "ask", reason)
    return CallFacts(access=Access.VERIFY, command=asked)


async def perform(form: ProbeForm, context: CallContext) -> Result:
    began = time.monotonic()
    status, body, error = await asyncio.to_thread(_ask, form)
    report = HttpReport(
        id=context.evidence_id(),
        tree=context.tree,
        elapsed=round(time.monotonic() - began, 3),
        url=form.url,
        status=status,
        error=error,
    )
    said = f"{form.url} answered {status}" if not error else f"{form.url} did not answer: {error}"
    over = "\n[the rest of the body is left out]" if len(body) > KEPT else ""
    text = f"{said}\n{body[:KEPT].decode('utf-8', 'replace')}{over}".rstrip()
    ok = not error and 200 <= status < 400
    return Result(
        ok,
        text,
        {"status": status},
        error=error,
        evidence=(report,),
        same=without_passing_things(text),
    )


def _ask(form: ProbeForm) -> HttpAnswer:
    deadline = time.monotonic() + form.seconds
    parts = urlsplit(form.url)
    target = quote(
        f"{parts.path or '/'}{f'?{parts.query}' if parts.query else ''}", safe="/?&=%+:,;@~"
    )
    connection = http.client.HTTPConnection(
        parts.hostname or "", parts.port or 80, timeout=form.seconds
    )
    try:
        connection.request("GET", target, headers={"User-Agent": "flyball", "Connection": "close"})
        answer = connection.getresponse()
        body = b""
        while len(body) <= KEPT and time.monotonic() < deadline:
            piece = answer.read1(KEPT)
            if not piece:
                break
            body += piece
        return HttpAnswer(answer.status, body)
    except (OSError, http.client.HTTPException) as error:
        return HttpAnswer(error=str(error) or type(error).__name__)
    finally:
        connection.close()


HTTP_PROBE = Tool(
    "http_probe",
    "Ask a server on this machine: status and body.",
    ProbeForm,
    facts,
    perform,
    example={"url": "http://127.0.0.1:8000/health"},
)
