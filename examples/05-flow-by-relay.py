"""A flow of five steps, driven by whoever reads and writes a folder: here by a few lines of Python.

The run stops at the flow's human review and the process ends. Another process answers, as you would
the next day from another terminal, and the run goes on to its end. No key and no network.
"""

import json
import os
import subprocess
import sys
import tempfile
import threading
from collections.abc import Sequence
from pathlib import Path

FLOW = Path(__file__).with_name("flows") / "careful-fix.yaml"
FLYBALL = str(Path(sys.executable).with_name("flyball"))

FILES = {
    "cart.py": "def total(items):\n    return sum(price for price, quantity in items)\n",
    "test_cart.py": (
        "import unittest\n\nfrom cart import total\n\n\n"
        "class CartTest(unittest.TestCase):\n"
        "    def test_one_pen(self):\n"
        "        self.assertEqual(total([(2, 1)]), 2)\n"
    ),
    "CHANGELOG.md": "# Unreleased\n",
    ".gitignore": "__pycache__/\n",
}
MENDING = """\
--- a/cart.py
+++ b/cart.py
@@ -1,2 +1,2 @@
 def total(items):
-    return sum(price for price, quantity in items)
+    return sum(price * quantity for price, quantity in items)
--- a/test_cart.py
+++ b/test_cart.py
@@ -6,3 +6,6 @@
 class CartTest(unittest.TestCase):
     def test_one_pen(self):
         self.assertEqual(total([(2, 1)]), 2)
+
+    def test_three_pens(self):
+        self.assertEqual(total([(2, 3)]), 6)
"""
NOTING = """\
--- a/CHANGELOG.md
+++ b/CHANGELOG.md
@@ -1 +1,3 @@
 # Unreleased
+
+- Fixed: the total counts every piece.
"""


def say(text: str, **fields: object) -> dict[str, object]:
    """Stop with an answer, and with the step's form where it has one."""
    form = f"\n\n```json\n{json.dumps(fields)}\n```" if fields else ""
    return {"text": text + form}


def call(tool: str, **args: object) -> dict[str, object]:
    return {"calls": [{"tool": tool, "args": args}]}


def promise(*files: str) -> dict[str, object]:
    return call(
        "checkpoint",
        goal="The total counts every piece.",
        findings="total() ignores the quantity.",
        proposed_action="Multiply by it, and say so.",
        files=list(files),
        verify_with=["python -m unittest"],
    )


REPLIES = {
    ("find", "researcher"): [
        say("The quantity is ignored."),  # the form is missing: sent back
        say("The quantity is ignored.", root_cause="cart.py:2", criteria_checklist={"seen": True}),
    ],
    ("fix", "executor"): [
        promise("cart.py", "test_cart.py"),
        call("edit_diff", diff=MENDING),
        say("Fixed."),  # nobody ran the tests; Flyball does, on both trees
    ],
    ("fix", "reviewer"): [say("One line and its test.")],
    ("note", "executor"): [promise("CHANGELOG.md"), call("edit_diff", diff=NOTING), say("Noted.")],
    ("note", "reviewer"): [say("One line of text.")],
    ("review", "reviewer"): [say("Small.", risk="low", assumptions=["prices are numbers"])],
    ("announce", "executor"): [say("Totals ignored how many you bought. That is fixed.")],
}


def answer(folder: Path, stop: threading.Event) -> None:
    """Be the model: answer each request in the folder by the card and role it is for."""
    while not stop.wait(0.05):
        for request in sorted(folder.glob("*.request.json")):
            reply = request.with_name(request.name.replace("request", "reply"))
            if not reply.exists():
                asked = json.loads(request.read_text())
                script = REPLIES.get((asked["card"], asked["role"]))
                line = script.pop(0) if script else say("There is nothing to add.")
                reply.write_text(json.dumps(line))


def flyball(words: Sequence[str], env: dict[str, str]) -> tuple[int, list[dict[str, object]]]:
    """One command in a process of its own: its exit code and what it told."""
    command = [FLYBALL, *words, "--json"]
    done = subprocess.run(command, env=env, capture_output=True, text=True, check=False)
    lines = [json.loads(line) for line in done.stdout.split("\n") if line.startswith("{")]
    return done.returncode, lines


def tell(lines: list[dict[str, object]]) -> None:
    """The few lines that show where the run stands."""
    for line in lines:
        if line["type"] == "card" and line["status"] in ("doing", "done"):
            print(f"{line['card']}: {line['status']}")
        elif line["type"] == "governor" and line["kind"] == "rejection":
            print(f"  sent back: {str(line['text']).splitlines()[-1]}")
        elif line["type"] == "evidence" and line["kind"] in ("suite-report", "verdict-report"):
            print(f"  {line['kind']}: {'good' if line['passing'] else 'bad'}")
        elif line["type"] == "approval":
            print(f"  asks: {line['text']}")
        elif line["type"] == "final":
            print(f"{line['status']}: {line['message']}")


def main() -> None:
    with tempfile.TemporaryDirectory() as place:
        shop, folder = Path(place) / "shop", Path(place) / "relay"
        for made in (shop, folder):
            made.mkdir()
        for name, text in FILES.items():
            (shop / name).write_text(text)
        mark = ("-c", "user.name=Ada", "-c", "user.email=ada@example.org")
        for words in (("init", "-q"), ("add", "-A"), ("commit", "-q", "-m", "start")):
            subprocess.run(["git", *mark, *words], cwd=shop, check=True)
        env = {**os.environ, "FLYBALL_STATE_DIR": f"{place}/state"}
        here = ("--repo", str(shop))

        stop = threading.Event()
        model = threading.Thread(target=answer, args=(folder, stop))
        model.start()
        try:
            run = ("run", "--flow", str(FLOW), "--driver", f"relay:{folder}", *here)
            code, lines = flyball((*run, "the total is wrong for several pieces"), env)
            tell(lines)
            id = next(str(line["run"]) for line in lines if line["type"] == "run")
            print(f"the process has ended with {code}; the run waits")
            code, lines = flyball(("answer", id, "yes", *here), env)
            tell(lines)
            print(f"the second process has ended with {code}")
        finally:
            stop.set()
            model.join()


if __name__ == "__main__":
    main()
