"""One trouble does not hide the others."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest
from tests.repos import repository
from tests.small_python import small_path
from tests.unit.doctor.patient import home_of

from flyball.app.project import open_home_lenient
from flyball.doctor.examine import examine_project
from flyball.errors import NotFound


@pytest.fixture
def shop(tmp_path: Path) -> Path:
    return repository(tmp_path / "shop", {"test_cart.py": "def test_one():\n    pass\n"})


def test_a_project_in_order_has_nothing_that_blocks(shop: Path, tmp_path: Path):
    found = asyncio.run(examine_project(home_of(tmp_path, shop, PATH=small_path())))
    assert [each for each in found if each.blocks] == []
    assert {"git", "checkout", "tests", "state", "journal", "model"} <= {x.name for x in found}
    assert all(each.hint for each in found if not each.holds)


def test_every_trouble_is_reported_beside_the_others_and_the_worst_come_last(
    shop: Path, tmp_path: Path
):
    (tmp_path / "state").write_text("in the way")
    (tmp_path / "config.toml").write_text("[budget\n")
    home = home_of(tmp_path, shop)
    environ = {**home.environ, "FLYBALL_CONFIG": str(tmp_path / "config.toml")}
    broken, refused = open_home_lenient(shop, environ)
    assert refused is not None
    found = asyncio.run(examine_project(broken, refused))
    names = [each.name for each in found]
    assert {"settings", "state"} <= {each.name for each in found if each.blocks}
    assert {"git", "checkout", "tests", "model"} <= set(names)
    weights = [(not each.holds, each.blocks) for each in found]
    assert weights == sorted(weights)


def test_a_directory_that_is_not_there_is_no_project(tmp_path: Path):
    with pytest.raises(NotFound, match="no directory"):
        open_home_lenient(tmp_path / "nowhere", {"HOME": str(tmp_path)})
