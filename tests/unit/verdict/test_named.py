"""What was named as verification, by the checkpoint or the project, and what became of it."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.unit.engine.shop import FILES, open_shop
from tests.unit.journal.runs import story

from flyball.verdict.case import CaseOutcome
from flyball.verdict.named import CheckEnd, is_suite, resolve_named
from flyball.verdict.part import Part
from flyball.verdict.reports import NamedEnd, TreeRun
from flyball.verdict.take import OwnChecks, ended_well, run_checks, run_named

RUN = TreeRun(
    "pytest",
    1,
    {
        "tests/test_cart.py::test_total": CaseOutcome.PASSED,
        "tests/test_cart.py::test_tax": CaseOutcome.FAILED,
        "tests/test_cart.py": CaseOutcome.PASSED,
    },
)


def ends(*named: str, runs=(RUN,), checks=()):
    found, unknown = resolve_named(named, runs, checks)
    return [(each.what, each.end) for each in found], unknown


@pytest.mark.parametrize("what", ["npx tsc --noEmit", "tsc  --noEmit", "pnpm exec tsc --noEmit"])
def test_a_check_is_found_however_it_is_started(what):
    green, red = CheckEnd("tsc --noEmit", 0), CheckEnd("npx tsc --noEmit", 2, "2 errors")
    assert ends(what, checks=[green]) == ([(what, NamedEnd.GREEN)], ())
    assert ends(what, checks=[red]) == ([(what, NamedEnd.RED)], ())


def test_a_named_test_must_be_green_itself():
    assert ends("pytest tests/test_cart.py::test_total")[0][0][1] is NamedEnd.GREEN
    assert ends("run test_tax")[0][0][1] is NamedEnd.RED


def test_a_suite_is_the_verdicts_own_business_but_must_be_there():
    assert ends("python -m pytest", "the tests") == ([], ())
    assert ends("npm test", runs=()) == ([("npm test", NamedEnd.NOT_RUN)], ())


@pytest.mark.parametrize("what", ["tests/test_cart.py", "./tests/test_cart.py", "tests", "tests/"])
def test_a_named_test_file_that_was_run_needs_no_command(what):
    assert ends(what) == ([], ())
    assert ends("tests/test_ca") == ([], ("tests/test_ca",))


@pytest.mark.parametrize(
    ("what", "is_there"),
    [
        ("pytest tests/test_cart.py", True),
        ("python -m pytest tests/test_bulk.py", False),
        ("pytest tests/test_cart.py::TestBulk::test_discount", False),
        ("pytest tests/test_cart.py::test_total", True),
        ("pytest -k bulk", True),
    ],
)
def test_tests_that_nobody_ran_are_no_verification(what, is_there):
    found, _ = ends(what)
    assert ((what, NamedEnd.NOT_RUN) in found) is not is_there
    # Of a part that was chosen, and of runners that tell of no file, nothing can be said.
    assert (what, NamedEnd.NOT_RUN) not in ends(what, runs=(RUN._replace(whole=9),))[0]
    other = TreeRun("node --test", 0, {"cart::total": CaseOutcome.PASSED})
    assert (what, NamedEnd.NOT_RUN) not in ends(what, runs=(other,))[0]


def test_words_that_no_program_could_run_are_told_apart():
    assert ends("look at the page", "look at the page", " ") == ([], ("look at the page",))
    assert ends("say 'unclosed") == ([], ("say 'unclosed",))


@pytest.mark.parametrize("what", ["make test", "go test ./...", "All tests pass.", "cargo test"])
def test_suites_are_known_by_their_runners(what):
    assert is_suite(what)
    assert not is_suite("mypy src")


def test_the_projects_own_command_is_a_suite_whatever_it_is_called():
    settled = TreeRun("sh run.sh", 0, is_counted=False)
    assert resolve_named(["sh run.sh"], [settled], []) == ((), ())
    assert resolve_named(["sh other.sh"], [settled], []) == ((), ("sh other.sh",))


@story
async def test_only_what_verifies_and_can_fail_is_run(tmp_path: Path):
    with open_shop(tmp_path, FILES) as shop:
        words = ("true", "the page looks right", "rm -rf .", "python -m compileall -q .")
        (found,) = await run_named(shop.call(), shop.card.base, words)
        assert (found.command, found.exit_code, found.detail) == (words[-1], 0, "")
        assert await run_named(shop.call(), shop.card.base, words[:-1]) == []


@story
async def test_one_that_fails_tells_its_last_line(tmp_path: Path):
    with open_shop(tmp_path, {**FILES, "bad.py": "def (:\n"}) as shop:
        (found,) = await run_named(shop.call(), shop.card.base, ["python -m compileall -q ."])
        assert found.exit_code == 1
        assert found.detail


MAKE = "build:\n\tgrep -q A README.md\n"
TOP = (Part(checks=("build",)),)


@story
async def test_a_build_that_passes_checks_and_one_that_breaks_is_named(tmp_path: Path):
    with open_shop(tmp_path, {"README.md": "A\n", "Makefile": MAKE}) as shop:
        head = shop.change({"README.md": "A cart\n"})
        assert await run_checks(shop.call(), shop.card.base, head, TOP) == OwnChecks((), True)
        head = shop.change({"README.md": "B\n"})
        found = await run_checks(shop.call(), shop.card.base, head, TOP)
    (broken,) = found.broken
    assert (broken.what, broken.end) == ("build", NamedEnd.RED)
    assert broken.detail
    assert not found.is_checked


@story
async def test_what_failed_before_is_not_broken_and_what_is_not_there_is_not_run(tmp_path: Path):
    with open_shop(tmp_path, {"README.md": "B\n", "Makefile": MAKE}) as shop:
        head = shop.change({"README.md": "C\n"})
        assert await run_checks(shop.call(), shop.card.base, head, TOP) == OwnChecks()
        nothing = await run_checks(shop.call(), shop.card.base, head, (), ("types", "nonsense"))
        assert nothing == OwnChecks()
        assert await run_checks(shop.call(), shop.card.base, head, ()) == OwnChecks()


def test_something_must_be_named_to_end_well():
    assert not ended_well([])
    assert ended_well([CheckEnd("mypy", 0)])
    assert not ended_well([CheckEnd("mypy", 0), CheckEnd("tsc", 1)])
