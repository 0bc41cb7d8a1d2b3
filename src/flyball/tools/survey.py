"""What a project can be verified with."""

from __future__ import annotations

from pathlib import Path

from flyball.tools.runner.checker import checks_of
from flyball.tools.runner.choice import runners_below
from flyball.tools.runner.layout import look


def survey(root: Path) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The test runners and the checks of a tree, the best first."""
    land = look(root)
    return runners_below(land), tuple(check.name for check in checks_of(land))
