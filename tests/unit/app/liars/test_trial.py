"""Verifiers tried on liars: those that accept all, reject all, and look."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from tests.repos import git

from flyball.app.liars.trial import (
    HONEST_WORK,
    TrialCase,
    TriedChange,
    Verifier,
    all_cases,
    ask,
    ask_all,
    chosen,
    make_repository,
    make_verifier,
)

CASES = all_cases()
SHELL = next(case for case in CASES if case.family == "shell")
FIX = next(case for case in CASES if case.name == "shell: the fix")
BY_HAND = '[ "$(sh total.sh 2 3)" = 6 ]'
"""It asks the program itself, whatever became of its tests."""


def verifier(command: str, seconds: float = 60.0, **more: str) -> Verifier:
    return Verifier(command, seconds, {**os.environ, **more})


def test_a_repository_has_both_sides(tmp_path: Path):
    make_repository(tmp_path / "repo", SHELL, os.environ)
    assert git(tmp_path / "repo", "branch", "--show-current") == "change\n"
    changed = git(tmp_path / "repo", "diff", "--name-only", "main..change").split()
    assert set(changed) == set(SHELL.change)
    assert git(tmp_path / "repo", "status", "--short") == ""


@pytest.mark.parametrize(
    ("command", "answers"),
    [
        ("true", ("accepted", "accepted")),
        ("false", ("rejected", "rejected")),
        (BY_HAND, ("rejected", "accepted")),
    ],
)
def test_an_exit_code_is_an_answer(command: str, answers: tuple[str, str]):
    found = ask_all(verifier(command), [SHELL, FIX], 2, lambda _: None)
    assert tuple(each.answer for each in found) == answers
    assert [each.is_right for each in found] == [answers[0] == "rejected", answers[1] == "accepted"]


def test_a_verifier_is_told_where_the_change_is():
    given = (
        'echo "{base} {head} {suite} $LIARS_BASE $LIARS_HEAD $LIARS_SUITE"; [ "{repo}" = "$PWD" ]'
    )
    tried = ask(verifier(given), SHELL)
    assert (tried.answer, tried.said) == ("accepted", "main change make test main change make test")


def test_a_verifier_that_cannot_be_run_has_rejected_nothing():
    tried = ask(verifier("no-such-program"), FIX)
    assert tried.answer.startswith("not tried: ")
    assert "no-such-program" in tried.answer


def test_flyball_is_this_very_one_whatever_is_on_the_path():
    made = make_verifier("flyball --version", 60.0, {"PATH": "/usr/bin:/bin"})
    assert ask(made, FIX).answer == "accepted"


def test_who_does_not_answer_in_time_has_accepted_nothing():
    assert ask(verifier("sleep 60", 0.5), SHELL).answer == "timed out"


def test_a_change_whose_language_is_missing_is_not_tried(tmp_path: Path):
    tried = ask(verifier("true", PATH=str(tmp_path)), SHELL)
    assert tried.answer == "not tried: make is not installed"
    assert not tried.was_tried


def test_the_cases_are_all_different_and_some_are_honest():
    told = [(case.project.files, case.change, case.folder) for case in CASES]
    assert all(change not in told[:n] for n, change in enumerate(told))
    assert sum(case.family == HONEST_WORK for case in CASES) >= 20
    assert sum(case.is_lie for case in CASES) >= 150


def test_of_each_family_every_so_many_is_chosen():
    def families(cases: list[TrialCase]) -> set[str]:
        return {case.family for case in cases}

    few = chosen(CASES, (), 100)
    assert families(few) == families(CASES)
    assert len(few) < 40
    assert families(chosen(CASES, ("c", "go"), 1)) == {"c", "go"}


def folder(name: str) -> TrialCase:
    (found,) = chosen(CASES, (), 1, (name,))
    return found


def test_every_folder_is_a_change_with_a_suite(tmp_path: Path):
    folders = [case for case in CASES if case.folder is not None]
    assert len(folders) >= 60
    for case in folders:
        assert case.project.verify_with, case.name
        assert set(case.right) <= {"shown", "a question", "not shown"}, case.name


@pytest.mark.parametrize(
    ("name", "changed"),
    [
        ("016", {"shop/cart.py"}),
        # Of the same length and time as before.
        ("028", {"README.md"}),
        ("034", {"shop/cart.py", "shop/cart.pyc"}),
    ],
)
def test_a_folder_becomes_a_repository_with_both_sides(
    tmp_path: Path, name: str, changed: set[str]
):
    make_repository(tmp_path / "repo", folder(name), os.environ)
    told = git(tmp_path / "repo", "diff", "--name-only", "main..change").splitlines()
    assert set(told) == changed
    assert git(tmp_path / "repo", "status", "--short") == ""


@pytest.mark.parametrize(
    ("name", "command", "is_right"),
    [
        ("016", "exit 0", False),
        ("016", "exit 4", True),
        # A value that the tests themselves name is conceded, so it is not held against a verifier.
        ("011", "exit 0", True),
        ("044", "exit 3", False),
        ("052", "exit 3", True),
        ("052", "exit 4", False),
        ("030", "exit 0", True),
        ("035", '[ "$DATABASE_URL" = sqlite:///shop.db ]', True),
    ],
)
def test_a_folder_says_which_answers_are_right(name: str, command: str, is_right: bool):
    (found,) = ask_all(verifier(command), [folder(name)], 1, lambda _: None)
    assert found.is_right is is_right


def test_a_lie_that_timed_out_counts_as_not_accepted():
    assert TriedChange("c", "a lie", "timed out", -1, 1.0, "").is_right
    assert not TriedChange(HONEST_WORK, "a fix", "timed out", -1, 1.0, "").is_right
