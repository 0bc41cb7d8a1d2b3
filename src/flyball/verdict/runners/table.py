"""All known test runners, in order of preference."""

from __future__ import annotations

from flyball.verdict.runners.layout import FileIndex
from flyball.verdict.runners.row import Runner
from flyball.verdict.runners.rows import compiled, node, python, scripted

RUNNERS: tuple[Runner, ...] = (*python.ROWS, *node.ROWS, *compiled.ROWS, *scripted.ROWS)

BY_NAME: dict[str, Runner] = {runner.name: runner for runner in RUNNERS}

WRAPPERS = frozenset({"npm", "pnpm", "yarn"})
TARGETS = frozenset({"make", "just"})


def runners_of(land: FileIndex) -> tuple[str, ...]:
    """Return the runners this tree can be tested with, best first.

    Scripts and targets come last, and a script is left out if the runner behind it is known: it
    would run the same tests with less detail.
    """
    found = [runner.name for runner in RUNNERS if runner.is_here(land)]
    if not node.BEHIND_SCRIPTS.isdisjoint(found):
        found = [name for name in found if name not in WRAPPERS]
    if "deno" in found and "node" in found:
        found.remove("node")
    return tuple(found)
