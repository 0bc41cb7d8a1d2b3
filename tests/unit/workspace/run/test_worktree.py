"""A run's own worktree begins with the user's checkout as it is, one process at a time."""

from __future__ import annotations

import fcntl
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from threading import Event, Thread

import pytest
from tests.repos import git, repository

from flyball.errors import Conflict, NothingToMerge
from flyball.workspace.cards.use_cases import ProjectPlaces, merge
from flyball.workspace.run.comparing import compare_trees
from flyball.workspace.run.lock import WorkspaceLock
from flyball.workspace.run.opening import open_workspace


def test_an_edit_of_the_same_size_in_the_second_of_the_commit_comes_along(tmp_path: Path):
    """Git keeps whole seconds: it knows such an edit only by when the index was written."""
    repo = repository(tmp_path / "shop", {"price.txt": "one\n"})
    file = repo / "price.txt"
    for n in range(20):
        file.write_text(f"{n:03}\n")
        git(repo, "commit", "-qam", f"price {n}")
        begun = file.stat()
        file.write_text("two\n")
        if int(file.stat().st_ctime) == int(begun.st_ctime):
            break
    time.sleep(1.1 - time.time() % 1)  # The copy of the index is made in a later second.
    with open_workspace(repo, "r1", tmp_path / "state", in_place=False) as workspace:
        assert (workspace.root / "price.txt").read_text() == "two\n"


def test_one_worktree_is_noted_after_the_other(tmp_path: Path):
    repo = repository(tmp_path / "shop", {"a.txt": "one\n"})
    begun = Event()

    def begin() -> None:
        with open_workspace(repo, "r1", tmp_path / "state", in_place=False):
            begun.set()

    held = os.open(repo / ".git", os.O_RDONLY)
    fcntl.flock(held, fcntl.LOCK_EX)
    another = Thread(target=begin)
    another.start()
    assert not begun.wait(1.0), "it did not wait for its turn"
    os.close(held)
    another.join()
    assert begun.is_set()


def test_carried_work_is_recorded(tmp_path: Path):
    repo = repository(tmp_path / "shop", {"a.txt": "one\n"})
    with open_workspace(repo, "clean", tmp_path / "state", in_place=False) as workspace:
        assert not workspace.has_carried
    (repo / "new.txt").write_text("two\n")
    with open_workspace(repo, "dirty", tmp_path / "state", in_place=False) as workspace:
        assert workspace.has_carried
    with open_workspace(repo, "in-place", tmp_path / "state", in_place=True) as workspace:
        assert not workspace.has_carried


def test_work_in_place_adds_no_branch(tmp_path: Path):
    repo = repository(tmp_path / "shop", {"a.txt": "one\n"})
    with open_workspace(repo, "r1", tmp_path / "state", in_place=True) as workspace:
        assert workspace.branch is not None
        tip = workspace.branch.tip()
    assert git(repo, "branch", "--list", "flyball/*") == ""
    assert git(repo, "rev-parse", "flyball/r1").strip() == tip


def test_branch_of_an_earlier_version_is_found(tmp_path: Path):
    repo = repository(tmp_path / "shop", {"a.txt": "one\n"})
    open_workspace(repo, "r1", tmp_path / "state", in_place=True).close()
    git(repo, "update-ref", "refs/heads/flyball/r1", "refs/flyball/r1")
    git(repo, "update-ref", "-d", "refs/flyball/r1")
    with open_workspace(repo, "r1", tmp_path / "state", in_place=True) as workspace:
        assert workspace.branch is not None
        assert workspace.branch.tip() == git(repo, "rev-parse", "refs/heads/flyball/r1").strip()


def test_a_run_without_work_has_nothing_to_merge(tmp_path: Path):
    repo = repository(tmp_path / "shop", {"a.txt": "one\n"})
    open_workspace(repo, "r1", tmp_path / "state", in_place=False).close()
    with pytest.raises(NothingToMerge):
        merge(ProjectPlaces(repo, tmp_path / "state", tmp_path), "r1")


def test_without_a_commit_there_is_nothing_to_compare(tmp_path: Path):
    repo = tmp_path / "shop"
    repo.mkdir()
    git(repo, "init", "-q")
    with (
        pytest.raises(Conflict, match="no commit yet"),
        compare_trees(repo, tmp_path / "verify", base="main", head="", home=tmp_path),
    ):
        pass


def test_a_message_holds_nothing_that_a_terminal_obeys_or_hides(tmp_path: Path):
    repo = repository(tmp_path / "shop", {"price.txt": "one\n"})
    with open_workspace(repo, "r1", tmp_path / "state", in_place=False) as workspace:
        (workspace.root / "price.txt").write_text("two\n")
        title = "Fix\x9b31m \x1b]0;evil\x07the\u202e price"
        commit = workspace.commit_card("r1", "c1", title, ["e\x851"])
    message = git(repo, "log", "-1", "--format=%B", commit)
    assert all(each.isprintable() or each == "\n" for each in message)
    assert message.startswith("Fix 31m ]0;evil the price\n")
    assert "Flyball-Evidence: e 1" in message


HOLDER = """
import sys
from pathlib import Path
from flyball.workspace.run.lock import WorkspaceLock
from flyball.workspace.trees.git import Git

place = Path(sys.argv[1])
lock = WorkspaceLock(place / "lock", "the place")
Git(place, program=str(place / "slow-git"), door=lock).call("status")
"""
SLOW = f"""#!{sys.executable}
import os
from pathlib import Path

# In a session of its own, where it is not ended together with the process that began it.
if os.fork():
    os._exit(0)
os.setsid()
Path("begun").write_text("begun")
Path("go").read_text()
Path("ended").touch()
"""


def test_a_git_that_outlives_its_process_keeps_others_out(tmp_path: Path):
    program = tmp_path / "slow-git"
    program.write_text(SLOW)
    program.chmod(0o755)
    os.mkfifo(tmp_path / "go")
    os.mkfifo(tmp_path / "begun")
    holder = subprocess.Popen([sys.executable, "-c", HOLDER, str(tmp_path)])
    assert (tmp_path / "begun").read_text() == "begun"
    holder.send_signal(signal.SIGKILL)
    holder.wait()

    later = f"import time; time.sleep(0.5); open({str(tmp_path / 'go')!r}, 'w').write('on')"
    with subprocess.Popen([sys.executable, "-c", later]):
        lock = WorkspaceLock(tmp_path / "lock", "the place")
        assert (tmp_path / "ended").exists()
    lock.release()
