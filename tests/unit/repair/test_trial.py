"""Which suite the repairer looks into: the one that the user says tests the project."""

from __future__ import annotations

from pathlib import Path

import pytest
from msgspec.structs import replace
from tests.unit.engine.shop import FILES, Shop, open_shop

from flyball.core.suite.settled import ProjectCommands, SettledCommand
from flyball.errors import ToolUnavailable
from flyball.repair.trial import scratch_copy


def looked_into(shop: Shop, command: str) -> tuple[str, str, tuple[str, ...]]:
    """The runner, the part and the words that a trial would use with this settled command."""
    call = shop.call()
    settled = ProjectCommands(tests={".": SettledCommand(command, "a test")} if command else {})
    call = call._replace(settings=replace(call.settings, commands=settled))
    with scratch_copy(call) as stage:
        return stage.choice.name, stage.choice.at, stage.choice.args


@pytest.mark.parametrize(
    ("command", "wanted"),
    [
        ("", ("unittest", ".", ())),
        ("pytest -q other", ("pytest", ".", ("-q", "other"))),
        (".venv/bin/python3.12 -m pytest other", ("pytest", ".", ("other",))),
        ("uv run pytest", ("pytest", ".", ())),
        ("python -m unittest discover", ("unittest", ".", ())),
    ],
)
def test_a_settled_command_decides_which_tests_are_tried(
    tmp_path: Path, command: str, wanted: tuple[str, str, tuple[str, ...]]
):
    with open_shop(tmp_path, {**FILES, "other/test_it.py": "def test_it():\n    pass\n"}) as shop:
        found = looked_into(shop, command)
    assert found[1:] == wanted[1:]
    assert found[0] == wanted[0] or not command


@pytest.mark.parametrize("command", ["sh run.sh", "python -m unittest test_cart.CartTest"])
def test_a_settled_command_that_cannot_be_looked_into_is_not_replaced_by_another(
    tmp_path: Path, command: str
):
    with open_shop(tmp_path) as shop, pytest.raises(ToolUnavailable, match=command):
        looked_into(shop, command)
