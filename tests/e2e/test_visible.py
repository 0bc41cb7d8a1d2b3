"""A run in the usual state directory: what the project's tests see of where they are."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.governed import CART, EDIT, READ, REVIEW, SUITE, Shell, checkpoint, say, script, shop
from tests.repos import git

pytestmark = pytest.mark.slow

PICKY = """\
import pathlib
import unittest

from cart import total


class CartTest(unittest.TestCase):
    def test_three_pens(self):
        self.assertEqual(total([(2, 3)]), 6)

    def test_a_server_would_serve_this_file(self):
        parts = pathlib.Path(__file__).resolve().parts
        self.assertEqual([part for part in parts if part.startswith(".")], [])
"""


@pytest.mark.exhaustive
def test_no_test_meets_a_directory_with_a_dot(tmp_path: Path):
    shell = Shell(shop(tmp_path / "shop", {"cart.py": CART, "test_cart.py": PICKY}), tmp_path)
    del shell.env["FLYBALL_STATE_DIR"]
    lines = (READ, checkpoint(), EDIT, SUITE, say("It is mended."), REVIEW)
    done = shell("run", "fix", "--intent", "small_fix", "--driver", script(tmp_path / "s", *lines))

    assert done.returncode == 0, done.stdout + done.stderr
    assert (tmp_path / ".local/state/flyball").is_dir()
    assert str(tmp_path / "flyball-worktrees") in git(shell.cwd, "worktree", "list")
    assert shell("runs", "merge", "last").returncode == 0
    assert shell("runs", "prune", "last", "--abandon").returncode == 0
    assert not (tmp_path / "flyball-worktrees").exists()
