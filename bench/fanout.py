"""How soon everybody who watches a run has an event, beside a bare server that only sends.

The board's server is a process of its own, as people start it. Each event is committed to the
journal as another process would, and timed until the last reader has all of its lines. The bare
server has the same lines and readers, and neither journal, HTTP nor token.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import statistics
import sys
import tempfile
import time
from collections.abc import Awaitable, Sequence
from contextlib import suppress
from pathlib import Path

from tests.web.served import TOKEN, environment, make_shop, started
from tests.web.test_feed import Step, simulated

from bench.figure import Figure, conclude
from flyball.app.project import open_home
from flyball.app.runs.journals import acquire
from flyball.engine.telemetry import telemetry
from flyball.journal.sqlite import SqliteJournal
from flyball.run.state import RunState

READERS = 200
EVENTS = 30
LONGEST_MS = 1_000.0


class Crowd:
    """Readers on one stream, and how many lines all of them have by now."""

    def __init__(self, count: int) -> None:
        self._got = [0] * count
        self._news = asyncio.Event()

    async def read(self, n: int, port: int, asked: bytes) -> None:
        """Count lines of data until the stream ends."""
        reader, writer = await asyncio.open_connection("127.0.0.1", port, limit=1 << 20)
        writer.write(asked)
        try:
            while line := await reader.readline():
                if line.startswith(b"data: "):
                    self._got[n] += 1
                    self._news.set()
        finally:
            writer.close()
            with suppress(ConnectionError, asyncio.CancelledError):
                await writer.wait_closed()

    async def until(self, lines: int) -> None:
        """Wait until everybody has so many."""
        while min(self._got) < lines:
            self._news.clear()
            await self._news.wait()


async def watched(
    readers: int, port: int, asked: bytes, counts: Sequence[int], send: Sequence[Awaitable[None]]
) -> list[float]:
    """Seconds of each event from being sent until the last reader has it."""
    crowd = Crowd(readers)
    tasks = [asyncio.create_task(crowd.read(n, port, asked)) for n in range(readers)]
    took: list[float] = []
    due = counts[0]
    await send[0]
    await crowd.until(due)
    for count, action in zip(counts[1:], send[1:], strict=True):
        due += count
        began = time.perf_counter()
        await action
        await crowd.until(due)
        if count:
            took.append(time.perf_counter() - began)
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)
    return took


def lines_of(steps: Sequence[Step]) -> list[list[dict[str, object]]]:
    """What each event makes the stream say."""
    before = RunState()
    found: list[list[dict[str, object]]] = []
    for event, after in steps:
        found.append([dict(line) for line in telemetry(before, event, after)])
        before = after
    return found


async def ours(place: Path, steps: Sequence[Step], counts: Sequence[int], n: int) -> list[float]:
    shop, _ = make_shop(place)
    environ = environment(place)
    journal = SqliteJournal(open_home(shop, environ, {}).journal_path)
    run = steps[0][1].run
    lease = await acquire(journal, run)
    with started(environ, shop) as server:
        port = server.client.port
        head = f"GET /api/runs/{run}/events HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\n"
        asked = f"{head}Authorization: Bearer {TOKEN}\r\n\r\n".encode()
        send = [journal.commit(lease, event, state, ()) for event, state in steps[1:]]
        await journal.commit(lease, *steps[0], ())
        first, *rest = counts
        took = await watched(n, port, asked, (first + rest[0], *rest[1:]), send)
    await journal.close()
    return took


async def theirs(lines: Sequence[Sequence[dict[str, object]]], n: int) -> list[float]:
    """A server that sends the same bytes to everybody, and does nothing else."""
    writers: list[asyncio.StreamWriter] = []
    everybody = asyncio.Event()

    async def meet(_reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writers.append(writer)
        if len(writers) == n:
            everybody.set()

    async def send(said: Sequence[dict[str, object]]) -> None:
        await everybody.wait()
        data = b"".join(b"data: %s\n\n" % json.dumps(line).encode() for line in said)
        for writer in writers:
            writer.write(data)
        for writer in writers:
            await writer.drain()

    server = await asyncio.start_server(meet, "127.0.0.1", 0)
    port = server.sockets[0].getsockname()[1]
    took = await watched(n, port, b"", [len(said) for said in lines], [send(s) for s in lines])
    for writer in writers:
        writer.close()
    await asyncio.gather(*(w.wait_closed() for w in writers), return_exceptions=True)
    server.close()
    return took


def main(arguments: Sequence[str] = ()) -> list[Figure]:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--readers", type=int, default=READERS)
    parser.add_argument("--events", type=int, default=EVENTS)
    options = parser.parse_args(arguments)
    steps = simulated(1, least=options.events)[0][: options.events]
    lines = lines_of(steps)
    counts = [len(said) for said in lines]
    with tempfile.TemporaryDirectory() as name:
        mine = asyncio.run(ours(Path(name), steps, counts, options.readers))
    other = asyncio.run(theirs(lines, options.readers))
    usual, bare = statistics.median(mine) * 1e3, statistics.median(other) * 1e3
    return [
        Figure(
            f"an event to the last of {options.readers} readers", usual, "ms",
            "a bare server", bare, most=LONGEST_MS,
        ),
        Figure("the slowest of them", max(mine) * 1e3, "ms"),
    ]  # fmt: skip


if __name__ == "__main__":
    sys.exit(conclude(main(sys.argv[1:])))
