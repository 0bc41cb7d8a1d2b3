"""Progress of what takes long: what runs, and the last line that it printed."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from typing import Any

from mcp.server.mcpserver import Context

from flyball.app.steps.turn import TurnWatcher
from flyball.engine.telemetry import Telemetry

EVERY = 0.5
"""Seconds between two reports."""
LONGEST = 200


@asynccontextmanager
async def progress(ctx: Context[Any, Any]) -> AsyncGenerator[TurnWatcher]:
    """Report what is told inside, a few times a second at most, and once at the end."""
    news = _News()
    task = asyncio.create_task(_report(ctx, news))
    try:
        yield TurnWatcher(news.telemetry, news.output)
    finally:
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)
        if news.count:
            await ctx.report_progress(news.count, message=news.last)


class _News:
    """The last thing that was told, and how many there were."""

    def __init__(self) -> None:
        self.count = 0
        self.last = ""

    def telemetry(self, line: Telemetry) -> None:
        match line["type"]:
            case "progress":
                self._tell(line["text"])
            case "phase":
                self._tell(line["label"])
            case "call" if line["state"] == "started":
                self._tell(f"{line['tool']} {line['about']}".strip())
            case "evidence":
                self._tell(str(line.get("label") or line["kind"]))
            case _:
                pass

    def output(self, text: str) -> None:
        if line := text.strip().rpartition("\n")[2].strip():
            self._tell(line)

    def _tell(self, text: str) -> None:
        self.count += 1
        self.last = text[:LONGEST]


async def _report(ctx: Context[Any, Any], news: _News) -> None:
    said = 0
    while True:
        await asyncio.sleep(EVERY)
        if news.count > said:
            said = news.count
            await ctx.report_progress(said, message=news.last)
