"""A cluster as a team has it: a real Postgres, and workers that are killed, frozen, cut off."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from tests.e2e.planning import VERIFIES, plan, report, step, swap, work, write
from tests.postgres import database, postgres
from tests.repos import git
from tests.simulation import later_release
from tests.simulation.cluster import Cluster, fire, parser

from flyball.app.answering import yes
from flyball.app.driving import RunControl, Watcher
from flyball.journal.connection import SCHEMA, PostgresLink
from flyball.run import codec
from flyball.terms.intent import Intent

__all__ = ["database", "postgres"]

TURNS = 8
PATIENCE = 900.0
"""Seconds until something counts as never; the machine may be busy with other things."""
MOST_SHARE = 0.02
RESTING = 10.0
FLYBALL = Path(sys.executable).with_name("flyball")


@pytest.fixture
def cluster(tmp_path: Path, database: str) -> Iterator[Cluster]:
    made = Cluster(tmp_path, database, TURNS)
    yield made
    made.close()


def flyball(cluster: Cluster, *words: str) -> list[dict[str, object]]:
    """What a command says, as objects."""
    done = subprocess.run(
        [FLYBALL, *words, "--json"],
        cwd=cluster.repo,
        env=cluster.env,
        capture_output=True,
        text=True,
        timeout=PATIENCE,
    )
    assert "error" not in done.stderr, done.stderr
    return [json.loads(line) for line in done.stdout.splitlines() if line.startswith("{")]


@pytest.mark.exhaustive
def test_a_submitted_run_outlives_the_worker_that_began_it(cluster: Cluster) -> None:
    driver = ("--driver", f"scripted:{cluster.script}", "--intent", "small_fix")
    (told,) = flyball(cluster, "run", "count the steps", *driver, "--submit", "--priority", "3")
    run = str(told["run"])
    assert git(cluster.repo, "branch", "--list", "flyball/*") == ""
    workers = [cluster.hire("--concurrency", "1") for _ in range(2)]
    wait_until(lambda: " on " in cluster.held()[run].holder)
    owner = cluster.held()[run].holder.split(" ")[1]
    (first,) = [each for each in workers if str(each.pid) == owner]
    first.kill()
    first.wait()
    cluster.wait_for([run], {"success"}, PATIENCE)
    assert cluster.faults(run) == []
    secret = cluster.database.rpartition("host=")[2]
    assert cluster.ask("SELECT 1 FROM events WHERE position(%s in body) > 0", secret.encode()) == []


@pytest.mark.exhaustive
def test_a_run_is_merged_in_the_clone_of_whoever_fetches_it_and_then_forgotten(
    cluster: Cluster,
) -> None:
    run = cluster.submit()
    cluster.hire("--concurrency", "1")
    cluster.wait_for([run], {"success"}, PATIENCE)
    git(cluster.repo, "push", "-q", "origin", "HEAD:main")
    git(cluster.place, "clone", "-q", "-b", "main", str(cluster.remote), "bobs")
    bobs = cluster.place / "bobs"
    at = ("--repo", str(bobs))
    assert flyball(cluster, "runs", "show", run, "--diff", *at)
    (merged,) = flyball(cluster, "runs", "merge", run, *at)
    assert merged["files"] == ["steps.py"]
    assert f"step_{TURNS - 4} = " in (bobs / "steps.py").read_text()
    (card,) = (record["id"] for record in flyball(cluster, "runs", "show", run, *at)[0]["cards"])
    flyball(cluster, "card", "revert", run, card, *at)
    assert (bobs / "steps.py").read_text() == "step_0 = 0\n"

    def left() -> list[str]:
        listed = git(cluster.remote, "for-each-ref", "--format=%(refname)", "refs/flyball")
        return [ref.rpartition("/")[2] for ref in listed.split()]

    assert len(left()) == 2
    (pruned,) = flyball(cluster, "runs", "prune", "--days", "0", *at)
    assert (pruned["forgotten_at_remote"], left()) == (1, ["branch"])
    flyball(cluster, "runs", "prune", run, "--abandon", "--yes", *at)
    assert left() == []
    assert git(bobs, "for-each-ref", "refs/flyball", "refs/heads/flyball") == ""
    # The worker has kept nothing of it either.
    wait_until(lambda: not list(cluster.place.glob("state/workers/*/*/state/runs/*")))


@pytest.mark.exhaustive
def test_workers_are_killed_frozen_and_cut_off(cluster: Cluster) -> None:
    words = "--workers 2 --concurrency 2 --runs 4 --kills 2 --freezes 1 --cuts 1 --pause 2"
    figures = fire(cluster, parser().parse_args(f"{words} --turns {TURNS} --seconds 900".split()))
    assert figures.faults == []


@pytest.mark.exhaustive
def test_a_worker_that_is_told_to_stop_gives_its_runs_to_another(cluster: Cluster) -> None:
    run = cluster.submit()
    first = cluster.hire("--concurrency", "1")
    wait_until(lambda: cluster.held()[run].holder != "")
    first.send_signal(signal.SIGTERM)
    assert first.wait(60.0) == 0
    held = cluster.held()[run]
    assert (held.holder, cluster.ask("SELECT count(*) FROM workers")) == ("", [(0,)])
    cluster.hire("--concurrency", "1")
    cluster.wait_for([run], {"success"}, PATIENCE)
    assert cluster.faults(run) == []


@pytest.mark.exhaustive
def test_planner_executor_and_verifier_of_one_run_are_different_workers(cluster: Cluster) -> None:
    edit = swap("steps.py", "step_0 = 0", "step_2 = 2")
    steps = work("step-1", "steps.py", edit)
    script = write(cluster.script, plan(step("step-1")), steps, VERIFIES, report(achieved=True))
    run = cluster.submit(intent=Intent.FEATURE_BUILD, driver=f"scripted:{script}")
    cluster.hire("--roles", "planner,verifier")

    def waits_for() -> tuple[str, str]:
        ((role,),) = cluster.ask("SELECT role FROM runs WHERE run = %s", run)
        return role, cluster.held()[run].holder

    # It was planned, and nobody is there to carry it out.
    wait_until(lambda: waits_for() == ("executor", ""))
    cluster.hire("--roles", "executor")
    cluster.wait_for([run], {"success"}, PATIENCE)
    assert git(cluster.remote, "show", f"refs/flyball/{run}/branch:steps.py") == "step_2 = 2\n"


@pytest.mark.exhaustive
def test_a_run_that_nobody_can_begin_is_given_up_with_a_word(cluster: Cluster) -> None:
    run = cluster.submit()
    cluster.script.unlink()
    cluster.hire("--concurrency", "1")

    def is_over() -> bool:
        # As if the pause between two tries had passed.
        cluster.ask(
            "UPDATE leases SET expires_at = 0 WHERE run = %s AND holder = '' RETURNING 1", run
        )
        return cluster.held()[run].status != "running"

    wait_until(is_over)
    assert cluster.held()[run].status == "cancelled"
    (ended,) = cluster.ask("SELECT body FROM events WHERE run = %s ORDER BY seq DESC LIMIT 1", run)
    assert b"tried 8 times from the same state" in ended[0]


@pytest.mark.exhaustive
def test_what_a_later_release_has_begun_is_left_to_it(cluster: Cluster) -> None:
    later = (sys.executable, str(Path(later_release.__file__)))
    first = cluster.hire("--concurrency", "1", program=later)
    run = cluster.submit()
    formats = "SELECT max(codec) FROM events WHERE run = %s"
    wait_until(lambda: cluster.ask(formats, run) == [(codec.VERSION + 1,)])
    first.kill()
    first.wait()
    fence = cluster.held()[run].fence
    # The present release goes on with its own, and leaves alone what it cannot read.
    cluster.hire("--concurrency", "1")
    ours = cluster.submit()
    cluster.wait_for([ours], {"success"}, PATIENCE)
    assert cluster.faults(ours) == []
    assert cluster.held()[run][1:] == ("running", "", fence)
    shown = subprocess.run(
        [FLYBALL, "runs", "show", run], cwd=cluster.repo, env=cluster.env, capture_output=True
    )
    assert b"written by a later release" in shown.stderr
    cluster.hire("--concurrency", "1", program=later)
    cluster.wait_for([run], {"success"}, PATIENCE)
    # Nothing in it is new but the number.
    for table in ("events", "runs"):
        cluster.ask(f"UPDATE {table} SET codec = %s RETURNING 1", codec.VERSION)
    assert cluster.faults(run) == []


@pytest.mark.exhaustive
def test_a_worker_is_refused_by_a_schema_that_leaves_its_release_out(cluster: Cluster) -> None:
    PostgresLink(cluster.database).close()
    cluster.ask("UPDATE versions SET needs = 99 RETURNING 1")
    worker = cluster.hire()
    said, _ = worker.communicate(timeout=PATIENCE)
    cluster.ask("UPDATE versions SET needs = 1 RETURNING 1")
    assert worker.returncode == 1
    assert b"Upgrade flyball" in said


@pytest.mark.exhaustive
def test_an_answer_reaches_a_run_that_rests_and_hundreds_that_rest_cost_next_to_nothing(
    cluster: Cluster,
) -> None:
    run = cluster.submit(preview=True)
    worker = cluster.hire("--concurrency", "1")
    cluster.wait_for([run], {"paused"}, PATIENCE)
    wait_until(lambda: cluster.held()[run].holder == "")
    copy_paused(cluster, run, 500)
    shares: list[float] = []
    # A machine whose processors are taken away charges that to whoever is on them.
    while len(shares) < 5 and min(shares, default=1.0) >= MOST_SHARE:
        before = cpu_of(worker.pid)
        time.sleep(RESTING)
        shares.append((cpu_of(worker.pid) - before) / RESTING)
    share = min(shares)
    asked = cluster.state(run).seq
    control = RunControl(cluster.home, Watcher(_discard, _discard, _discard))
    began = time.monotonic()
    result = asyncio.run(control.say(run, lambda state: yes(state, "ada"), "ada"))
    assert result.left_to
    wait_until(lambda: cluster.ask("SELECT seq FROM runs WHERE run = %s", run)[0][0] > asked)
    took = time.monotonic() - began
    print(f"500 that rest: {share:.2%} of a core; an answer was heard after {took:.2f} s")
    assert share < MOST_SHARE
    # Under a second where nothing else goes on; here other tests do.
    assert took < 60.0


def copy_paused(cluster: Cluster, run: str, times: int) -> None:
    """Put as many runs beside one that rests, alike but for their names."""
    for table in ("runs", "events"):
        rows = cluster.ask(
            "SELECT column_name FROM information_schema.columns WHERE table_schema = %s"
            " AND table_name = %s AND column_name NOT IN ('run', 'born')",
            SCHEMA,
            table,
        )
        names = ", ".join(f'"{name}"' for (name,) in rows)
        cluster.ask(
            f"INSERT INTO {table} (run, {names}) SELECT run || '-' || n, {names} FROM {table},"
            " generate_series(1, %s) n WHERE run = %s RETURNING 1",
            times,
            run,
        )


def cpu_of(pid: int) -> float:
    """Seconds of a core that a process has used."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def _discard(_value: object) -> None:
    """What is told is in the journal."""


def wait_until(holds: Callable[[], bool]) -> None:
    end = time.monotonic() + PATIENCE
    while not holds():
        assert time.monotonic() < end
        time.sleep(0.05)
