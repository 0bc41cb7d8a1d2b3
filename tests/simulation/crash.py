"""Kill a run at every moment of its journal and at random instants, resume it, compare."""

from __future__ import annotations

import argparse
import asyncio
import os
import random
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from bench.figure import Figure, conclude
from tests.simulation.mortal import RUN, ReplayStatus, Shop, live, make_shop
from tests.simulation.tales import TALES, Tale

from flyball.journal.protocol import JournalEntry
from flyball.journal.sqlite import SqliteJournal
from flyball.run.effect import Perform
from flyball.run.event import AnyEvent
from flyball.run.machine import advance, replay
from flyball.run.state import RunState

PATIENCE = 400
"""How many lives one run may need at most."""


class End(NamedTuple):
    """How a run came out."""

    tree: str
    commits: str
    status: str
    leftovers: int
    events: int


def judge(shop: Shop) -> tuple[End, list[str]]:
    """The end of a run, and everything that a crash has broken."""
    entries, state = asyncio.run(_read(shop))
    events = [entry.event for entry in entries]
    faults: list[str] = []
    if [entry.seq for entry in entries] != list(range(1, len(entries) + 1)):
        faults.append("the log has a gap or a double")
    answered = Counter(event.effect for event in events if event.effect)
    faults += [f"effect {n} was answered twice" for n, times in answered.items() if times > 1]
    if replay(events) != state:
        faults.append("the fold of the log is not the stored state")
    faults += _ran_twice(shop, events)
    status = f"{state.response.status if state.response else 'open'}"
    return End(state.tree, _commits(shop), status, _worktrees(shop), len(events)), faults


async def _read(shop: Shop) -> tuple[Sequence[JournalEntry], RunState]:
    journal = SqliteJournal(shop.journal)
    try:
        return await journal.events(RUN), await journal.load(RUN)
    finally:
        await journal.close()


def _ran_twice(shop: Shop, events: list[AnyEvent]) -> list[str]:
    tree = shop.state / "runs" / RUN / "tree" / shop.repo.name
    ran = Counter(_lines(tree / "ran.log"))
    faults = [f"{line} was written {times} times" for line, times in ran.items() if times > 1]
    suites = len(_lines(tree / "suite.log"))
    asked = sum(1 for call in _performed(events) if call == "test")
    if suites > asked:
        faults.append(f"{asked} calls of `test` ran {suites} suites")
    return faults


def _lines(file: Path) -> list[str]:
    return file.read_text().split() if file.exists() else []


def _performed(events: list[AnyEvent]) -> list[str]:
    """The tools of all calls that were sent off."""
    state, tools = RunState(), list[str]()
    for event in events:
        state, effects = advance(state, event)
        tools += [effect.call.tool for effect in effects if isinstance(effect, Perform)]
    return tools


def _commits(shop: Shop) -> str:
    """What the run's branch came to, commit by commit."""
    words = ["git", "log", "--format=%T %s", f"main..flyball/{RUN}"]
    done = subprocess.run(words, cwd=shop.repo, capture_output=True, text=True, check=True)
    return done.stdout.strip()


def _worktrees(shop: Shop) -> int:
    words = ["git", "worktree", "list"]
    done = subprocess.run(words, cwd=shop.repo, capture_output=True, text=True, check=True)
    return len(done.stdout.strip().split("\n"))


def survive(shop: Shop, deaths: Path | None = None, stride: int = 1) -> int:
    """Live and die until the run has ended; how many deaths that took."""
    for died in range(PATIENCE):
        _, status = os.waitpid(live(shop, ReplayStatus(deaths, stride=stride)), 0)
        if os.WIFEXITED(status):
            if os.WEXITSTATUS(status):
                raise SystemExit(f"a resumed run failed in {shop.state}")
            return died
    raise SystemExit(f"the run does not end in {shop.state}")


def die_at_every_moment(place: Path, tale: Tale, stride: int) -> tuple[Shop, int]:
    """One run whose every process dies at the first moment that none has died at before."""
    shop = make_shop(place, tale)
    deaths = place / "deaths"
    deaths.touch()
    return shop, survive(shop, deaths, stride)


def die_once(place: Path, tale: Tale, moment: str) -> Shop:
    """One run that dies at one moment and is then resumed."""
    shop = make_shop(place, tale)
    os.waitpid(live(shop, ReplayStatus(only=moment)), 0)
    survive(shop)
    return shop


def die_after(place: Path, tale: Tale, seconds: float) -> Shop:
    """One run that is killed from outside after a while and is then resumed."""
    shop = make_shop(place, tale)
    pid = live(shop, ReplayStatus())
    time.sleep(seconds)
    os.kill(pid, signal.SIGKILL)
    os.waitpid(pid, 0)
    survive(shop)
    return shop


def main(arguments: Sequence[str] = ()) -> list[Figure]:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--tale", choices=tuple(TALES), default="", help="only this kind of run")
    parser.add_argument("--instants", type=int, default=100, help="how many random instants")
    parser.add_argument("--stride", type=int, default=1, help="only one in so many moments")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument(
        "--apart", action="store_true", help="also one run of its own for every moment"
    )
    options = parser.parse_args(arguments)
    bad: list[str] = []
    for name in [options.tale] if options.tale else TALES:
        print(f"a run of the kind {name}", flush=True)
        with tempfile.TemporaryDirectory(prefix="flyball-crash-") as place:
            trial = Trial(Path(place), TALES[name], random.Random(options.seed))
            bad += [
                f"{name}: {fault}"
                for fault in trial.run(options.instants, options.apart, options.stride)
            ]
    print(f"broken: {len(bad)}")
    for fault in bad[:20]:
        print(f"  {fault}")
    return [Figure("kills that lost or repeated something", len(bad), most=0)]


class Trial(NamedTuple):
    """One kind of run, undisturbed once and then killed in every way."""

    place: Path
    tale: Tale
    rng: random.Random

    def run(self, instants: int, apart: bool, stride: int) -> list[str]:
        place, tale = self.place, self.tale
        undisturbed = make_shop(place / "undisturbed", tale)
        began = time.perf_counter()
        survive(undisturbed)
        length = time.perf_counter() - began
        wanted, bad = judge(undisturbed)
        print(f"undisturbed: {wanted.events} events in {length:.1f} s, {wanted.status}", flush=True)

        shop, died = die_at_every_moment(place / "every", tale, stride)
        bad += _compare("killed at every moment", shop, wanted)
        share = "every moment" if stride == 1 else f"one in {stride} moments"
        print(f"one run, killed {died} times, once at {share} of its journal", flush=True)

        if apart:
            moments = (place / "every" / "deaths").read_text().split("\n")[:-1]
            for n, moment in enumerate(moments):
                bad += _compare(moment, die_once(place / f"apart-{n}", tale, moment), wanted)
            print(f"{len(moments)} runs, each killed at one moment", flush=True)

        for n in range(instants):
            seconds = self.rng.uniform(0, length)
            shop = die_after(place / f"instant-{n}", tale, seconds)
            bad += _compare(f"killed after {seconds:.3f} s", shop, wanted)
        print(f"{instants} runs, each killed at a random instant", flush=True)
        return bad


def _compare(what: str, shop: Shop, wanted: End) -> list[str]:
    end, faults = judge(shop)
    if end._replace(events=wanted.events) != wanted:
        faults.append(f"ended as {end}, not as {wanted}")
    return [f"{what}: {fault}" for fault in faults]


if __name__ == "__main__":
    sys.exit(conclude(main(sys.argv[1:])))
