"""The project's own checks on clean checkouts: builds, type checks, whether everything parses."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from flyball.core.suite.part import Part
from flyball.core.terms.evidence import CheckReport, Strength
from flyball.core.terms.evidence_rows import is_style, strength
from flyball.errors import FlyballError
from flyball.tools.call.protocol import CallContext
from flyball.tools.check import CHECK, CheckForm
from flyball.verdict.named import CheckEnd
from flyball.verdict.reports import Named, NamedEnd
from flyball.workspace.files.paths import Root
from flyball.workspace.run.clean import clean_checkout


class OwnChecks(NamedTuple):
    """The results of some parts' checks for a change."""

    broken: tuple[Named, ...] = ()
    """Those that fail now and did not before."""
    is_checked: bool = False
    """Whether one that builds or checks types passes."""


async def run_checks(
    context: CallContext, base: str, head: str, parts: Sequence[Part], seen_red: Sequence[str] = ()
) -> OwnChecks:
    """Return every check of these parts, and those seen red in the run, compared with the base
    tree.
    """
    wanted = [(part.path, name) for part in parts for name in part.checks]
    wanted += [(".", name) for name in seen_red if (".", name) not in wanted]
    if not wanted:
        return OwnChecks()
    now = await _run_on(context, head, wanted)
    red = [each for each in wanted if each in now and now[each].exit_code]
    before = await _run_on(context, base, red) if red else {}
    new = [each for each in red if each not in before or not before[each].exit_code]
    good = [item for item in now.values() if not item.exit_code]
    broken = [Named(name, NamedEnd.RED, _first(now[path, name])) for path, name in new]
    return OwnChecks(tuple(broken), any(strength(item) >= Strength.CHECKED for item in good))


async def _run_on(
    context: CallContext, tree: str, wanted: Sequence[tuple[str, str]]
) -> dict[tuple[str, str], CheckReport]:
    found: dict[tuple[str, str], CheckReport] = {}
    with clean_checkout(context.workspace, tree) as place:
        for path, name in wanted:
            root = Root(place / path, protected=())
            there = context.on_tree(root, tree)._replace(is_shown=False, is_logged=False)
            try:
                result = await CHECK.perform(CheckForm(name=name), there)
            except FlyballError:
                # What is not installed here could not have been run by anybody.
                continue
            for item in result.evidence:
                if isinstance(item, CheckReport) and not is_style(item):
                    found[path, name] = item
    return found


def _first(item: CheckReport) -> str:
    return item.problems[0] if item.problems else f"exit code {item.exit_code}"


def ended_well(checks: Sequence[CheckEnd]) -> bool:
    """Return whether something was named as a check, and all of it passes."""
    return bool(checks) and all(check.exit_code == 0 for check in checks)
