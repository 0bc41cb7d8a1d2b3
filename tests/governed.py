"""A small broken shop, scripts for whoever works on it, and the command line as users run it."""

from __future__ import annotations

import json
import os
import pty
import select
import subprocess
import sys
import threading
import time
from collections.abc import Generator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from tests.repos import repository
from tests.small_python import small_path
from tests.warm import run_command

CART = """\
def total(items):
    result = 0
    for price, quantity in items:
        result += price
    return result
"""

TESTS = """\
import unittest

from cart import total


class CartTest(unittest.TestCase):
    def test_nothing(self):
        self.assertEqual(total([]), 0)

    def test_three_pens(self):
        self.assertEqual(total([(2, 3)]), 6)
"""

FIX = """\
--- a/cart.py
+++ b/cart.py
@@ -1,5 +1,5 @@
 def total(items):
     result = 0
     for price, quantity in items:
-        result += price
+        result += price * quantity
     return result
"""

WEAKEN = """\
--- a/test_cart.py
+++ b/test_cart.py
@@ -10,2 +10,2 @@
     def test_three_pens(self):
-        self.assertEqual(total([(2, 3)]), 6)
+        self.assertEqual(total([(2, 3)]), 2)
"""

"""The failing test made to agree with the code: no repair, and nobody is asked about it."""

DROP = """\
--- a/test_cart.py
+++ b/test_cart.py
@@ -6,5 +6,2 @@
 class CartTest(unittest.TestCase):
-    def test_nothing(self):
-        self.assertEqual(total([]), 0)
-
     def test_three_pens(self):
"""
"""A test that passes, gone: a person is asked about that."""

HOME_TESTS = """\
import os, subprocess, sys, unittest
from pathlib import Path

from cart import total

ONE = "import sys; from pathlib import Path; p = Path.home() / '.config' / 'x'; p.mkdir(\
parents=True, exist_ok=True); (p / sys.argv[1]).write_text(sys.argv[1])"


class HomeTest(unittest.TestCase):
    def test_parallel_writers(self):
        names = [str(n) for n in range(8)]
        started = [subprocess.Popen([sys.executable, "-c", ONE, name]) for name in names]
        self.assertEqual([each.wait() for each in started], [0] * 8)
        place = Path("~/.config/x").expanduser()
        self.assertEqual(sorted(os.listdir(place)), names)
        self.assertEqual([(place / name).read_text() for name in names], names)

    def test_git_is_configured(self):
        subprocess.run(["git", "config", "--global", "user.name", "tester"], check=True)
        said = subprocess.run(["git", "config", "user.name"], capture_output=True, text=True)
        self.assertEqual(said.stdout.strip(), "tester")

    def test_three_pens(self):
        self.assertEqual(total([(2, 3)]), 6)
"""
"""A suite that writes below the home directory, from several processes at once."""

RESTORE = """\
--- a/test_cart.py
+++ b/test_cart.py
@@ -6,2 +6,5 @@
 class CartTest(unittest.TestCase):
+    def test_nothing(self):
+        self.assertEqual(total([]), 0)
+
     def test_three_pens(self):
"""

Line = dict[str, Any]


def call(tool: str, **args: object) -> Line:
    """A reply that asks for one call."""
    return {"calls": [{"tool": tool, "args": args}]}


def say(text: str, **more: object) -> Line:
    """A reply in words."""
    return {"text": text, **more}


def checkpoint(*files: str) -> Line:
    return call(
        "checkpoint",
        goal="The total counts every piece.",
        findings="total() ignores the quantity.",
        proposed_action="Multiply by the quantity.",
        files=list(files or ("cart.py",)),
        verify_with=["python -m unittest"],
    )


READ = call("read", path="cart.py")
EDIT = call("edit_diff", diff=FIX)
SUITE = call("test")
REVIEW = {"role": "reviewer", "text": "One line, as promised."}
GOOD = (READ, checkpoint(), EDIT, SUITE, say("The total counts every piece."), REVIEW)


def shop(root: Path, files: dict[str, str] | None = None) -> Path:
    """A repository whose total is wrong."""
    return repository(root, {"cart.py": CART, "test_cart.py": TESTS} if files is None else files)


def script(path: Path, *lines: Line) -> str:
    """A driver that says these lines."""
    path.write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
    return f"scripted:{path}"


def environment(home: Path, **more: str) -> dict[str, str]:
    """A user of their own, with nothing configured."""
    return {
        "HOME": str(home),
        "PATH": small_path(),
        "LANG": "C.UTF-8",
        "FLYBALL_STATE_DIR": str(home / "state"),
        "FLYBALL_VERDICT_MUTANT_SECONDS": "0",
        "PYTHONPATH": os.environ.get("PYTHONPATH", ""),
        **more,
    }


ARGV = (sys.executable, "-c", "from flyball.cli import main; main()")


class Shell:
    """Somebody in a directory who types flyball commands."""

    def __init__(self, cwd: Path, home: Path, **more: str) -> None:
        self.cwd = cwd
        self.env = environment(home, **more)

    def __call__(self, *args: str) -> subprocess.CompletedProcess[str]:
        return run_command(args, self.cwd, self.env)

    @contextmanager
    def begin(self, *args: str) -> Generator[subprocess.Popen[str]]:
        """A command that goes on while others are typed; it is not left behind."""
        with subprocess.Popen(
            [*ARGV, *args],
            cwd=self.cwd,
            env=self.env,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            stdin=subprocess.DEVNULL,
        ) as process:
            try:
                yield process
            finally:
                process.kill()


class Terminal:
    """A flyball command in a terminal of its own, and the person who sits at it."""

    def __init__(self, shell: Shell, *args: str) -> None:
        self._near, far = pty.openpty()
        self._process = subprocess.Popen(
            [*ARGV, *args],
            cwd=shell.cwd,
            env={**shell.env, "TERM": "xterm", "COLUMNS": "160"},
            stdin=far,
            stdout=far,
            stderr=far,
        )
        os.close(far)

    def __enter__(self) -> Terminal:
        return self

    def __exit__(self, *_: object) -> None:
        self._process.kill()
        self._process.wait()
        os.close(self._near)

    def shows(self, wanted: str) -> str:
        """What is shown up to the wanted text."""
        seen, end = "", time.monotonic() + 300
        while wanted not in seen and time.monotonic() < end and self._process.poll() is None:
            seen += self._read()
        assert wanted in seen, seen
        return seen

    def ends(self, keys: str) -> tuple[int, str]:
        """The exit code and what is still shown, with the keys pressed until it has ended."""
        seen = ""
        while self._process.poll() is None:
            os.write(self._near, keys.encode())
            seen += self._read()
        return self._process.returncode, seen + self._read()

    def _read(self) -> str:
        if not select.select([self._near], [], [], 0.5)[0]:
            return ""
        try:
            return os.read(self._near, 65_536).decode(errors="replace")
        except OSError:  # Nobody holds the other side any more.
            return ""


def objects(output: str) -> list[Line]:
    """JSON lines as objects."""
    return [json.loads(line) for line in output.splitlines()]


def types(lines: Sequence[Line]) -> list[str]:
    return [line["type"] for line in lines]


def read_until(process: subprocess.Popen[str], wanted: str) -> list[Line]:
    """What a running `--json` command prints, up to the first object of a type."""
    assert process.stdout is not None
    found: list[Line] = []
    for line in process.stdout:
        found.append(json.loads(line))
        if found[-1]["type"] == wanted:
            return found
    raise AssertionError(f"it ended without {wanted!r}: {types(found)}")


def rest_of(process: subprocess.Popen[str]) -> str:
    """What it prints from there to its end; `communicate` would lose what was read ahead."""
    assert process.stdout is not None
    watchdog = threading.Timer(600, process.kill)
    watchdog.start()
    try:
        return process.stdout.read()
    finally:
        watchdog.cancel()
        process.wait()
