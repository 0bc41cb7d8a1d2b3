"""Examine a project for common problems without changing anything."""

from __future__ import annotations

import sqlite3
from collections.abc import Awaitable, Callable

from flyball.app.examining.drivers import examine_driver, examine_hooks, examine_trust
from flyball.app.examining.keeping import examine_journal, examine_state
from flyball.app.examining.repository import examine_repository
from flyball.app.examining.suites import examine_tests
from flyball.app.examining.symptom import Symptom, trouble
from flyball.app.project import Home
from flyball.errors import FlyballError, UsageError

EXAMINERS: dict[str, Callable[[Home], Awaitable[list[Symptom]]]] = {
    "repository": examine_repository,
    "tests": examine_tests,
    "state": examine_state,
    "journal": examine_journal,
    "model": examine_driver,
    "trust": examine_trust,
    "hooks": examine_hooks,
}


async def examine_project(home: Home, refused: UsageError | None = None) -> list[Symptom]:
    """Return all findings, blocking ones last; `refused` is the error in the settings, if any.

    A check that fails is a finding itself, so that one problem does not hide the others.
    """
    found: list[Symptom] = []
    if refused is not None:
        found.append(trouble("settings", refused.message, refused.hint))
    for name, examine in EXAMINERS.items():
        try:
            found += await examine(home)
        except FlyballError as error:
            found.append(trouble(name, error.message, error.hint))
        except (OSError, ValueError, sqlite3.Error) as error:
            seen = f"cannot be looked at: {type(error).__name__}: {error}"
            found.append(trouble(name, seen, "Fix that, then run it again."))
    return sorted(found, key=lambda each: (not each.holds, each.blocks))
