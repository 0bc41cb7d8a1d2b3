"""`http_probe`: ask a local address and see what it answers."""

from __future__ import annotations

import asyncio
import http.client
import ipaddress
import time
from typing import Annotated
from urllib.parse import urlsplit

import msgspec

from flyball.core.call import Access
from flyball.core.evidence import HttpReport
from flyball.tools.protocol import Desk, Facts, Form, Result, Tool, bounded

KEPT = 4_000


class ProbeForm(Form, frozen=True, kw_only=True):
    """An address on this machine and how long to wait."""

    url: Annotated[str, msgspec.Meta(min_length=1)]
    seconds: Annotated[float, msgspec.Meta(gt=0, le=60)] = 10.0

    def __post_init__(self) -> None:
        parts = urlsplit(self.url)
        if parts.scheme != "http" or not parts.hostname:
            raise ValueError("`url` must be an http address such as http://127.0.0.1:8000/")
        if not is_loopback(parts.hostname):
            raise ValueError(f"`url` names {parts.hostname}; only this machine may be asked")


def is_loopback(host: str) -> bool:
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def facts(_form: ProbeForm, _desk: Desk) -> Facts:
    return Facts(access=Access.VERIFY)


async def perform(form: ProbeForm, desk: Desk) -> Result:
    began = time.monotonic()
    status, body, error = await asyncio.to_thread(_ask, form)
    report = HttpReport(
        id=desk.evidence_id(),
        tree=desk.tree,
        elapsed=round(time.monotonic() - began, 3),
        url=form.url,
        status=status,
        error=error,
    )
    said = f"{form.url} answered {status}" if not error else f"{form.url} did not answer: {error}"
    text, cut = bounded(f"{said}\n{body}".rstrip(), KEPT)
    ok = not error and 200 <= status < 400
    return Result(ok, text, {"status": status}, error=error, evidence=(report,), cut=cut)


def _ask(form: ProbeForm) -> tuple[int, str, str]:
    parts = urlsplit(form.url)
    connection = http.client.HTTPConnection(
        parts.hostname or "", parts.port or 80, timeout=form.seconds
    )
    try:
        target = parts.path or "/"
        connection.request("GET", f"{target}?{parts.query}" if parts.query else target)
        answer = connection.getresponse()
        return answer.status, answer.read(KEPT).decode("utf-8", "replace"), ""
    except (OSError, http.client.HTTPException) as error:
        return 0, "", str(error) or type(error).__name__
    finally:
        connection.close()


HTTP_PROBE = Tool(
    "http_probe",
    "Ask an http address on this machine and show its status and the start of its body.",
    ProbeForm,
    facts,
    perform,
)
