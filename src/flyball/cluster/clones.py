"""Project clones on a worker's machine: one repository each, holding objects and no files."""

from __future__ import annotations

import hashlib
import os
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from flyball.app.project import Home
from flyball.app.runs.run_bundle import local_ref
from flyball.app.settling import Sources, settle, state_dir, user_file
from flyball.errors import UsageError
from flyball.workspace.errors import WorkspaceHeld, explain_disk_errors
from flyball.workspace.files.plain import read_plain
from flyball.workspace.run.lock import WorkspaceLock
from flyball.workspace.run.opening import forget_run
from flyball.workspace.trees.git import find_git, find_repository, user_git

LONGEST = 1 << 20
MOST_ROOMS = 100
TIDY = ("-c", "gc.auto=5000", "-c", "gc.autoDetach=false", "-c", "gc.pruneExpire=1.hour.ago")
"""Git's maintenance settings for a worker's repository: rare, in the foreground, and without
deleting objects that a run may just have fetched.
"""


class WorkerDirectory:
    """The directory of one worker. A later worker may reuse it, but two never use it at once."""

    def __init__(self, environ: Mapping[str, str]) -> None:
        self._environ = environ
        base = state_dir(environ) / "workers"
        for number in range(MOST_ROOMS):
            try:
                self._lock = WorkspaceLock(base / f"{number}.lock", f"the room {number}")
            except WorkspaceHeld:
                continue
            self.directory = base / str(number)
            return
        raise UsageError(
            f"{MOST_ROOMS} workers run here already.", "Give one of them a higher --concurrency."
        )

    def home_of(self, project: str, database: str, settled: Mapping[str, Any]) -> Home:
        """Return a project as its runs see it: their settings on top of this machine's."""
        clone = self.clone_of(project)
        file = user_file(self._environ)
        effective = settle(
            Sources(
                user=(read_plain(file, LONGEST) or b"").decode("utf-8", "replace"),
                user_path=os.fspath(file),
                environ=self._environ,
                flags={**settled, "database": database},
                top=os.fspath(clone),
            )
        )
        return Home(clone, clone.parent / "state", effective, self._environ)

    def clone_of(self, project: str) -> Path:
        """Return the repository of a project, initially empty; runs bring the objects they need."""
        digest = hashlib.sha256(project.encode()).hexdigest()[:10]
        name = re.sub(r"[^A-Za-z0-9._-]", "-", project.rstrip("/").rpartition("/")[2]) or "project"
        clone = self.directory / digest / name.removesuffix(".git").lstrip(".-")
        git = clone / ".git"
        if (git / "HEAD").exists():
            return clone
        with explain_disk_errors(os.fspath(clone)):
            for part in ("objects/info", "objects/pack", "refs/heads", "info"):
                (git / part).mkdir(parents=True, exist_ok=True)
            (git / "config").write_text(
                "[core]\n\trepositoryformatversion = 0\n\tbare = false\n[gc]\n\tauto = 0\n"
            )
            # Written last and checked first, as with all our repositories.
            (git / "HEAD").write_text("ref: refs/heads/none\n")
        return clone

    def delete_run_files(self) -> None:
        """Delete the previous worker's run files; each run brings its own again."""
        for state in self.directory.glob("*/state"):
            clones = [each.parent for each in state.parent.glob("*/.git")]
            for clone in clones:
                for run in state.glob("runs/*"):
                    clear_run(clone, state, run.name)
                if repository := find_repository(clone):
                    git = user_git(repository, find_git())
                    git.call(*TIDY, "gc", "--auto", "--quiet")

    def leave(self) -> None:
        """Release the directory for the next worker."""
        self._lock.release()


def clear_run(clone: Path, state: Path, run: str) -> None:
    """Delete all data of a run from one of our clones."""
    forget_run(run, state)
    if repository := find_repository(clone):
        git = user_git(repository, find_git())
        for ref in (f"refs/heads/flyball/{run}", local_ref(run)):
            git.delete_ref(ref)
