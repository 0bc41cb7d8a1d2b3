"""A change that anybody made is verified as a governed run's is."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.governed import CART, environment, shop
from tests.repos import git, put
from tests.unit.journal.runs import story

from flyball.app.project import open_home
from flyball.app.verifying import verify_change
from flyball.core.terms.change_verdict import ChangeVerdict
from flyball.errors import NotFound

MENDED = CART.replace("result += price", "result += price * quantity")


@pytest.fixture
def place(tmp_path: Path) -> Path:
    shop(tmp_path / "shop")
    return tmp_path


def home(place: Path):
    return open_home(place / "shop", environment(place), {})


@story
async def test_uncommitted_work_is_compared_with_the_commit_it_was_made_on(place: Path):
    put(place / "shop", {"cart.py": MENDED})
    found = await verify_change(home(place), "", "")
    assert found.has_changed
    assert found.head == "working tree"
    assert found.base == git(place / "shop", "rev-parse", "HEAD")[:12]
    assert found.verdict.is_shown


@story
async def test_without_a_change_nothing_is_run(place: Path):
    found = await verify_change(home(place), "", "")
    assert (found.verdict, found.has_changed) == (ChangeVerdict(), False)


@story
async def test_an_unknown_revision_leaves_nothing_behind(place: Path):
    with pytest.raises(NotFound, match="nowhere"):
        await verify_change(home(place), "nowhere", "")
    assert not list((home(place).state / "verify").glob("*/run"))
