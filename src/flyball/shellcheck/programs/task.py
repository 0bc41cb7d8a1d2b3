"""Names that projects give to their tasks, and what those names promise."""

from __future__ import annotations

import re

from flyball.shellcheck.judgement import Kind

_KINDS = (
    ("tests", r"tests?|spec|specs|unit|integration|e2e|coverage|cov|jest|vitest|pytest|check|verify|ci|"
              r"unittests?|smoke|functional|acceptance|nextest|regression"),
    ("types", r"types|typecheck|type-check|typings|tsc|mypy|pyright|check-types"),
    ("lint", r"lint|eslint|stylelint|ruff|flake8|pylint|clippy|vet|style|format-check|fmt-check|"
             r"check-format|validate|prettier-check|audit"),
    ("build", r"build|compile|all|bundle|assemble|package|dist|docs|doc|html|release-build"),
)  # fmt: skip
_CHANGES = re.compile(
    r"fix|write|update|watch|clean|install|generate|seed|migrate|reset|format$|dev$"
)
_DEPLOYS = re.compile(r"deploy|publish|release|push|upload|destroy|prod-|purge|wipe|drop")


def task_kind(name: str) -> tuple[Kind, str]:
    """What a task of this name is taken for, and what it proves."""
    plain = name.lower()
    if _DEPLOYS.search(plain):
        return Kind.DESTRUCTIVE, ""
    if _CHANGES.search(plain):
        return Kind.MUTATING, ""
    for proves, names in _KINDS:
        if re.fullmatch(rf"(?:{names})(?:[:_./-].*)?|.*[:_-](?:{names})", plain):
            return Kind.VERIFICATION, proves
    return Kind.MUTATING, ""
