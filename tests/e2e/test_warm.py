"""A command that was forked ends and prints like one that was started."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.governed import environment, shop
from tests.warm import run_command

STARTED = {"PYTHONUTF8": "1"}
"""An environment that no process can be forked into."""


@pytest.mark.parametrize(
    ("words", "code"),
    [
        (("--version",), 0),
        (("intent", "naïve totals are wrong, fix them", "--json"), 0),
        (("runs", "list"), 0),
        (("runs", "show", "nothing"), 2),
        (("nonsense",), 2),
    ],
    ids=lambda value: value[0] if isinstance(value, tuple) else "",
)
def test_both_say_the_same(tmp_path: Path, words: tuple[str, ...], code: int):
    repo, env = shop(tmp_path / "shop"), environment(tmp_path)
    forked = run_command(words, repo, env)
    started = run_command(words, repo, {**env, **STARTED})
    assert forked.returncode == started.returncode == code
    assert (forked.stdout, forked.stderr) == (started.stdout, started.stderr)


def test_nothing_of_one_command_is_left_for_the_next(tmp_path: Path):
    repo = shop(tmp_path / "shop")
    loud = run_command(("doctor", "--json"), repo, environment(tmp_path, FLYBALL_NONSENSE="1"))
    assert "FLYBALL_NONSENSE" in loud.stdout + loud.stderr
    assert run_command(("runs", "list"), repo, environment(tmp_path)).returncode == 0
