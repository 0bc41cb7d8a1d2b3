"""The tables as a whole."""

import pytest

from flyball.shellcheck.judgement import CommandKind
from flyball.shellcheck.programs import PROGRAMS, lookup
from flyball.shellcheck.rule import Rule
from flyball.shellcheck.task import task_kind
from flyball.shellcheck.words.place import Scope


def rules(rule: Rule):
    yield rule
    for inner in rule.subcommands.values():
        yield from rules(inner)


def test_every_entry_is_well_formed():
    for name, top in PROGRAMS.items():
        assert name == name.strip()
        assert "~" not in name
        for rule in rules(top):
            for option in rule.writes | rule.mutates | rule.destroys | rule.runs | rule.places:
                assert option.startswith("-"), (name, option)


def test_programs_are_known_by_place():
    assert lookup("ls", Scope()).rule is lookup("/usr/bin/ls", Scope()).rule
    assert lookup("/tmp/ls", Scope()).floor is CommandKind.UNKNOWN
    assert lookup("./ls", Scope()).floor is CommandKind.MUTATING
    assert lookup("./ls", Scope()).rule is None
    assert lookup(".venv/bin/pytest", Scope()).floor is CommandKind.VERIFICATION
    assert lookup("./gradlew", Scope()).rule is PROGRAMS["gradlew"]
    assert lookup("frobnicate", Scope()).floor is CommandKind.UNKNOWN


@pytest.mark.parametrize(
    ("name", "kind", "proves"),
    [
        ("test", CommandKind.VERIFICATION, "tests"),
        ("test:unit", CommandKind.VERIFICATION, "tests"),
        ("unit-test", CommandKind.VERIFICATION, "tests"),
        ("type-check", CommandKind.VERIFICATION, "types"),
        ("lint", CommandKind.VERIFICATION, "lint"),
        ("build:prod", CommandKind.VERIFICATION, "build"),
        ("lint:fix", CommandKind.MUTATING, ""),
        ("start", CommandKind.MUTATING, ""),
        ("deploy", CommandKind.DESTRUCTIVE, ""),
        ("test-and-publish", CommandKind.DESTRUCTIVE, ""),
    ],
)
def test_names_of_tasks(name, kind, proves):
    assert task_kind(name) == (kind, proves)
