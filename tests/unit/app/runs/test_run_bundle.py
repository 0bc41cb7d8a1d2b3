"""What travels with a run: packed on one machine, unpacked on another, and fenced on the way."""

from __future__ import annotations

import fcntl
import os
import shutil
import time
from pathlib import Path
from threading import Thread

import pytest
from tests.repos import git, repository

from flyball.app.runs.run_bundle import Carrier, UnpackTarget, send_first
from flyball.cluster.clones import WorkerDirectory
from flyball.errors import LeaseHeld, NotFound
from flyball.workspace.run.opening import open_workspace
from flyball.workspace.run.workspace import Workspace

RUN = "0101-000000-bbbb"
FILES: dict[str, str | bytes] = {".gitignore": "*.log\n", "a.txt": "one\n", "bin/run": "#!x\n"}


class Team:
    """A project, its remote, and machines that take turns."""

    def __init__(self, place: Path) -> None:
        self.place = place
        self.remote = place / "remote.git"
        git(place, "init", "-q", "--bare", str(self.remote))
        self.repo = repository(place / "shop", FILES)
        (self.repo / "a.txt").write_text("two, not committed\n")
        (self.repo / "new.txt").write_text("not committed\n")
        (place / "home").mkdir()
        self.env = {"HOME": str(place / "home"), "PATH": os.environ["PATH"]}

    def begin(self) -> None:
        with open_workspace(
            self.repo, RUN, self.place / "state", in_place=False, home=self.place / "home"
        ) as workspace:
            send_first(workspace, str(self.remote), self.env)

    def lodging(self, machine: str) -> UnpackTarget:
        room = WorkerDirectory({**self.env, "FLYBALL_STATE_DIR": str(self.place / machine)})
        room.leave()
        clone = room.clone_of(str(self.remote))
        return UnpackTarget(clone, clone.parent / "state", self.env)

    def carrier(self, machine: str, fence: int) -> Carrier:
        return Carrier(self.lodging(machine), str(self.remote), RUN, fence)

    def open(self, machine: str) -> Workspace:
        lodging = self.lodging(machine)
        return open_workspace(
            lodging.clone, RUN, lodging.state, in_place=False, home=self.place / "home"
        )

    def refs(self) -> list[str]:
        listed = git(self.remote, "for-each-ref", "--format=%(refname)")
        return [ref.rpartition("/")[2] for ref in listed.split()]


@pytest.fixture
def team(tmp_path: Path) -> Team:
    made = Team(tmp_path)
    made.begin()
    return made


def test_another_machine_goes_on_where_the_first_was(team: Team) -> None:
    one = team.carrier("one", 2)
    one.arrive()
    with team.open("one") as here:
        assert (here.root / "a.txt").read_text() == "two, not committed\n"
        assert (here.root / "new.txt").read_text() == "not committed\n"
        before = here.snapshot("before")
        (here.root / "a.txt").write_text("three\n")
        commit = here.commit_card(RUN, "step-1", "Count on")
        (here.root / "a.txt").write_text("four\n")
        present = here.tree_hash()
        one.send(here)
    two = team.carrier("two", 3)
    two.arrive()
    with team.open("two") as there:
        assert there.tree_hash() == present
        assert [record.commit for record in there.cards()] == [commit]
        assert there.verify() == ()
        assert git(there.root, "status", "--porcelain") == " M a.txt\n"
        there.restore(before)
        assert (there.root / "a.txt").read_text() == "two, not committed\n"
    assert team.refs() == ["3", "branch"]
    assert git(team.remote, "rev-parse", f"refs/flyball/{RUN}/branch").strip() == commit


def test_who_was_overtaken_cannot_write(team: Team) -> None:
    one, two = team.carrier("one", 2), team.carrier("two", 3)
    one.arrive()
    two.arrive()
    with team.open("one") as here:
        (here.root / "a.txt").write_text("too late\n")
        with pytest.raises(LeaseHeld):
            one.send(here)
    assert team.refs() == ["3"]


def test_a_holder_that_slept_through_its_own_arrival_changes_nothing(team: Team) -> None:
    team.carrier("two", 3).arrive()
    with pytest.raises(NotFound, match="luggage"):
        team.carrier("one", 2).arrive()
    assert team.refs() == ["3"]


def test_the_same_machine_forgets_what_it_did_not_send(team: Team) -> None:
    team.carrier("one", 2).arrive()
    with team.open("one") as here:
        (here.root / "a.txt").write_text("never sent\n")
    team.carrier("one", 3).arrive()
    with team.open("one") as here:
        assert (here.root / "a.txt").read_text() == "two, not committed\n"


def test_what_a_killed_worker_had_half_unpacked_is_cleared_away(team: Team) -> None:
    team.carrier("one", 2).arrive()
    with team.open("one") as here:
        shutil.rmtree(here.root)
        (here.directory / "workspace.json").unlink()
    team.carrier("one", 3).arrive()
    with team.open("one") as here:
        assert (here.root / "a.txt").read_text() == "two, not committed\n"


def test_the_next_worker_of_a_room_clears_away_what_the_last_one_had(team: Team) -> None:
    team.carrier("one", 2).arrive()
    lodging = team.lodging("one")
    room = WorkerDirectory({**team.env, "FLYBALL_STATE_DIR": str(team.place / "one")})
    room.delete_run_files()
    room.leave()
    assert list(lodging.state.glob("runs/*")) == []
    assert git(lodging.clone, "for-each-ref") == ""
    assert git(lodging.clone, "worktree", "list").count("\n") == 1
    team.carrier("one", 3).arrive()
    with team.open("one") as here:
        assert (here.root / "a.txt").read_text() == "two, not committed\n"


def test_a_worktree_that_is_just_being_added_is_waited_for(team: Team) -> None:
    lodging = team.lodging("one")
    # As git leaves it between two of its writes: with a head that is no commit.
    half = lodging.clone / ".git/worktrees/half"
    half.mkdir(parents=True)
    (half / "HEAD").write_text("0" * 40 + "\n")
    (half / "commondir").write_text("../..\n")
    (half / "gitdir").write_text(f"{team.place}/half/.git\n")
    adding = os.open(lodging.clone / ".git", os.O_RDONLY)
    fcntl.flock(adding, fcntl.LOCK_EX)

    def finish() -> None:
        time.sleep(1.0)
        shutil.rmtree(half)
        os.close(adding)

    other = Thread(target=finish)
    other.start()
    team.carrier("one", 2).arrive()
    other.join()
    with team.open("one") as here:
        assert (here.root / "a.txt").read_text() == "two, not committed\n"


def test_two_workers_of_one_machine_have_rooms_of_their_own(tmp_path: Path) -> None:
    environ = {"FLYBALL_STATE_DIR": str(tmp_path)}
    one, two = WorkerDirectory(environ), WorkerDirectory(environ)
    assert one.directory != two.directory
    one.leave()
    three = WorkerDirectory(environ)
    assert three.directory == one.directory
    two.leave()
    three.leave()
