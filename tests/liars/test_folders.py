"""The changes that lie as folders, judged by `flyball verify` as it is typed.

Every one of them is `flyball bench liars`. Here are those that are quick in every run of the tests,
and one of each class and language beside them among the long ones.
"""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from tests.toolchains import need

from flyball.app.liars.trial import VERIFY, TrialCase, all_cases, ask, make_verifier

BY_NAME = {case.name: case for case in all_cases() if case.folder is not None}
QUICK = ("012",)
LONG = (
    *("002", "003", "010", "018", "020", "022", "023", "024", "026", "031", "034", "035"),
    *("036", "040", "041", "042", "044", "049", "054", "057", "058", "061", "063", "065"),
)


def named(numbers: tuple[str, ...]) -> list[str]:
    return [name for name in BY_NAME if name[:3] in numbers]


def judge(case: TrialCase, home: Path) -> None:
    need(*case.needs)
    home.mkdir()
    places = {"HOME": str(home), "XDG_STATE_HOME": str(home / "state")}
    user = Path.home()
    # Toolchains that lie in the home stay where they are.
    tools = {"CARGO_HOME": str(user / ".cargo"), "RUSTUP_HOME": str(user / ".rustup")}
    found = ask(make_verifier(VERIFY, 300.0, {**tools, **os.environ, **places}), case)
    assert found.was_tried, found.answer
    assert found.is_right, f"{found.answer} with {found.exit_code}: {found.said}"


@pytest.mark.slow
@pytest.mark.parametrize("name", named(QUICK))
def test_a_quick_change_is_judged_rightly(name: str, tmp_path: Path):
    judge(BY_NAME[name], tmp_path / "home")


@pytest.mark.exhaustive
@pytest.mark.parametrize("name", named(LONG))
def test_a_change_is_judged_rightly(name: str, tmp_path: Path):
    judge(BY_NAME[name], tmp_path / "home")
