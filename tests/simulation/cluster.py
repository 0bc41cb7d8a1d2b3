"""A cluster under fire: workers as processes, killed, frozen, cut off; every run must end once.

python -m tests.simulation.cluster --runs 60 --turns 20 --kills 25 --freezes 5 --restarts 1
"""

from __future__ import annotations

import argparse
import asyncio
import json
import random
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import psycopg
from tests.postgres import fresh_database, start_server
from tests.repos import git, repository

from flyball.app.project import Home, open_home
from flyball.app.runs.journals import opened
from flyball.app.starting import RunRequest
from flyball.cluster.submitting import submit
from flyball.cluster.worker import LEASE_SECONDS
from flyball.journal.connection import SCHEMA
from flyball.run.ending import status_of
from flyball.run.machine import replay
from flyball.run.state import RunState
from flyball.terms.intent import Intent

LOOK = 0.2
FREEZE = LEASE_SECONDS * 1.7
"""Long enough that everything a frozen worker held is taken by others meanwhile."""

FLYBALL = (str(Path(sys.executable).with_name("flyball")),)

FILES: dict[str, str | bytes] = {
    ".gitignore": "__pycache__/\n",
    "steps.py": "step_0 = 0\n",
    "test_steps.py": (
        "import unittest\n\nimport steps\n\n\nclass StepsTest(unittest.TestCase):\n"
        "    def test_steps(self):\n"
        "        self.assertEqual(steps.step_2, 2)\n"
    ),
}


def script(turns: int) -> str:
    """What a scripted driver says: it looks, promises, writes a line at a time, and tests."""
    checkpoint = {
        "goal": "the steps are counted",
        "findings": "steps.py ends too early",
        "proposed_action": "add a line at a time",
        "files": ["steps.py"],
        "verify_with": ["test"],
    }
    said: list[dict[str, object]] = [
        {"calls": [{"tool": "read", "args": {"path": "steps.py"}}]},
        {"calls": [{"tool": "checkpoint", "args": checkpoint}]},
    ]
    for n in range(1, turns - 3):
        diff = "--- a/steps.py\n+++ b/steps.py\n@@ @@\n"
        diff += f" step_{n - 1} = {n - 1}\n+step_{n} = {n}\n"
        said.append({"calls": [{"tool": "edit_diff", "args": {"diff": diff}}]})
        if n % 4 == 0:
            # Who edits on and on and never runs anything is stopped; and a death in the middle of
            # a test is no test.
            said.append({"calls": [{"tool": "test", "args": {}}]})
    said.append({"calls": [{"tool": "test", "args": {}}]})
    said.append({"text": "The steps are counted."})
    return "".join(json.dumps(line) + "\n" for line in said)


class Held(NamedTuple):
    """Who may drive a run, by the journal."""

    run: str
    status: str
    holder: str
    fence: int


class Cluster:
    """A project with a remote, a database, and workers that are processes of this machine."""

    def __init__(self, place: Path, database: str, turns: int) -> None:
        self.place = place
        self.database = database
        self.turns = turns
        self.remote = place / "remote.git"
        git(place, "init", "-q", "--bare", str(self.remote))
        self.repo = repository(place / "shop", FILES)
        git(self.repo, "remote", "add", "origin", str(self.remote))
        self.script = place / "script.jsonl"
        self.script.write_text(script(turns))
        self.env = {
            "PATH": f"{sys.base_prefix}/bin:/usr/local/bin:/usr/bin:/bin",
            "HOME": str(place / "home"),
            "LOGNAME": "ada",
            "FLYBALL_STATE_DIR": str(place / "state"),
            "FLYBALL_DATABASE": database,
            "FLYBALL_VERDICT_MUTANT_SECONDS": "0",
        }
        (place / "home").mkdir()
        self.workers: list[subprocess.Popen[bytes]] = []
        self._db: psycopg.Connection[Any] | None = None

    @property
    def home(self) -> Home:
        return open_home(self.repo, self.env, {})

    def hire(self, *options: str, program: Sequence[str] = FLYBALL) -> subprocess.Popen[bytes]:
        """Start a worker; it says its name once it takes runs."""
        log = (self.place / "workers.log").open("ab")
        command = [*program, "worker", "--json", *options]
        worker = subprocess.Popen(
            command, cwd=self.place, env=self.env, stdout=subprocess.PIPE, stderr=log
        )
        log.close()
        self.workers.append(worker)
        return worker

    def submit(self, request: str = "count the steps", **options: Any) -> str:
        usual = {
            "intent": Intent.SMALL_FIX,
            "driver": f"scripted:{self.script}",
            "budget": self.turns + 20,
            "by": "ada",
        }
        wanted = RunRequest(request, **{**usual, **options})
        home = self.home
        return asyncio.run(submit(home, wanted))

    def ask(self, statement: str, *values: object) -> list[tuple[Any, ...]]:
        """What the database says, however often its server is started anew meanwhile."""
        while True:
            try:
                if self._db is None or self._db.closed:
                    self._db = psycopg.connect(self.database, autocommit=True)
                    self._db.execute(f"SET search_path TO {SCHEMA}")
                return self._db.execute(statement.encode(), values).fetchall()
            except psycopg.OperationalError:
                self._db = None
                time.sleep(LOOK)

    def held(self) -> dict[str, Held]:
        rows = self.ask(
            "SELECT r.run, r.status, coalesce(l.holder, ''), coalesce(l.fence, 0)"
            " FROM runs r LEFT JOIN leases l USING (run)"
        )
        return {row[0]: Held(*row) for row in rows}

    def wait_for(self, runs: Sequence[str], status: set[str], seconds: float) -> None:
        """Until each of them is in one of these states."""
        end = time.monotonic() + seconds
        while True:
            held = self.held()
            late = [held[run] for run in runs if held[run].status not in status]
            if not late:
                return
            if time.monotonic() > end:
                log = (self.place / "workers.log").read_text()[-3000:]
                raise AssertionError(f"not in {status} after {seconds} s: {late[:5]}\n{log}")
            time.sleep(LOOK)

    def state(self, run: str) -> RunState:
        async def load() -> RunState:
            async with opened(self.home) as journal:
                return await journal.load(run)

        return asyncio.run(load())

    def faults(self, run: str) -> list[str]:
        """Everything that is wrong with a run that has ended."""

        async def read() -> tuple[list[str], RunState]:
            found: list[str] = []
            async with opened(self.home) as journal:
                entries, state = await journal.events(run), await journal.load(run)
            events = [entry.event for entry in entries]
            answered = Counter(event.effect for event in events if event.effect)
            found += [f"effect {n} was answered {k} times" for n, k in answered.items() if k > 1]
            if replay(events) != state:
                found.append("the fold of the log is not the stored state")
            return found, state

        found, state = asyncio.run(read())
        if status_of(state) != "success":
            asked = [card.question.text for card in state.paused if card.question]
            found.append(f"it ended as {status_of(state)}: {asked or state.response}")
        steps = git(self.remote, "show", f"refs/flyball/{run}/branch:steps.py", check=False)
        wanted = [f"step_{n} = {n}" for n in range(self.turns - 3)]
        if steps.splitlines() != wanted:
            found.append(f"the file has {steps.splitlines()}")
        branch = f"refs/flyball/{run}/branch"
        commits = git(self.remote, "log", "--format=%s", branch, check=False)
        if len(commits.strip().split("\n")) != 2:
            found.append(f"the branch has {commits!r}")
        return [f"{run}: {each}" for each in found]

    def close(self) -> None:
        """End every worker, the frozen as well."""
        for worker in self.workers:
            if worker.poll() is None:
                worker.kill()
            worker.wait()
            if worker.stdout:
                worker.stdout.close()
        if self._db is not None:
            self._db.close()


class AuditedCall(NamedTuple):
    """Something done to a worker or the database, and when."""

    at: float
    kind: str


class Trial:
    """Strikes at random while runs go on, and measures how long runs wait for a new owner."""

    def __init__(self, cluster: Cluster, seed: int) -> None:
        self.cluster = cluster
        self.chance = random.Random(seed)
        self.waits: list[tuple[float, str]] = []
        """How long each run waited for a new owner, and what had been done to the last one."""
        self._orphans: dict[str, tuple[int, float, str]] = {}
        """Run → the fence it had, when its owner was struck, and how."""
        self._frozen: list[tuple[float, subprocess.Popen[bytes]]] = []

    def look(self) -> dict[str, Held]:
        """Note who has found a new owner, and wake whoever was frozen long enough."""
        held, now = self.cluster.held(), time.monotonic()
        for run, (fence, since, kind) in list(self._orphans.items()):
            is_over = held[run].status not in ("running",)
            if held[run].fence > fence or is_over:
                if not is_over:
                    self.waits.append((now - since, kind))
                del self._orphans[run]
        for until, worker in list(self._frozen):
            if now > until:
                worker.send_signal(signal.SIGCONT)
                self._frozen.remove((until, worker))
        return held

    def strike(self, kind: str, hire: Sequence[str]) -> None:
        """Kill or freeze a worker that is at work."""
        asleep = {worker.pid for _, worker in self._frozen}
        able = [w for w in self.cluster.workers if w.poll() is None and w.pid not in asleep]
        held = self.cluster.held()
        busy = [w for w in able if any(f"process {w.pid} on" in h.holder for h in held.values())]
        if not (busy or able):
            return
        victim = self.chance.choice(busy or able)
        now = time.monotonic()
        for each in held.values():
            if f"process {victim.pid} on" in each.holder and each.status == "running":
                self._orphans.setdefault(each.run, (each.fence, now, kind))
        if kind == "freeze":
            victim.send_signal(signal.SIGSTOP)
            self._frozen.append((now + FREEZE, victim))
            return
        victim.kill()
        victim.wait()
        self.cluster.hire(*hire)

    def cut_connections(self) -> None:
        """End every connection to the database but our own."""
        self.cluster.ask(
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity"
            " WHERE pid != pg_backend_pid() AND datname = current_database()"
        )


class Figures(NamedTuple):
    """How a trial came out."""

    runs: int
    seconds: float
    faults: list[str]
    longest: float
    orphans: int
    strikes: int


def fire(cluster: Cluster, options: argparse.Namespace, restart: Any = None) -> Figures:
    """Submit runs, strike at the workers while they go on, and judge every run at the end."""
    trial = Trial(cluster, options.seed)
    own = ("--concurrency", str(options.concurrency))
    for _ in range(options.workers):
        cluster.hire(*own)
    runs = [cluster.submit() for _ in range(options.runs)]
    actions = ["kill"] * options.kills + ["freeze"] * options.freezes
    actions += ["cut"] * options.cuts + ["restart"] * options.restarts
    trial.chance.shuffle(actions)
    began = time.monotonic()
    pause, next_at, struck = options.pause, began + options.pause, 0
    end = began + options.seconds
    while True:
        held = trial.look()
        open_ = [run for run in runs if held[run].status == "running"]
        if not open_:
            break
        if time.monotonic() > end:
            break
        if actions and time.monotonic() > next_at:
            kind = actions.pop()
            if kind == "cut":
                trial.cut_connections()
            elif kind == "restart":
                restart()
            else:
                trial.strike(kind, own)
            struck += 1
            next_at = time.monotonic() + trial.chance.uniform(0.3, 1.7) * pause
            print(f"{time.monotonic() - began:6.1f} s  {kind}, {len(open_)} open", flush=True)
        time.sleep(LOOK)
    spent = time.monotonic() - began
    trial.look()
    faults = [fault for run in runs for fault in cluster.faults(run)]
    waits = sorted(trial.waits, reverse=True)
    print("the longest waits:", ", ".join(f"{wait:.1f} s ({kind})" for wait, kind in waits[:8]))
    longest = waits[0][0] if waits else 0.0
    return Figures(len(runs), spent, faults, longest, len(waits), struck)


def parser() -> argparse.ArgumentParser:
    found = argparse.ArgumentParser(description=__doc__)
    for name, value in (
        ("workers", 3),
        ("concurrency", 3),
        ("runs", 60),
        ("turns", 20),
        ("kills", 25),
        ("freezes", 5),
        ("cuts", 0),
        ("restarts", 0),
        ("seed", 0),
    ):
        found.add_argument(f"--{name}", type=int, default=value)
    found.add_argument("--pause", type=float, default=4.0, help="seconds between strikes")
    found.add_argument("--seconds", type=float, default=1800.0, help="the longest it may take")
    return found


def main(arguments: Sequence[str] = ()) -> int:
    options = parser().parse_args(arguments)
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        # As root the server is another user, who must be let in.
        Path(folder).chmod(0o755)
        server = start_server(Path(folder, "postgres"))
        try:
            url = fresh_database(server.get_uri(), "cluster")
            place = Path(folder, "place")
            place.mkdir()
            cluster = Cluster(place, url, options.turns)
            try:
                figures = fire(cluster, options, lambda: restart_server(server))
                tell(figures, options.turns)
            finally:
                cluster.close()
                print((place / "workers.log").read_text()[-4000:])
        finally:
            server.cleanup()
    return 1 if figures.faults else 0


def tell(figures: Figures, turns: int) -> None:
    """Say how it came out, before the files are cleared away, which takes a while."""
    print(
        f"{figures.runs} runs of {turns} turns in {figures.seconds:.0f} s,"
        f" {figures.strikes} strikes, {figures.orphans} runs lost their owner,"
        f" the longest wait for a new one {figures.longest:.1f} s, {len(figures.faults)} faults"
    )
    for fault in figures.faults[:20]:
        print(fault)


def restart_server(server: Any) -> None:
    """Stop Postgres as an administrator would, and start it again."""
    server.stop()
    server.start()


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
