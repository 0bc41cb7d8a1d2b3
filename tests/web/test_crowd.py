"""Five hundred readers on one run: each gets everything, in order, however often it returns."""

from __future__ import annotations

import asyncio
import json
import resource
import threading
import time
from pathlib import Path
from random import Random

import pytest
from tests.web.served import TOKEN, environment, make_shop, serving
from tests.web.test_feed import simulated, write

from flyball.app.project import open_home
from flyball.journal.sqlite import SqliteJournal

READERS = 500
RETURNING = 20
PER_SECOND = 50
MOST_BREAKS = 5


async def read(port: int, run: str, count: int, rng: Random | None) -> list[dict[str, object]]:
    """Every line of a stream; with a generator, in several sittings that end anywhere.

    Like a browser it comes back where a busy server has broken the stream off.
    """
    got: list[dict[str, object]] = []
    last, broken = "", 0
    while len(got) < count:
        reader, writer = await asyncio.open_connection("127.0.0.1", port, limit=1 << 20)
        head = f"GET /api/runs/{run}/events HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\n"
        asked = f"{head}Authorization: Bearer {TOKEN}\r\nLast-Event-ID: {last}\r\n\r\n"
        writer.write(asked.encode())
        stay = rng.randint(1, max(count // RETURNING, 2)) if rng else count
        while stay and len(got) < count:
            line = await reader.readline()
            if not line:
                broken += 1
                assert broken < MOST_BREAKS, "the stream breaks off again and again"
                break
            if line.startswith(b"id: "):
                last = line[4:].decode().strip()
            elif line.startswith(b"data: "):
                got.append(json.loads(line[6:]))
                stay -= 1
        writer.close()
    return got


@pytest.mark.exhaustive
def test_five_hundred_readers_get_every_line_once_and_in_order(tmp_path: Path):
    shop, _ = make_shop(tmp_path)
    environ = environment(tmp_path)
    steps, lines = simulated(1, least=80)
    journal = SqliteJournal(open_home(shop, environ, {}).journal_path)
    asyncio.run(write(journal, steps[:2]))
    with serving(environ, shop) as served:

        def drive() -> None:
            time.sleep(1.0)
            asyncio.run(write(journal, steps[2:], pause=1 / PER_SECOND))

        async def crowd() -> list[list[dict[str, object]]]:
            run, count = steps[0][1].run, len(lines)
            steady = [read(served.port, run, count, None) for _ in range(READERS - 5)]
            coming = [read(served.port, run, count, Random(n)) for n in range(5)]
            return await asyncio.gather(*steady, *coming)

        thread = threading.Thread(target=drive)
        thread.start()
        found = asyncio.run(crowd())
        thread.join()
        assert all(each == lines for each in found)
    asyncio.run(journal.close())


@pytest.mark.exhaustive
def test_memory_stays_flat_with_a_reader_that_stalls(tmp_path: Path):
    shop, _ = make_shop(tmp_path)
    environ = environment(tmp_path)
    steps, lines = simulated(1, least=80)
    journal = SqliteJournal(open_home(shop, environ, {}).journal_path)
    asyncio.run(write(journal, steps))
    run = steps[0][1].run
    with serving(environ, shop) as served:

        async def many() -> None:
            stalled = []
            for _ in range(200):
                reader, writer = await asyncio.open_connection("127.0.0.1", served.port, limit=1)
                head = f"GET /api/runs/{run}/events HTTP/1.1\r\nHost: 127.0.0.1:{served.port}\r\n"
                writer.write(f"{head}Authorization: Bearer {TOKEN}\r\n\r\n".encode())
                stalled.append((reader, writer))
            await asyncio.sleep(1.0)
            before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
            for _ in range(20):
                assert await read(served.port, run, len(lines), None) == lines
            grown = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before
            assert grown < 20_000, f"{grown} kB more for readers that read nothing"
            for _, writer in stalled:
                writer.close()

        asyncio.run(many())
    asyncio.run(journal.close())
