"""What the server at an address takes: neither large nor deep bodies, nor half a request."""

from __future__ import annotations

import httpx2
from tests.governed import Shell
from tests.mcp.serving import TOKEN, listening

HEADERS = {
    "Authorization": f"Bearer {TOKEN}",
    "Accept": "application/json, text/event-stream",
    "Content-Type": "application/json",
}


def test_bodies_are_bounded_before_they_are_parsed(shell: Shell):
    with listening(shell) as address:
        for body, status, code in (
            (b"[" * 100_000 + b"]" * 100_000, 400, "too-deep"),
            (b'"' + b" " * 5_000_000 + b'"', 413, "too-large"),
        ):
            answer = httpx2.post(address, content=body, headers=HEADERS)
            assert (answer.status_code, answer.json()["code"]) == (status, code)
