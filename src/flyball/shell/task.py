"""Names that projects give to their tasks, and the effects that they suggest."""

from __future__ import annotations

import itertools
import re
from collections.abc import Sequence

from flyball.shell.judgement import CommandKind
from flyball.shell.words.names import names
from flyball.shell.words.pattern import Pattern

_KINDS = {
    "tests": names(
        "test tests spec specs unit integration e2e coverage cov jest vitest pytest check verify "
        "ci unittest unittests smoke functional acceptance nextest regression"
    ),
    "types": names("types typecheck type-check typings tsc mypy pyright check-types"),
    "lint": names(
        "lint eslint stylelint ruff flake8 pylint clippy vet style format-check fmt-check "
        "check-format validate prettier-check audit"
    ),
    "build": names("build compile all bundle assemble package dist docs doc html"),
}
"""What a task proves when its name, or its first or last part, is one of these."""

_CHANGES = Pattern(r"fix|write|update|watch|clean|install|generate|seed|migrate|reset|format$|dev$")
_DEPLOYS = Pattern(r"deploy|publish|release|push|upload|destroy|prod-|purge|wipe|drop")


_DROPS = Pattern(
    r"(.*[:._-])?(drop|purge|wipe|flush|sqlflush|truncate|destroy|obliterate)([:._-].*)?|"
    r"(.*[:._-])?db[:._-]?(reset|clean|rollback|nuke)|reset[:._-]?(db|database)|"
    r"migrate:(fresh|reset|refresh|rollback)|ecto\.reset|(.*:)?schema:load|--?force-reset|downgrade|"
    r"(.*:)?undo(:.*)?|delete[-:_]\w+|flyway:clean|liquibase:(drop-?all|rollback.*)"
)
"""Words with which programs of projects throw data away that no tree of files holds."""


def drops_data(words: Sequence[str]) -> str | None:
    """Return the first word, or pair of words, that makes a program delete data."""
    pairs = [f"{first}:{second}" for first, second in itertools.pairwise(words)]
    return next((said for said in (*words[1:], *pairs) if _DROPS.fullmatch(said.lower())), None)


def task_kind(name: str) -> tuple[CommandKind, str]:
    """Return the assumed class of a task of this name, and what it proves."""
    plain = name.lower()
    if _DEPLOYS.search(plain) or _DROPS.fullmatch(plain):
        return CommandKind.DESTRUCTIVE, ""
    if _CHANGES.search(plain):
        return CommandKind.MUTATING, ""
    pieces = re.split(r"[:_./-]", plain)
    for candidate in (plain, pieces[0], pieces[-1]):
        for proves, known in _KINDS.items():
            if candidate in known:
                return CommandKind.VERIFICATION, proves
    return CommandKind.MUTATING, ""
