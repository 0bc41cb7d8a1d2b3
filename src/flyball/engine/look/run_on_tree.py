"""Running a suite on another tree than the present one, in a place of its own."""

from __future__ import annotations

import shlex

import msgspec

from flyball.core.suite.part import TOP
from flyball.core.terms.evidence import SuiteReport
from flyball.core.terms.test_paths import is_test_path
from flyball.tools.call.protocol import CallContext
from flyball.verdict.runners.parts import COMMAND
from flyball.verdict.runners.run_suite import SuiteRun, run_suite
from flyball.workspace.files.paths import Root
from flyball.workspace.process.process import CommandLimits
from flyball.workspace.trees.trees import EXECUTABLE, Changed

LEAST_SECONDS = 10.0
SLOWER = 5.0
"""How many times as long as the proving run a run on another tree may take."""


async def run_on(
    context: CallContext,
    tree: str,
    report: SuiteReport,
    *,
    tests_of: str = "",
    changes: tuple[Changed, ...] = (),
) -> SuiteRun:
    """The same suite on another tree; the changed tests of `tests_of` are carried over to it."""
    workspace = context.workspace
    place = workspace.checkout_scratch(tree)
    try:
        _carry_tests(context, Root(place, protected=()), tests_of, changes)
        there = context.on_tree(Root(place, context.root.protected), tree)
        # Its log would take the place of the one that the driver is told to read.
        limits = _limits(context.limits, report)
        there = there._replace(limits=limits, is_shown=False, is_logged=False)
        return await run_suite(report.runner, _words(report), there, f"{report.id}.again")
    finally:
        workspace.discard_scratch(place)


def _words(report: SuiteReport) -> list[str]:
    """What a suite was told; a settled command is told nothing but where it runs."""
    if report.runner == COMMAND:
        return [] if report.part == TOP else [report.part]
    return shlex.split(report.command)[1:]


def _limits(usual: CommandLimits, report: SuiteReport) -> CommandLimits:
    """A fault may be a test without end: another tree gets little more time than the proof took."""
    seconds = max(LEAST_SECONDS, SLOWER * report.elapsed)
    return msgspec.structs.replace(usual, seconds=min(usual.seconds, seconds))


def _carry_tests(context: CallContext, root: Root, tree: str, changes: tuple[Changed, ...]) -> None:
    """Bring the tests of a change, and nothing else of it, to another tree."""
    for change in changes:
        if not is_test_path(change.path):
            continue
        data = context.workspace.file_at(tree, change.path)
        if data is not None and change.after is not None:
            is_program = change.after.mode == EXECUTABLE
            root.write_bytes(change.path, data, mode=0o755 if is_program else 0o644)
        elif root.fact(change.path, write=True).exists:
            root.delete(change.path)
