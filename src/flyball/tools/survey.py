"""What a project can be verified with."""

from __future__ import annotations

from pathlib import Path

from flyball.tools.runner.layout import look
from flyball.tools.runner.parts import survey_parts


def survey(root: Path) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The test runners and the checks of all parts of a tree, those of the top first."""
    parts = survey_parts(look(root))
    runners = (suite.runner for part in parts for suite in part.suites)
    checks = (check for part in parts for check in part.checks)
    return tuple(dict.fromkeys(runners)), tuple(dict.fromkeys(checks))
