"""What a project can be verified with."""

from __future__ import annotations

from pathlib import Path

from flyball.tools.checker import checks_of
from flyball.tools.runner.table import runners_of


def survey(root: Path) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The test runners and the checks of a tree, the best first."""
    return runners_of(root), tuple(check.name for check in checks_of(root))
