"""`flyball verify` as a continuous integration would run it, on an honest branch and a cheat.

The exit code is the answer: 0 shown, 3 a person must decide, 4 not shown.
"""

import os
import subprocess
import sys
import tempfile
from pathlib import Path

FLYBALL = str(Path(sys.executable).with_name("flyball"))
CART = "def total(items):\n    return sum(price for price, quantity in items)\n"
TEST = """\
import unittest

from cart import total


class CartTest(unittest.TestCase):
    def test_three_pens(self):
        self.assertEqual(total([(2, 3)]), 6)
"""


def git(repo: Path, *words: str) -> None:
    who = ("-c", "user.name=Ada", "-c", "user.email=ada@example.org", "-c", "commit.gpgsign=no")
    subprocess.run(["git", *who, *words], cwd=repo, check=True)


def branch(repo: Path, name: str, file: str, text: str) -> None:
    git(repo, "checkout", "-q", "-b", name, "main")
    (repo / file).write_text(text)
    git(repo, "commit", "-qam", name)


with tempfile.TemporaryDirectory() as place:
    repo = Path(place).resolve() / "shop"
    repo.mkdir()
    (repo / "cart.py").write_text(CART)
    (repo / "test_cart.py").write_text(TEST)
    git(repo, "init", "-q", "-b", "main")
    git(repo, "add", ".")
    git(repo, "commit", "-qm", "A shop")
    branch(repo, "honest", "cart.py", CART.replace("sum(price for", "sum(price * quantity for"))
    branch(repo, "cheat", "test_cart.py", TEST.replace(", 6)", ", 2)"))
    env = {**os.environ, "FLYBALL_STATE_DIR": f"{place}/state"}
    for name in ("honest", "cheat"):
        command = [FLYBALL, "verify", "--base", "main", "--head", name, "--repo", str(repo)]
        done = subprocess.run(command, env=env, capture_output=True, text=True, check=False)
        print(f"{name}: exit {done.returncode}: {done.stdout.splitlines()[0]}")
