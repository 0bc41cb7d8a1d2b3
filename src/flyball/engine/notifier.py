"""Notify a person, by their own command or URL, that a run waits for them."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from flyball.engine.telemetry import Telemetry
from flyball.errors import ToolUnavailable
from flyball.workspace.process.spawn import leave

POST = (
    "import sys, urllib.request as web\n"
    "headers = {'Content-Type': 'application/json'}\n"
    "web.urlopen(web.Request(sys.argv[1], sys.stdin.buffer.read(), headers), timeout=10)\n"
)
"""Runs in a process of its own, so that nothing waits for an address that does not answer."""


def post_to(url: str) -> Sequence[str]:
    """Return a command that posts its input to a URL."""
    return sys.executable, "-I", "-c", POST, url


class Notifier(NamedTuple):
    """Starts the user's commands each time a run has a question, without waiting for them.

    It wraps the run's watcher, to which it passes every line and any failure to start a command.
    """

    run: str
    project: Path
    commands: Sequence[Sequence[str]]
    environ: Mapping[str, str]
    watch: Callable[[Telemetry], None]

    def telemetry(self, line: Telemetry) -> None:
        """Forward a line; if it is a question, notify the person as well."""
        self.watch(line)
        if line["type"] != "approval":
            return
        notice = {
            "project": self.project.name,
            "run": self.run,
            "kind": line["kind"],
            "text": line["text"],
            "answer": f"flyball approve {self.run}",
        }
        notice_bytes = json.dumps(notice).encode()
        for argv in self.commands:
            try:
                leave(argv, cwd=self.project, env=self.environ, stdin=notice_bytes)
            except ToolUnavailable as error:
                # A run must not fail because its person cannot be called.
                self.watch({"type": "notice", "text": f"notify.command: {error}"})
