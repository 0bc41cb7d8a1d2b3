"""A whole governed run from Python: a small broken repository, a scripted driver, a branch with
proof. No key and no network; everything happens in a temporary directory.
"""

import asyncio
import json
import os
import subprocess
import tempfile
from pathlib import Path
from typing import Any

from flyball.app.driving import RunControl, Watcher
from flyball.app.project import open_home
from flyball.app.starting import RunRequest
from flyball.terms.intent import Intent

CART = """\
def total(items):
    return sum(price for price, quantity in items)
"""
TESTS = """\
import unittest

from cart import total


class CartTest(unittest.TestCase):
    def test_three_pens(self):
        self.assertEqual(total([(2, 3)]), 6)
"""
WRONG = """\
--- a/cart.py
+++ b/cart.py
@@ -1,2 +1,2 @@
 def total(items):
-    return sum(price for price, quantity in items)
+    return sum(price + quantity for price, quantity in items)
"""
RIGHT = """\
--- a/cart.py
+++ b/cart.py
@@ -1,2 +1,2 @@
 def total(items):
-    return sum(price + quantity for price, quantity in items)
+    return sum(price * quantity for price, quantity in items)
"""
PROMISE = {
    "goal": "The total counts every piece.",
    "findings": "total() ignores the quantity.",
    "proposed_action": "Multiply by it.",
    "files": ["cart.py"],
    "verify_with": ["python -m unittest"],
}
SCRIPT = (
    {"calls": [{"tool": "edit_diff", "args": {"diff": RIGHT}}]},  # too early: refused
    {"calls": [{"tool": "checkpoint", "args": PROMISE}]},
    {"calls": [{"tool": "edit_diff", "args": {"diff": WRONG}}]},
    {"text": "Done."},  # the test still fails: sent back
    {"calls": [{"tool": "edit_diff", "args": {"diff": RIGHT}}]},
    {"text": "The total counts every piece now."},
    {"role": "reviewer", "text": "One line, as promised."},
)


def make_shop(place: Path) -> Path:
    """A repository with one commit and one failing test."""
    shop = place / "shop"
    shop.mkdir()
    (shop / "cart.py").write_text(CART)
    (shop / "test_cart.py").write_text(TESTS)
    who = ("-c", "user.name=Ada", "-c", "user.email=ada@example.org", "-c", "commit.gpgsign=no")
    for args in (["init", "-q"], ["add", "."], ["commit", "-q", "-m", "A shop"]):
        subprocess.run(["git", *who, *args], cwd=shop, check=True)
    return shop


def tell(line: dict[str, Any]) -> None:
    """Print some of the telemetry; `flyball run --json` prints all of it."""
    match line["type"]:
        case "phase":
            print(f"{line['phase']}: {line['label']}")
        case "decision":
            print(f"  {line['tool']}: {line['decision']} {line['code']}".rstrip())
        case "governor":
            print(f"  sent back: {line['text']}")
        case "evidence":
            print(f"  {line['kind']}: {'passing' if line['passing'] else 'failing'}")
        case "final":
            print(f"  {line['ending']}, {line['proof']}")


def silence(_text: str) -> None:
    """Streamed text and output are not shown here."""


with tempfile.TemporaryDirectory() as name:
    place = Path(name).resolve()
    shop = make_shop(place)
    script = place / "script.jsonl"
    script.write_text("".join(json.dumps(line) + "\n" for line in SCRIPT))

    environ = {**os.environ, "FLYBALL_STATE_DIR": str(place / "state")}
    control = RunControl(open_home(shop, environ, {}), Watcher(tell, silence, silence))
    wanted = RunRequest("The total is wrong", intent=Intent.SMALL_FIX, driver=f"scripted:{script}")
    result = asyncio.run(control.start(wanted))

    print(
        f"{result.status}, {result.state.spend.calls} calls, {result.state.spend.blocked} blocked"
    )
    print(result.diff, end="")
