"""Who holds which leases, and mistakes found by the beginning of their fingerprints."""

from __future__ import annotations

from typing import Any

import pytest

from flyball.app.board.ledger import meant
from flyball.app.board.workers import workers_of
from flyball.errors import NotFound, UsageError
from flyball.guards.ledger import Mistake
from flyball.journal.protocol import WorkerRow
from flyball.workspace.process.process_identity import name_this_process


def row(run: str, by: str, project: str = "shop", status: str = "running") -> dict[str, Any]:
    told = {"run": run, "driven_by": by, "project": project, "status": status}
    return {**told, "title": project, "request": f"do {run}", "updated_at": 5.0}


def test_leases_are_counted_and_those_of_other_projects_not_named():
    rows = [row("r1", "w1"), row("r2", "w1", "other"), row("r3", "w2"), row("r4", "")]
    told = workers_of(rows, lambda project: project == "shop")
    assert [(each["name"], each["load"]) for each in told] == [("w1", 2), ("w2", 1)]
    assert [lease["run"] for lease in told[0]["leases"]] == ["r1"]


def test_an_idle_worker_is_shown_and_one_whose_run_ended_is_not():
    known = [WorkerRow("w9", "far", ("verifier",), 8, 0, "1.0", 0.0, 1.0)]
    told = workers_of([row("r1", "w1", status="success")], lambda _project: True, known)
    assert [(each["name"], each["load"], each["limit"], each["roles"]) for each in told] == [
        ("w9", 0, 8, ["verifier"])
    ]


def test_a_worker_of_the_cluster_that_drives_is_listed_once():
    known = [WorkerRow("w9", "far", ("executor",), 8, 1, "1.0", 0.0, 1.0, is_leaving=True)]
    (told,) = workers_of([row("r1", "w9")], lambda _project: True, known)
    assert (told["load"], told["limit"], told["is_leaving"]) == (1, 8, True)
    assert [lease["run"] for lease in told["leases"]] == ["r1"]


def test_a_process_is_called_by_its_machine_and_number_and_gone_ones_are_not_there():
    own = name_this_process()
    pid, host = own.split(" ")[1], own.split(" ")[3]
    gone = f"process 1 on {host} since 1"
    told = workers_of([row("r1", own), row("r2", gone)], lambda _project: True)
    assert [each["name"] for each in told] == [f"{host}:{pid}"]


LEDGER = (Mistake("abc1", "one"), Mistake("abd2", "two"))


@pytest.mark.parametrize(("name", "error"), [("abc", "one"), (" ABD2 ", "two")])
def test_the_beginning_is_enough(name: str, error: str):
    assert meant(LEDGER, name).error == error


def test_a_beginning_that_several_share_is_refused_with_their_names():
    with pytest.raises(UsageError, match="'ab' may mean abc1 or abd2") as caught:
        meant(LEDGER, "ab")
    assert caught.value.hint == "Type more of the fingerprint."


@pytest.mark.parametrize("name", ["", "x", "abc12"])
def test_an_unknown_one_is_not_found(name: str):
    with pytest.raises(NotFound, match="There is no mistake"):
        meant(LEDGER, name)
