"""Runs on the tree from before are remembered, unless something was wrong with them."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.repos import put
from tests.unit.engine.shop import Shop, open_shop

from flyball.verdict import base_runs
from flyball.verdict.base_runs import BaseRuns
from flyball.verdict.case import CaseOutcome, SuiteCase
from flyball.verdict.part import PartSuite
from flyball.verdict.reports import TreeRun
from flyball.verdict.tree_run import Taken

SUITE = PartSuite("pytest")
CASE = SuiteCase("test_a", CaseOutcome.PASSED, file="t.py")
TAKEN = Taken(
    TreeRun(
        "pytest",
        0,
        {"t.py::test_a": CaseOutcome.PASSED},
        elapsed=1.5,
        counts=(1, 0, 0),
        rows={"t.py::test_a": 1},
    ),
    (CASE,),
    has_canary=True,
)


@pytest.fixture
def shop(tmp_path: Path) -> Iterator[Shop]:
    with open_shop(tmp_path, {"a.py": "x = 1\n"}) as opened:
        yield opened


def runs(shop: Shop) -> BaseRuns:
    return BaseRuns(shop.context.workspace, shop.context.env)


def test_a_run_is_found_again_as_it_was(shop: Shop):
    assert runs(shop).find("t0", SUITE) is None
    runs(shop).keep("t0", SUITE, TAKEN)
    assert runs(shop).find("t0", SUITE) == TAKEN


@pytest.mark.parametrize(
    ("tree", "suite"),
    [
        ("t1", SUITE),
        ("t0", PartSuite("pytest", "web")),
        ("t0", PartSuite("unittest")),
        ("t0", PartSuite("pytest", command="tox")),
    ],
)
def test_it_is_not_taken_for_another(shop: Shop, tree: str, suite: PartSuite):
    runs(shop).keep("t0", SUITE, TAKEN)
    assert runs(shop).find(tree, suite) is None


def test_what_is_installed_meanwhile_has_it_run_anew(shop: Shop):
    runs(shop).keep("t0", SUITE, TAKEN)
    put(shop.context.workspace.project, {"node_modules/.package-lock.json": "{}"})
    assert runs(shop).find("t0", SUITE) is None
    put(shop.context.workspace.project, {".venv/lib/python3.11/site-packages/x.py": ""})
    runs(shop).keep("t0", SUITE, TAKEN)
    assert runs(shop).find("t0", SUITE) == TAKEN


def test_a_run_in_trouble_is_not_kept_but_one_that_took_too_long_is(shop: Shop):
    bad = TAKEN._replace(run=TAKEN.run._replace(trouble="it was ended by signal 9"))
    runs(shop).keep("t0", SUITE, bad)
    assert runs(shop).find("t0", SUITE) is None
    slow = bad._replace(timed_out=True)
    runs(shop).keep("t0", SUITE, slow)
    assert runs(shop).find("t0", SUITE) == slow


def test_a_run_that_read_a_file_whose_name_is_not_text_is_not_kept(shop: Shop):
    runs(shop).keep("t0", SUITE, TAKEN._replace(read=("data/\udcff\udcfe.txt",)))
    assert runs(shop).find("t0", SUITE) is None


def test_a_damaged_file_is_no_run(shop: Shop):
    runs(shop).keep("t0", SUITE, TAKEN)
    (file,) = (shop.context.workspace.directory.parent.parent / "base-runs").iterdir()
    file.write_bytes(b'{"command": 7')
    assert runs(shop).find("t0", SUITE) is None


def test_only_so_many_are_kept(shop: Shop, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(base_runs, "KEPT", 2)
    for n in range(4):
        runs(shop).keep(f"t{n}", SUITE, TAKEN)
    folder = shop.context.workspace.directory.parent.parent / "base-runs"
    assert len(list(folder.iterdir())) == 2
