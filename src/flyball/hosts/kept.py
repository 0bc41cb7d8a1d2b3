"""Keep workspaces open between hook events, and prepare one before its run begins.

Creating a workspace makes a dozen git calls while a person waits. So the resident governor creates
the next run's workspace while it is idle, and a prompt uses it if the checkout has not changed
since.
"""

from __future__ import annotations

import threading
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

from flyball.app.project import Home
from flyball.app.runs.journals import new_run_id
from flyball.app.settling import Effective
from flyball.errors import FlyballError
from flyball.hosts.driven import context_of
from flyball.run.policy import Project
from flyball.workspace.process.process_identity import is_running, this_process
from flyball.workspace.run.opening import (
    find_workspace,
    forget_run,
    lock_checkout,
    open_workspace,
    peek_workspace,
)
from flyball.workspace.run.workspace import Workspace
from flyball.workspace.trees.git import decisive_files

MOST_OPEN = 8
READY = "ready-"
PATIENCE = 1.0
"""Seconds that a prompt waits for a workspace in preparation."""
Marks = tuple[object, ...]


class ReadyRun(NamedTuple):
    """A workspace whose run has not begun, and the project facts found in it."""

    run: str
    workspace: Workspace
    project: Project
    effective: Effective
    marks: Marks

    def is_current(self, home: Home) -> bool:
        """Return whether a workspace created now would be the same."""
        # A governor also answers hooks for projects other than its own.
        if self.workspace.project != home.repo or self.effective != home.effective:
            return False
        files, trees = _decisive_files(self.workspace, home), self.workspace.trees
        is_same = self.marks == _marks_of(files)
        return is_same and trees.is_untouched


class KeptWorkspaces:
    """The workspaces that a process has open for the runs of one project's hosts."""

    def __init__(self) -> None:
        self._open: dict[str, tuple[Workspace, Marks]] = {}
        self._ready: ReadyRun | None = None
        self._taking = threading.Lock()
        self.runs: dict[tuple[str, str], str] = {}
        """The last run of each host's session: a session's state may be deleted meanwhile."""
        self.is_wanted = threading.Event()
        """Set when a run has begun: the next one will need a workspace."""

    def open(self, run: str, state_dir: Path) -> Workspace:
        """Return a run's workspace for reading; cached if no other process used it since."""
        workspace, seen = self._open.pop(run, (None, ()))
        if workspace is None or seen != _marks_of(_own_files(workspace)):
            return peek_workspace(run, state_dir)
        return workspace

    def keep(self, run: str, workspace: Workspace) -> None:
        """Cache the workspace for the next hook event."""
        self._open[run] = workspace.for_reading(), _marks_of(_own_files(workspace))
        if len(self._open) > MOST_OPEN:
            del self._open[next(iter(self._open))]

    def prepare(self, home: Home) -> None:
        """Create the workspace of a run that may begin soon; keep a prepared one if it is current.

        A failure is not reported here: the caller that needs the workspace sees it.
        """
        with self._taking:
            if self._ready is None or not self._ready.is_current(home):
                self._discard(home)
                with suppress(FlyballError, OSError):
                    self._ready = _make_ready(home)

    def take(self, home: Home) -> ReadyRun | None:
        """Return the prepared workspace, locked as its run's own; None if there is none or it is
        stale.

        Waiting for a workspace in preparation is faster than creating another.
        """
        if not self._taking.acquire(timeout=PATIENCE):
            return None
        try:
            ready = self._ready
            if ready is None or not ready.is_current(home):
                return None
            held = ready.workspace.held_by(lock_checkout(home.state, home.repo))
            self._ready = None
            _note(home).unlink(missing_ok=True)
            return ready._replace(workspace=held)
        finally:
            self._taking.release()

    def discard(self, home: Home) -> None:
        """Delete the workspaces of runs that never began, including those of killed processes."""
        with self._taking:
            self._discard(home)

    def _discard(self, home: Home) -> None:
        self._ready = None
        for note in (home.state / "hosts").glob(f"{READY}*"):
            holder = note.name.removeprefix(READY)
            if holder != this_process() and is_running(holder):
                continue
            with suppress(FlyballError, OSError):
                run = note.read_text()
                if find_workspace(run, home.state) is None:
                    forget_run(run, home.state)
                else:
                    peek_workspace(run, home.state).remove()
            note.unlink(missing_ok=True)


def _make_ready(home: Home) -> ReadyRun:
    run = new_run_id()
    _note(home).parent.mkdir(parents=True, exist_ok=True)
    _note(home).write_text(run)
    context = context_of(home, in_place=True)
    workspace = open_workspace(home.repo, run, home.state, in_place=True, is_held=False)
    marks = _marks_of(_decisive_files(workspace, home))
    context.adopt(workspace)
    project = context.survey()
    # Evaluated by the first call that names a file.
    _ = workspace.untracked.paths
    workspace.trees.remember(workspace.base)
    # The run can use it only if nothing has changed.
    is_same = workspace.tree_hash() == workspace.base
    return ReadyRun(run, workspace, project, home.effective, marks if is_same else ())


def _note(home: Home) -> Path:
    """Return the file with the name of the run whose workspace was prepared."""
    return home.state / "hosts" / f"{READY}{this_process()}"


def _decisive_files(workspace: Workspace, home: Home) -> tuple[Path, ...]:
    """Return the files outside the checkout that a workspace depends on, and its own record."""
    own = workspace.directory / "workspace.json"
    user = Path(home.environ.get("HOME") or Path.home())
    branch = workspace.branch
    return (own, *decisive_files(branch.repository, user)) if branch else (own,)


def _own_files(workspace: Workspace) -> tuple[Path, ...]:
    """Return the files that change when another process uses a workspace."""
    return workspace.directory / "index", workspace.snapshots.file


def _marks_of(files: tuple[Path, ...]) -> Marks:
    return tuple(map(_mark_of, files))


def _mark_of(file: Path) -> object:
    try:
        status = file.stat()
    except OSError:
        return None
    return status.st_mtime_ns, status.st_ctime_ns, status.st_size
