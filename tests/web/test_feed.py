"""Streams: every line once and in order, from any place, for any number of readers."""

from __future__ import annotations

import asyncio
import json
import re
import time
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from random import Random

import pytest
from tests.simulation.simulate import next_event, start_event, world_of
from tests.web.served import Served, environment, events, make_shop, serving

from flyball.app.archive import export_lines, import_run
from flyball.app.board.feed import (
    START,
    GrowingList,
    LiveText,
    Place,
    RunTail,
    framed,
    framed_lines,
    read_place,
)
from flyball.app.board.projects import Projects
from flyball.app.board.watching import LastActions, Watch
from flyball.app.project import Home, open_home
from flyball.app.runs.journals import acquire
from flyball.engine.telemetry import telemetry
from flyball.errors import UsageError
from flyball.journal.protocol import Journal, JournalEntry
from flyball.journal.sqlite import SqliteJournal
from flyball.run.event import AnyEvent
from flyball.run.machine import advance
from flyball.run.state import RunState

Step = tuple[AnyEvent, RunState]


def simulated(seed: int, least: int = 30) -> tuple[list[Step], list[dict[str, object]]]:
    """A whole run with at least so many events, and what its stream must say."""
    for each in range(seed, seed + 500):
        rng = Random(each)
        world, state = world_of(rng), RunState()
        event: AnyEvent = start_event(each, rng)
        steps: list[Step] = []
        lines: list[dict[str, object]] = []
        for patience in range(400, 0, -1):
            after = advance(state, event).state
            lines += telemetry(state, event, after)
            steps.append((event, after))
            state = after
            if state.has_ended:
                break
            event = next_event(world, state, patience)
        if len(steps) >= least and state.has_ended:
            return steps, json.loads(json.dumps(lines))
    raise AssertionError("no simulated run is long enough")


async def write(journal: Journal, steps: list[Step], pause: float = 0.0) -> None:
    """Append events as another process would."""
    lease = await acquire(journal, steps[0][1].run)
    for event, state in steps:
        await journal.commit(lease, event, state, ())
        if pause:
            time.sleep(pause)
    await journal.release(lease)


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Home:
    place = tmp_path_factory.mktemp("feed")
    shop, _ = make_shop(place)
    return open_home(shop, environment(place), {})


@pytest.fixture(scope="module")
def served(home: Home) -> Iterator[Served]:
    with serving(dict(home.environ), home.repo, beat=0.2) as found:
        yield found


@pytest.mark.parametrize(
    ("text", "place"), [("", START), ("7", Place(7, 1 << 30)), ("7.2", Place(7, 2))]
)
def test_an_id_names_a_place(text: str, place: Place):
    assert read_place(text) == place


@pytest.mark.parametrize("text", ["x", "7.x", "-1", "7.", "٧", "1" * 40, "7.2.1"])
def test_what_is_no_id_is_refused(text: str):
    if text == "7.":
        assert read_place(text) == Place(7, 1 << 30)
        return
    with pytest.raises(UsageError):
        read_place(text)


async def taken(frames: AsyncIterator[bytes], count: int) -> list[tuple[str, dict[str, object]]]:
    found: list[tuple[str, dict[str, object]]] = []
    async for chunk in frames:
        found += events(iter(chunk.splitlines(keepends=True)))
        if len(found) >= count:
            return found
    raise AssertionError("the stream ended")


def frames_of(steps: list[Step]) -> list[tuple[Place, bytes]]:
    state, found = RunState(), []
    for event, after in steps:
        found += framed_lines(telemetry(state, event, after))
        state = after
    return found


def test_from_every_place_the_rest_comes_without_gap_or_double():
    steps, lines = simulated(1)

    async def check() -> None:
        frames = GrowingList()
        frames.add(frames_of(steps))
        whole = await taken(frames.after(START, 1.0), len(lines))
        assert [data for _, data in whole] == lines
        for n, (id, _) in enumerate(whole[:-1], 1):
            rest = await taken(frames.after(read_place(id), 1.0), len(lines) - n)
            assert rest == whole[n:], id

    asyncio.run(check())


def test_a_reader_that_stalls_holds_nothing_and_then_gets_everything():
    steps, lines = simulated(1)
    found = frames_of(steps)

    async def check() -> None:
        frames = GrowingList()
        stalled = frames.after(START, 1.0)
        assert await anext(stalled) == b": open\n\n"
        frames.add(found)
        quick = await taken(frames.after(START, 1.0), len(lines))
        # What is kept is one list, however many readers have not read it yet.
        assert len(frames) == len(found)
        assert await taken(stalled, len(lines)) == quick

    asyncio.run(check())


def test_where_nothing_happens_a_heart_beats():
    async def check() -> None:
        reader = GrowingList().after(START, 0.01)
        assert [await anext(reader) for _ in range(3)] == [b": open\n\n", *[b": beat\n\n"] * 2]

    asyncio.run(check())


def test_a_run_that_another_process_drives_streams_while_it_moves(served: Served, home: Home):
    """With a reader that breaks off and comes back again and again."""
    steps, lines = simulated(2_000)
    run = steps[0][1].run
    journal = SqliteJournal(home.journal_path)
    asyncio.run(write(journal, steps[:3]))
    rng, got, last, returns = Random(7), [], "", 0
    asyncio.run(write(journal, steps[3:10]))
    rest = iter([steps[10:20], steps[20:], []])
    while len(got) < len(lines):
        with served.stream(f"/api/runs/{run}/events", last) as stream:
            for _ in range(rng.randint(1, 6)):
                last, data = next(stream)
                got.append(data)
                if len(got) == len(lines):
                    break
        returns += 1
        if returns % 3 == 0 and (more := next(rest, [])):
            asyncio.run(write(journal, more))
    assert got == lines
    assert returns >= 5
    asyncio.run(journal.close())


def test_the_board_is_told_of_a_new_run_and_of_its_end(served: Served, home: Home):
    steps, _ = simulated(4_000)
    run = steps[0][1].run
    journal = SqliteJournal(home.journal_path)
    with served.stream("/api/events") as stream:
        _, first = next(stream)
        assert first["type"] == "runs"
        assert run not in [row["run"] for row in first["runs"]]
        asyncio.run(write(journal, steps[:5]))
        row = next(data for _, data in stream if data["run"] == run)
        assert row["status"] in ("running", "interrupted", "paused")
        asyncio.run(write(journal, steps[5:]))
        assert next(data for _, data in stream if data.get("seq") == len(steps))["run"] == run
    asyncio.run(journal.close())
    assert served.get("/api/runs")[0]["project"] == home.state.name


def test_a_stream_says_exactly_the_lines_of_the_seed(served: Served, home: Home):
    steps, _ = simulated(6_000)
    journal = SqliteJournal(home.journal_path)
    asyncio.run(write(journal, steps))
    asyncio.run(journal.close())
    with served.stream(f"/api/runs/{steps[0][1].run}/events") as stream:
        told = [next(stream)[1] for _ in range(12)]
    shown = [framed(line).decode() for line in told]
    recon = 'data: {"type": "phase", "phase": "recon", "label": "Investigating Codebase"'
    assert any(line.startswith(recon) for line in shown)
    assert any(
        re.match(r'data: {"type": "budget", "used": \d+, "limit": \d+', line) for line in shown
    )


def test_what_is_being_said_is_heard_at_once_and_kept_by_nobody():
    async def check() -> None:
        frames = GrowingList()
        early = frames.after(START, 5.0)
        assert await anext(early) == b": open\n\n"
        frames.speak(LiveText(1, "I look"))
        assert await anext(early) == framed({"type": "text", "delta": "I look"})
        frames.speak(LiveText(1, "I look at it"))
        assert await anext(early) == framed({"type": "text", "delta": " at it"})
        late = frames.after(START, 5.0)
        assert await anext(late) == b": open\n\n"
        assert await anext(late) == framed({"type": "text", "delta": "I look at it"})
        frames.speak(LiveText(2, ""))
        frames.speak(LiveText(2, "Now"))
        assert await anext(early) == framed({"type": "text", "delta": "Now"})
        assert len(frames) == 0

    asyncio.run(check())


def test_a_stream_tells_what_a_driver_says_until_the_journal_has_it(home: Home):
    """What was said before the newest event is in the journal, and not said again."""
    steps, lines = simulated(9_000)
    run = steps[0][1].run
    said = [LiveText(1, "Hm", len(steps) - 1)]
    journal = SqliteJournal(home.journal_path)
    asyncio.run(write(journal, steps))
    asyncio.run(journal.close())

    async def check() -> None:
        watch = Watch(Projects(home.environ, home.repo), 5.0, lambda _run: said[0])
        watch.start()
        heard = watch.follow(home, run, "")
        whole = await taken(heard, len(lines))
        assert [data for _, data in whole] == lines
        said[0] = LiveText(2, "Let me see", len(steps))
        _, data = (await taken(heard, 1))[0]
        assert data == {"type": "text", "delta": "Let me see"}
        await heard.aclose()
        watch.stop()

    asyncio.run(check())


def test_the_last_call_that_came_back_is_known_of_each_card(home: Home):
    """The same as the telemetry tells, whether a run is seen from its start or later."""
    steps, lines = simulated(30_000)
    back = [line for line in lines if line["type"] == "call" and line["state"] != "started"]
    assert back
    wanted = {line["card"]: (line["tool"], line["about"], line["ok"]) for line in back}
    actions = LastActions()
    for event, _ in steps:
        actions.take(event)
    assert {card: tuple(each.values()) for card, each in actions.by_card.items()} == wanted

    async def late() -> dict[str, dict[str, object]]:
        journal = SqliteJournal(home.journal_path)
        await write(journal, steps)
        found = LastActions()
        await found.read(journal, steps[0][1].run, len(steps) - 5)
        await found.read(journal, steps[0][1].run, len(steps))
        await journal.close()
        return found.by_card

    seen = asyncio.run(late())
    assert seen
    assert seen.items() <= actions.by_card.items()


def test_a_tail_reads_a_long_log_in_parts(home: Home, tmp_path: Path):
    steps, lines = simulated(8_000)

    async def check() -> None:
        journal = SqliteJournal(tmp_path / "journal.sqlite")
        await write(journal, steps)
        tail, found = RunTail(steps[0][1].run), []
        while part := await tail.read(journal):
            found += part
        assert len(found) == len(lines)
        assert tail.state == steps[-1][1]
        await journal.close()

    asyncio.run(check())


def test_a_project_that_has_only_imported_runs_can_be_chosen(home: Home, tmp_path: Path):
    steps, _ = simulated(12_000)
    run = steps[0][1].run
    entries = [JournalEntry(n, event) for n, (event, _) in enumerate(steps, 1)]
    other = tmp_path / "other"
    other.mkdir()
    far = open_home(other, home.environ, {})
    asyncio.run(import_run(far, b"\n".join(export_lines(run, entries))))
    known = {each.name: each.home.repo for each in Projects(home.environ, home.repo).all()}
    assert known[far.state.name] == other
