"""A run's own worktree begins with the user's checkout as it is."""

from __future__ import annotations

import fcntl
import os
import time
from pathlib import Path
from threading import Event, Thread

from tests.repos import git, repository

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
