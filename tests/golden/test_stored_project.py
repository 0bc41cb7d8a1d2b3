"""A project as the first release left it, and what the present one makes of it.

`stored/v1/project.tar.xz` holds a home directory in which that release worked for real: a small
repository, a state directory in its old layout, and a journal of four runs. One had succeeded, one
was stopped by a guard, one had spent its budget, and one was killed.
"""

from __future__ import annotations

import json
import socket
import sqlite3
import subprocess
import sys
import tarfile
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from tests.small_python import system_path
from tests.repos import git
from tests.warm import run_command

from flyball.app.project import open_home
from flyball.journal.migrations import MIGRATIONS

STORED = Path(__file__).parent / "stored" / "v1" / "project.tar.xz"
ADA = "/home/ada"
"""Where it was made; the project is now elsewhere."""
COLUMNS = (("runs", "state"), ("events", "body"), ("lines", "body"))


class OldProject:
    """The stored home at another place, and the present `flyball` in it."""

    def __init__(self, place: Path) -> None:
        with tarfile.open(STORED) as tar:
            tar.extractall(place, filter="data")
        self.repo = place / "cart"
        self.env = {
            "PATH": system_path(),
            "HOME": str(place),
            "LOGNAME": "ada",
            "FLYBALL_STATE_DIR": str(place / "state"),
            "FLYBALL_VERDICT_MUTANT_SECONDS": "0",
        }
        home = open_home(self.repo, self.env, {})
        (old,) = (place / "state" / "projects").iterdir()
        moved = {f"{ADA}/state/projects/{old.name}": str(home.state), ADA: str(place)}
        old.rename(home.state)
        self.journal = home.journal_path
        self._move_journal(moved)
        for file in place.rglob("*"):
            if file.is_file() and not file.is_symlink():
                _move_text(file, moved)

    def _move_journal(self, moved: dict[str, str]) -> None:
        with closing(sqlite3.connect(self.journal)) as db:
            for table, column in COLUMNS:
                for old, new in moved.items():
                    text = f"replace(CAST({column} AS TEXT), ?, ?)"
                    db.execute(f"UPDATE {table} SET {column} = CAST({text} AS BLOB)", (old, new))
            # Who was killed was killed on this machine: of others nobody can tell.
            here = f" on {socket.gethostname()} "
            db.execute("UPDATE leases SET holder = replace(holder, ' on ada ', ?)", (here,))
            db.commit()

    def schema(self) -> int:
        with closing(sqlite3.connect(self.journal)) as db:
            return db.execute("PRAGMA user_version").fetchone()[0]

    def flyball(self, *words: str) -> subprocess.CompletedProcess[str]:
        return run_command((*words, "--repo", str(self.repo)), self.repo, self.env)

    def told(self, *words: str) -> list[dict[str, Any]]:
        """What a command that must not fail says in JSON."""
        done = self.flyball(*words, "--json")
        assert done.returncode == 0, done.stdout + done.stderr
        return [json.loads(line) for line in done.stdout.splitlines()]

    def run(self, kind: str) -> str:
        """The run of that kind, by what the journal says of all of them."""
        runs = {each["run"]: each for each in self.told("runs", "list")}
        # They began in this order, and their names begin with the time.
        return dict(zip(("finished", "guarded", "spent", "killed"), sorted(runs), strict=True))[kind]


def _move_text(file: Path, moved: dict[str, str]) -> None:
    try:
        text = file.read_bytes().decode()
    except UnicodeDecodeError:
        return
    after = text
    for old, new in moved.items():
        after = after.replace(old, new)
    if after != text:
        file.write_text(after)


@pytest.fixture
def project(tmp_path: Path) -> OldProject:
    return OldProject(tmp_path)


@pytest.mark.slow
def test_runs_of_the_first_release_are_listed_shown_exported_and_judged(project: OldProject):
    assert project.schema() == 1, "the journal is as the first release wrote it"
    runs = project.told("runs", "list")
    states = sorted((each["run"], each["status"]) for each in runs)
    assert [status for _, status in states] == ["success", "paused", "paused", "interrupted"]
    assert project.schema() == len(MIGRATIONS)
    assert project.flyball("ledger", "list").returncode == 0
    run = project.run("finished")
    shown = project.flyball("runs", "show", run, "--diff", "--threads", "--events").stdout
    assert "+    return sum(prices)" in shown
    assert "tests went from red to green" in shown or "red → green" in shown
    for each, _ in states:
        export = project.flyball("runs", "export", each)
        assert export.returncode == 0, export.stderr
        assert project.flyball("judge", each).returncode == 0
    assert project.flyball("card", "show", run, "step-1").returncode == 0
    merged = project.told("runs", "merge", run)
    assert merged[0]["files"] == ["cart.py"]
    assert "return sum(prices)\n" in (project.repo / "cart.py").read_text()
    assert "the total is wrong" in git(project.repo, "log", "-1", "--format=%s").lower()


@pytest.mark.slow
@pytest.mark.parametrize(
    ("kind", "words"),
    [
        ("killed", ("runs", "resume", "{}")),
        pytest.param("guarded", ("runs", "resume", "{}"), marks=pytest.mark.exhaustive),
        pytest.param("spent", ("extend", "{}", "10", "--why", "more"), marks=pytest.mark.exhaustive),
    ],
    ids=["killed", "guarded", "spent"],
)
def test_a_run_that_the_first_release_left_open_is_brought_to_its_end(
    kind: str, words: tuple[str, ...], project: OldProject
):
    run = project.run(kind)
    done = project.flyball(*(word.format(run) for word in words))
    assert done.returncode == 0, done.stdout + done.stderr
    (now,) = [each for each in project.told("runs", "list") if each["run"] == run]
    assert now["status"] == "success"
    assert "return sum(prices)\n" in git(project.repo, "show", f"flyball/{run}:cart.py")
