"""How a project would be tested, and what is missing for it."""

from __future__ import annotations

import sys
import venv
from pathlib import Path

import pytest
from tests.repos import put
from tests.small_python import small_path
from tests.unit.doctor.patient import home_of, seen_by

from flyball.doctor.repository import examine_tests
from flyball.doctor.symptom import Symptom

PYTEST = "def test_one():\n    assert True\n"
UNITTEST = (
    "import unittest\n\n\nclass T(unittest.TestCase):\n    def test_one(self):\n        pass\n"
)


@pytest.fixture
def shop(tmp_path: Path) -> Path:
    (tmp_path / "shop").mkdir()
    return tmp_path / "shop"


def look(shop: Path, **environ: str) -> dict[str, Symptom]:
    return seen_by(examine_tests, home_of(shop.parent, shop, **environ))


def test_without_tests_it_says_how_to_settle_them(shop: Path):
    put(shop, {"cart.py": "TOTAL = 1\n"})
    found = look(shop)["tests"]
    assert (found.holds, found.blocks) == (False, False)
    assert "no tests" in found.seen
    assert '`command = "make test"`' in found.hint


def test_the_command_that_would_be_run_is_reported(shop: Path):
    put(shop, {"test_cart.py": PYTEST})
    found = look(shop, PATH=small_path())["tests"]
    assert found.holds
    assert found.seen.startswith("pytest, started by /")


def test_an_interpreter_without_pytest_is_named(shop: Path):
    put(shop, {"test_cart.py": PYTEST})
    venv.create(shop / ".venv", symlinks=True)
    found = look(shop)["tests"]
    assert found.blocks
    assert found.seen == (
        f"pytest is not installed for this project: {shop}/.venv/bin/python cannot import it."
    )
    assert ".venv/bin/pip install pytest`" in found.hint


def test_where_unittest_can_run_the_same_tests_nothing_blocks(shop: Path):
    put(shop, {"test_cart.py": UNITTEST, "conftest.py": ""})
    venv.create(shop / ".venv", symlinks=True)
    found = look(shop)["tests"]
    assert found.holds
    assert found.seen.startswith("unittest, because pytest is not installed")


def test_a_runner_that_is_not_installed_blocks_only_where_nothing_else_can_be_run(
    shop: Path, tmp_path: Path
):
    put(shop, {"web/package.json": '{"devDependencies": {"jest": "1"}}'})
    put(shop, {"web/a.test.js": "test('a', () => {})\n"})
    alone = look(shop, PATH=str(tmp_path))["tests in web"]
    assert alone.blocks
    assert "jest is not installed" in alone.seen
    assert "npm install" in alone.hint
    put(shop, {"test_cart.py": UNITTEST})
    beside = look(shop, PATH=str(Path(sys.executable).parent))
    assert beside["tests"].holds
    assert (beside["tests in web"].holds, beside["tests in web"].blocks) == (False, False)


@pytest.mark.parametrize(
    ("command", "word"),
    [
        ("true", ""),
        ("./run.sh --all", ""),
        ("CI=1 toxic -e py", "toxic"),
        ("./gone.sh", "./gone.sh"),
    ],
)
def test_a_settled_command_is_looked_for_where_it_would_be_started(
    command: str, word: str, shop: Path
):
    put(shop, {"run.sh": "#!/bin/sh\n"})
    (shop / "run.sh").chmod(0o755)
    config = shop.parent / "config.toml"
    config.write_text(f'[test]\ncommand = "{command}"\n')
    found = look(shop, FLYBALL_CONFIG=str(config))["tests"]
    assert found.holds == (not word)
    assert f"`{command}`" in found.seen
    assert f"no program {word!r}" in found.seen if word else "as configured" in found.seen
