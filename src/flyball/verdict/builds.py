"""Build what the base tree needs once, in a cache that later runs can read but not change.

Compilers cache what they build by content, so dependencies and the standard library are built once
for all trees. Only a build of the base tree is kept, in which nothing of the change has run;
whatever a test run builds goes to an overlay that is discarded.
"""

from __future__ import annotations

import hashlib
import json
import os
import time
from contextlib import suppress
from pathlib import Path

from flyball.core.suite.part import PartSuite
from flyball.errors import FlyballError
from flyball.tools.call.protocol import CallContext
from flyball.verdict.runners.launch import launch, set_up
from flyball.verdict.runners.layout import look
from flyball.verdict.runners.start_env import shares_builds
from flyball.verdict.runners.table import BY_NAME
from flyball.workspace.files.paths import Root
from flyball.workspace.run.clean import clean_checkout
from flyball.workspace.run.worktree import remove_whole


async def build_ahead(context: CallContext, tree: str, suite: PartSuite) -> None:
    """Build that tree's suite unless it was built here before; a build that fails is no matter."""
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
    """Remove the builds of a project that are old or too large; single marks that are old as well.

    A whole cache goes, and not its oldest files: compilers find out that a cache is empty, and not
    always that a part of it is.
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
    """Return the size of all files below, in bytes; those that go meanwhile have none."""
    found = 0
    for place, _, names in os.walk(folder):
        for name in names:
            with suppress(OSError):
                found += (Path(place) / name).lstat().st_size
    return found


def _mark(context: CallContext, suite: PartSuite) -> Path:
    """Return the file that marks a tree's suite as built; without it, it is only built again."""
    named = json.dumps([context.tree, suite.runner, suite.at, context.env.get("PATH", "")])
    return context.built / f"{hashlib.sha256(named.encode()).hexdigest()[:32]}.mark"
