"""Run what a checkpoint names as verification besides tests: type checks, builds, linters."""

from __future__ import annotations

from collections.abc import Sequence

from flyball.errors import FlyballError
from flyball.shellcheck import CommandKind, cannot_fail, judge
from flyball.tools.call.protocol import CallContext
from flyball.verdict.named import CheckEnd
from flyball.verdict.runners.launch import exit_code, launch, set_up
from flyball.workspace.files.paths import Root
from flyball.workspace.run.clean import clean_checkout

LAST = 200
MOST = 6


async def run_named(context: CallContext, tree: str, commands: Sequence[str]) -> list[CheckEnd]:
    """Return how each command that verifies and can fail ends on a clean checkout of a tree."""
    wanted = [command for command in commands if _verifies(command)][:MOST]
    if not wanted:
        return []
    with clean_checkout(context.workspace, tree) as place:
        there = context.on_tree(Root(place, protected=()), tree)._replace(is_shown=False)
        return [await _run(there, command) for command in wanted]


def _verifies(command: str) -> bool:
    """Return whether a text is a command that checks something, and could fail."""
    found = judge(command, phase="verify")
    return found.kind is CommandKind.VERIFICATION and not cannot_fail(command)


async def _run(context: CallContext, command: str) -> CheckEnd:
    try:
        with set_up(context) as started:
            finished = await launch(command, started)
    except FlyballError as error:
        return CheckEnd(command, 1, str(error))
    code = exit_code(finished)
    last = finished.output.strip().split("\n")[-1][:LAST]
    return CheckEnd(command, code, last if code else "")
