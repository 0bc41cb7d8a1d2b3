"""Build what the base tree needs once, in a cache that later runs can read but not change.

Compilers cache what they build by content, so dependencies and the standard library are built once
for all trees. Only a build of the base tree is kept, in which nothing of the change has run;
whatever a test run builds goes to an overlay that is discarded.
"""

from __future__ import annotations

import hashlib
import json
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


async def build_ahead(context: CallContext, tree: str, suite: PartSuite) -> None:
    """Build that tree's suite unless it was built here before; a build that fails is no matter."""
    runner = BY_NAME.get(suite.runner)
    if runner is None or runner.build is None or suite.command:
        return
    context.built.mkdir(mode=0o700, parents=True, exist_ok=True)
    there = context.on_tree(context.root, tree)._replace(is_shown=False, is_logged=False)
    mark = _mark(there, suite)
    if mark.exists() or not shares_builds(there):
        return
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


def _mark(context: CallContext, suite: PartSuite) -> Path:
    """Return the file that marks a tree's suite as built; without it, it is only built again."""
    named = json.dumps([context.tree, suite.runner, suite.at, context.env.get("PATH", "")])
    return context.built / f"{hashlib.sha256(named.encode()).hexdigest()[:32]}.mark"
