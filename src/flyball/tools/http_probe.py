"""`http_probe`: send a request to a server of this run."""

from __future__ import annotations

import ipaddress
import time
from typing import Annotated
from urllib.parse import urlsplit

import msgspec

from flyball.guards.fingerprint import without_volatile_parts
from flyball.terms.call import Access
from flyball.terms.evidence import HttpReport
from flyball.tools.call.protocol import CallContext, CallFacts, Form, Result, Text, Tool
from flyball.tools.pages.confined import ask
from flyball.tools.pages.serving import serve

KEPT = 4_000


class ProbeForm(Form, frozen=True, kw_only=True):
    """The URL or path on a server of this run, and how long to wait."""

    url: Text
    seconds: Annotated[float, msgspec.Meta(gt=0, le=60)] = 10.0

    def __post_init__(self) -> None:
        require_served(self.url)


def require_served(url: str) -> None:
    """Refuse a URL that no server of a run can have; a path alone is the project's own."""
    try:
        parts = urlsplit(url)
        host, _ = parts.hostname, parts.port
    except ValueError as error:
        raise ValueError(f"`url` is not an address: {error}") from error
    if url.startswith("/") and not host:
        return
    if parts.scheme != "http" or not host:
        raise ValueError("`url` must be an http address such as http://127.0.0.1:8000/, or a path")
    if not is_loopback(host):
        raise ValueError(f"`url` names {host}; only this machine may be asked")


def is_loopback(host: str) -> bool:
    """Return whether a host name can only refer to this machine."""
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def facts(_form: ProbeForm, _context: CallContext) -> CallFacts:
    return CallFacts(access=Access.VERIFY)


async def perform(form: ProbeForm, context: CallContext) -> Result:
    served = await serve(form.url, context)
    began = time.monotonic()
    answer = await ask(served.url, context, seconds=form.seconds, kept=KEPT)
    status, body, error = answer.status, answer.body, answer.error
    report = HttpReport(
        id=context.evidence_id(),
        tree=context.tree,
        elapsed=round(time.monotonic() - began, 3),
        url=served.url,
        status=status,
        error=error,
        own=True,
    )
    summary = f"{served.url} answered {status}"
    if error:
        summary = f"{served.url} did not answer: {error}"
    over = "\n[the rest of the body is left out]" if len(body) > KEPT else ""
    note = f"[{served.note}]\n" if served.note else ""
    text = f"{note}{summary}\n{body[:KEPT].decode('utf-8', 'replace')}{over}".rstrip()
    ok = not error and 200 <= status < 400
    return Result(
        ok,
        text,
        {"status": status},
        error=error,
        evidence=(report,),
        same=without_volatile_parts(text),
    )


HTTP_PROBE = Tool(
    "http_probe",
    "Ask a server of this run: status and body; a path means the project's own server.",
    ProbeForm,
    facts,
    perform,
    example={"url": "http://127.0.0.1:8000/health"},
)
