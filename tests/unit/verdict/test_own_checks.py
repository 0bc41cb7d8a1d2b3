"""The project's own checks, held against the tree from before."""

from __future__ import annotations

from pathlib import Path

from tests.unit.engine.shop import open_shop
from tests.unit.journal.runs import story

from flyball.core.suite.part import Part
from flyball.verdict.named import CheckEnd
from flyball.verdict.own_checks import OwnChecks, ended_well, run_checks
from flyball.verdict.reports import NamedEnd

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
