"""Run our own programs in the network of a run's servers."""

from __future__ import annotations

import base64
import os
import shutil
import sys
import tempfile
from collections.abc import Generator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import quote, urlsplit

import msgspec

from flyball.errors import ToolTimeout, ToolUnavailable
from flyball.tools.call.protocol import CallContext
from flyball.workspace.process.process import CommandLimits, run
from flyball.workspace.sandbox.confinement import Sandbox
from flyball.workspace.servers.network import NO_NETWORK, can_serve

INSIDE = Path(__file__).parent / "inside"
GRACE = 60.0
"""Seconds that our programs get in addition to their limit, to start and to end."""


class HttpAnswer(NamedTuple):
    """A response, or why there is none."""

    status: int = 0
    body: bytes = b""
    error: str = ""
    kind: str = ""


@contextmanager
def empty_place() -> Generator[Path]:
    """Yield a directory for one of our programs, without the project's or the user's files."""
    place = Path(os.path.realpath(tempfile.mkdtemp(prefix="flyball-page-")))
    try:
        yield place
    finally:
        shutil.rmtree(place, ignore_errors=True)


async def run_inside(
    name: str, task: Mapping[str, object], context: CallContext, place: Path, *, isolated: str
) -> Any:
    """Run a program of `inside` in the run's network; return its output for a request."""
    if not can_serve():
        raise ToolUnavailable(NO_NETWORK, "Run `flyball doctor` to see why.")
    usual = context.sandbox_in(context.root)
    seconds = float(str(task["seconds"]))
    finished = await run(
        [sys.executable, isolated, os.fspath(INSIDE / name)],
        cwd=place,
        env=context.env,
        sandbox=Sandbox(
            level=usual.level,
            root=place,
            readable=(INSIDE,),
            home=usual.home,
            joins=context.servers.network.joins(),
        ),
        limits=CommandLimits(seconds=seconds + GRACE, kept=1 << 24),
        # Not redacted here: encoded bytes could look like a key. The answer's text is redacted
        # before it is shown.
        stdin=msgspec.json.encode(task),
    )
    if finished.timed_out:
        raise ToolTimeout(f"Looking took longer than {seconds:g} s and was ended.")
    try:
        return msgspec.json.decode(_last(finished.output))
    except msgspec.DecodeError:
        output = finished.output.strip()[-1_000:]
        raise ToolUnavailable(f"Opening the page failed: {output or 'nothing was said'}") from None


def _last(output: str) -> str:
    """Return the last line, which is the answer; earlier lines are warnings of libraries."""
    return output.strip().rpartition("\n")[2]


async def ask(
    url: str, context: CallContext, *, seconds: float, kept: int, waits: bool = False
) -> HttpAnswer:
    """Return the response of a URL in the run's network."""
    parts = urlsplit(url)
    query = f"?{parts.query}" if parts.query else ""
    target = quote(f"{parts.path or '/'}{query}", safe="/?&=%+:,;@~")
    task = {
        "host": parts.hostname or "",
        "port": parts.port or 80,
        "target": target,
        "seconds": seconds,
        "kept": kept,
        "waits": waits,
    }
    with empty_place() as place:
        found = await run_inside("ask.py", task, context, place, isolated="-IS")
    body = base64.b64decode(found["body"])
    return HttpAnswer(found["status"], body, found["error"], found["kind"])
