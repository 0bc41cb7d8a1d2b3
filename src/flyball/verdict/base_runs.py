"""Cache the runs and builds of the tree before a change, for every later change to it."""

from __future__ import annotations

import hashlib
import json
import os
import time
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path

import msgspec

from flyball.errors import FlyballError
from flyball.tools.call.protocol import CallContext
from flyball.verdict.case import CaseOutcome, SuiteCase
from flyball.verdict.part import PartSuite
from flyball.verdict.reports import TreeRun
from flyball.verdict.runners.launch import launch, set_up
from flyball.verdict.runners.layout import look
from flyball.verdict.runners.start_env import shares_builds
from flyball.verdict.runners.table import BY_NAME
from flyball.verdict.tree_run import Taken, messages_of, row_ends_of, rows_of
from flyball.workspace.files.paths import Root
from flyball.workspace.run.clean import clean_checkout
from flyball.workspace.run.workspace import Workspace
from flyball.workspace.run.worktree import remove_whole
from flyball.workspace.trees.git_objects import replace_whole

KEPT = 200
WAY = 8
"""Raised when we run or read the same tree in another way: no old report is found then."""


class _Stored(msgspec.Struct, frozen=True):
    """A cached run."""

    command: str
    exit_code: int
    ends: dict[str, CaseOutcome]
    is_counted: bool
    elapsed: float
    cases: tuple[SuiteCase, ...]
    has_canary: bool
    counts: tuple[int, int, int] | None = None
    trouble: str = ""
    timed_out: bool = False
    rewrote: str = ""
    says: tuple[str, ...] = ()
    read: tuple[str, ...] = ()


class BaseRuns:
    """Caches whole runs by tree, suite and toolchain; runs that failed to work are not cached.

    A run that timed out is cached: it would time out again.
    """

    def __init__(self, workspace: Workspace, env: Mapping[str, str]) -> None:
        # Beside the runs, so that the next run of this project finds what this one learnt.
        self._folder = workspace.state_dir / "base-runs"
        self._installed = _installed(workspace.project, env.get("PATH", ""))

    def find(self, tree: str, suite: PartSuite) -> Taken | None:
        try:
            stored = msgspec.json.decode(self._file(tree, suite).read_bytes(), type=_Stored)
        except (OSError, msgspec.DecodeError):
            return None
        run = TreeRun(
            stored.command,
            stored.exit_code,
            stored.ends,
            is_counted=stored.is_counted,
            elapsed=stored.elapsed,
            counts=stored.counts,
            trouble=stored.trouble,
            rows=rows_of(stored.cases),
            row_ends=row_ends_of(stored.cases),
            messages=messages_of(stored.cases),
            says=stored.says,
        )
        return Taken(
            run,
            stored.cases,
            stored.has_canary,
            stored.timed_out,
            rewrote=stored.rewrote,
            read=stored.read,
        )

    def keep(self, tree: str, suite: PartSuite, taken: Taken) -> None:
        run = taken.run
        if run.trouble and not taken.timed_out:
            return
        stored = _Stored(
            run.command,
            run.exit_code,
            dict(run.ends),
            run.is_counted,
            run.elapsed,
            taken.cases,
            taken.has_canary,
            run.counts,
            run.trouble,
            taken.timed_out,
            taken.rewrote,
            run.says,
            taken.read,
        )
        # A file name that is not UTF-8 cannot be stored: the next verdict runs the suite again.
        with suppress(UnicodeEncodeError):
            self._write(self._file(tree, suite), msgspec.json.encode(stored))

    def repeated(self, tree: str, suite: PartSuite) -> dict[str, tuple[int, int]]:
        """Return how often earlier repetitions had red tests, and how many repetitions there
        were."""
        file = self._file(tree, suite).with_suffix(".again")
        try:
            return msgspec.json.decode(file.read_bytes(), type=dict[str, tuple[int, int]])
        except (OSError, msgspec.DecodeError):
            return {}

    def keep_repeated(
        self, tree: str, suite: PartSuite, found: Mapping[str, tuple[int, int]]
    ) -> None:
        if found:
            every = {**self.repeated(tree, suite), **found}
            file = self._file(tree, suite).with_suffix(".again")
            self._write(file, msgspec.json.encode(every))

    def _write(self, file: Path, data: bytes) -> None:
        self._folder.mkdir(parents=True, exist_ok=True)
        replace_whole(file, data)
        self._prune()

    def _file(self, tree: str, suite: PartSuite) -> Path:
        named = json.dumps([WAY, tree, suite.runner, suite.at, suite.command, self._installed])
        return self._folder / f"{hashlib.sha256(named.encode()).hexdigest()[:32]}.json"

    def _prune(self) -> None:
        files = sorted(self._folder.glob("*.*"), key=lambda file: file.stat().st_mtime)
        for file in files[:-KEPT]:
            file.unlink(missing_ok=True)


def _installed(project: Path, programs: str) -> str:
    """Return an identifier of a toolchain without starting it: the times of installation."""
    signs = ("node_modules", "node_modules/.package-lock.json", ".venv", "venv", "vendor")
    packages = sorted(project.glob(".venv/lib/python*/site-packages"))
    found = [project / sign for sign in signs] + packages
    stamps = [(file.name, file.stat().st_mtime_ns) for file in found if file.exists()]
    return hashlib.sha256(json.dumps([stamps, programs]).encode()).hexdigest()


async def build_ahead(context: CallContext, tree: str, suite: PartSuite) -> None:
    """Build that tree's suite unless it was built here before; ignore a failing build."""
    runner = BY_NAME.get(suite.runner)
    if runner is None or runner.build is None or suite.command:
        return
    context.built.mkdir(mode=0o700, parents=True, exist_ok=True)
    there = context.on_tree(context.root, tree)._replace(is_shown=False, is_logged=False)
    mark = _mark(there, suite)
    if not shares_builds(there):
        return
    if mark.exists():
        mark.touch()
        return
    for each in context.built.parent.parent.glob(f"*/{context.built.name}"):
        prune_builds(each, time.time())
    context.built.mkdir(mode=0o700, exist_ok=True)
    with clean_checkout(context.workspace, tree) as place:
        there = there._replace(root=Root(place, protected=()), builds=True)
        with set_up(there, suite.at) as started:
            argv = runner.build(started, look(place / suite.at), ())
            try:
                await launch(argv, started)
            except FlyballError:
                # The run that needs it says what is wrong.
                return
    mark.touch()


UNUSED_SECONDS = 30 * 24 * 3600.0
"""Builds of a project that nobody used for so long are removed, whoever builds next."""
MOST_BYTES = 4 << 30
QUIET_SECONDS = 3600.0
"""Builds that grew too large are removed once nobody used them for so long, as runs read them."""


def prune_builds(built: Path, now: float, most: int = MOST_BYTES) -> None:
    """Remove a project's builds that are old or too large, and old single marks.

    A cache is deleted as a whole rather than by its oldest files: compilers notice an empty cache,
    but not always a partly deleted one.
    """
    marks = {mark: _changed_at(mark) for mark in built.glob("*.mark")}
    unused = now - max([*marks.values(), _changed_at(built)])
    if unused > UNUSED_SECONDS or (unused > QUIET_SECONDS and _size_of(built) > most):
        remove_whole(built)
        return
    for mark, used in marks.items():
        if now - used > UNUSED_SECONDS:
            mark.unlink(missing_ok=True)


def _changed_at(path: Path) -> float:
    try:
        return path.lstat().st_mtime
    except OSError:
        return 0.0


def _size_of(folder: Path) -> int:
    """Return the total size of all files below, in bytes; files that disappear meanwhile count as
    0."""
    found = 0
    for place, _, names in os.walk(folder):
        for name in names:
            with suppress(OSError):
                found += (Path(place) / name).lstat().st_size
    return found


def _mark(context: CallContext, suite: PartSuite) -> Path:
    """Return the file that marks a tree's suite as built; without it, the suite is only built
    again."""
    named = json.dumps([context.tree, suite.runner, suite.at, context.env.get("PATH", "")])
    return context.built / f"{hashlib.sha256(named.encode()).hexdigest()[:32]}.mark"
