"""The list of runs shows each, also one that cannot be read, also where nothing can be written."""

from __future__ import annotations

import os
import sqlite3
import subprocess
import sys
from pathlib import Path

import pytest
from tests.repos import repository
from tests.unit.journal.runs import begin, story, take

from flyball.app.people.decisions import MERGED, NotedDecision, note_decision
from flyball.app.project import Home, open_home
from flyball.app.runs.overview import UNREADABLE, overviews
from flyball.journal.sqlite import SqliteJournal


@pytest.fixture
def home(tmp_path: Path) -> Home:
    repo = repository(tmp_path / "shop", {"a.txt": "one\n"})
    environ = {"HOME": str(tmp_path), "XDG_STATE_HOME": str(tmp_path / "state")}
    return open_home(repo, environ, {})


async def write_runs(home: Home, *names: str) -> None:
    journal = SqliteJournal(home.journal_path)
    for name in names:
        await begin(journal, await take(journal, name))
    await journal.close()


def damage(home: Home, *statements: str) -> None:
    with sqlite3.connect(home.journal_path) as db:
        for statement in statements:
            db.execute(statement)
    db.close()


@story
async def test_an_unreadable_run_is_shown_with_its_name_and_the_others_are_listed(
    home: Home,
) -> None:
    await write_runs(home, "r1", "r2", "r3", "r4")
    damage(
        home,
        "UPDATE runs SET seq = 99 WHERE run = 'r2'",
        "DELETE FROM events WHERE run = 'r3'",
        "UPDATE runs SET state = X'00', codec = 1 WHERE run = 'r3'",
        "UPDATE events SET body = X'FF' WHERE run = 'r4'",
        "UPDATE runs SET state = X'FF' WHERE run = 'r4'",
    )
    found = {each.run: each for each in await overviews(home)}
    assert found.keys() == {"r1", "r2", "r3", "r4"}
    assert found["r1"].status != UNREADABLE
    unreadable = {name for name, each in found.items() if each.status == UNREADABLE}
    assert unreadable == {"r2", "r3", "r4"}
    for name in unreadable:
        assert name in found[name].problem


@story
async def test_the_list_says_which_runs_were_merged(home: Home) -> None:
    await write_runs(home, "one", "two")
    note_decision(home, NotedDecision("one", 1.0, "ann", MERGED))
    assert {each.run: each.is_merged for each in await overviews(home)} == {
        "one": True,
        "two": False,
    }


@story
async def test_a_journal_that_cannot_be_written_can_be_listed(home: Home) -> None:
    await write_runs(home, "r1", "r2")
    shown = {each.run for each in await overviews(home)}
    files = sorted(home.state.rglob("*"))
    command = (
        'mount --bind "$0" "$0" && mount -o remount,ro,bind "$0" && exec "$@"'
        if os.geteuid() == 0
        else 'chmod -R a-w "$0"; "$@"; code=$?; chmod -R u+w "$0"; exit $code'
    )
    lister = [
        str(Path(sys.executable).with_name("flyball")),
        "runs",
        "list",
        "--json",
        "--repo",
        str(home.repo),
    ]
    shell = ["sh", "-c", command, str(home.state.parents[1]), *lister]
    if os.geteuid() == 0:
        shell = ["unshare", "--mount", *shell]
    env = {**os.environ, **home.environ}
    done = subprocess.run(shell, env=env, capture_output=True, text=True, timeout=600)
    assert done.returncode == 0, done.stderr
    assert all(f'"run": "{run}"' in done.stdout for run in shown)
    assert sorted(home.state.rglob("*")) == files
