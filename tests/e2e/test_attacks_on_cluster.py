"""What a submitter, or whoever writes to the database, asks of somebody else's machine."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.postgres import database, postgres
from tests.simulation.cluster import Cluster

from flyball.app.project import open_home
from flyball.app.runs.journals import opened
from flyball.app.starting import RunRequest
from flyball.cluster.submitting import arrived, submit
from flyball.run.event import AnyEvent, CallReturned, RunStarted, Tightened
from flyball.run.policy import Policy
from flyball.terms.intent import Intent

__all__ = ["database", "postgres"]

LAX = {
    "FLYBALL_BASH_ENABLED": "true",
    "FLYBALL_BASH_WITHOUT_SANDBOX": "true",
    "FLYBALL_MODEL_WEB": "true",
    "FLYBALL_POLICY_SELF_MODIFY": "true",
    "FLYBALL_POLICY_WEAKENED_TESTS": "allow",
}


@pytest.fixture
def cluster(tmp_path: Path, database: str) -> Iterator[Cluster]:
    made = Cluster(tmp_path, database, 8)
    yield made
    made.close()


def events_of(cluster: Cluster, run: str) -> list[AnyEvent]:
    async def read() -> list[AnyEvent]:
        async with opened(cluster.home) as journal:
            return [entry.event for entry in await journal.events(run)]

    return asyncio.run(read())


@pytest.mark.slow
def test_a_submitters_policy_does_not_loosen_that_of_a_workers_machine(cluster: Cluster) -> None:
    canary = cluster.place / "canary"
    call = {"tool": "bash", "args": {"command": f"touch {canary}; echo it-ran-here"}}
    said = [{"calls": [call]}, {"text": "It is done."}]
    cluster.script.write_text("".join(json.dumps(line) + "\n" for line in said))
    wanted = RunRequest(
        "look at it",
        intent=Intent.DIAGNOSE,
        driver=f"scripted:{cluster.script}",
        budget=20,
        assume_yes=True,
        by="mallory",
    )
    submitted = asyncio.run(submit(open_home(cluster.repo, cluster.env | LAX, {}), wanted))
    cluster.hire("--concurrency", "1")
    ended = {"success", "answered", "unverified", "paused", "failed"}
    cluster.wait_for([submitted], ended, 120)
    found = events_of(cluster, submitted)
    started = next(event for event in found if isinstance(event, RunStarted))
    assert started.policy.bash
    assert started.policy.assume_yes
    held = next(event.policy for event in found if isinstance(event, Tightened))
    strict = (held.bash, held.bash_without_sandbox, held.web, held.self_modify, held.assume_yes)
    assert strict == (False,) * 5
    returned = [event for event in found if isinstance(event, CallReturned)]
    assert not any(event.outcome.ok for event in returned)
    assert not canary.exists()


def test_settings_that_no_submitter_may_send_are_left_out_on_the_worker() -> None:
    forged = {
        "bash_network": True,
        "bash_allow": [["rm"]],
        "sandbox_readable": ["/"],
        "model_base_url": "https://attacker.example",
        "database": "postgresql://attacker.example/x",
        "repair_seconds": 3.0,
    }
    started = RunStarted(
        run="r", request="x", policy=Policy(), shell={"settings": json.dumps(forged)}
    )
    assert arrived(started) == {"repair_seconds": 3.0}
