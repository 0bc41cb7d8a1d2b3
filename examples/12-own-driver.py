"""A driver of your own: whatever can answer a request may think. This one reads the failing test.

It is asked like a model and governed like one. No key and no network.
"""

import asyncio
import os
import re
import subprocess
import tempfile
from collections.abc import Callable
from pathlib import Path

from flyball.app.driving import RunControl, Watcher
from flyball.app.project import open_home
from flyball.app.starting import RunRequest
from flyball.drivers.protocol import Reply, Request
from flyball.run.thread import SpokenCall
from flyball.terms.intent import Intent

WRONG = '    return "Hullo, " + name'
GREETING = f"def greet(name):\n{WRONG}\n"
TESTS = """\
import unittest

from greeting import greet


class GreetingTest(unittest.TestCase):
    def test_greeting(self):
        self.assertEqual(greet("Ada"), "Hello, Ada")
"""


class Parrot:
    """Runs the tests, promises what they expect, and puts their word into the code."""

    async def think(self, request: Request, on_text: Callable[[str], None]) -> Reply:
        """One request in, one reply out."""
        # The request has all that was said so far; a driver need not remember anything.
        made = [line.tool for line in request.lines if line.tool]
        seen = "\n".join(line.text for line in request.lines)
        print(f"asked as {request.role} in {request.phase}")
        if request.role == "reviewer":
            return Reply(text="One word.")
        expected = re.search(r"'Hullo, Ada' != '(\w+), Ada'", seen)
        if expected is None:
            return call("test")
        if "checkpoint" not in made:
            return promise(expected[0], f"Say {expected[1]}.")
        if "edit_diff" not in made:
            right = WRONG.replace("Hullo", expected[1])
            return call(
                "edit_diff", diff=f"--- a/greeting.py\n+++ b/greeting.py\n@@\n-{WRONG}\n+{right}\n"
            )
        if made[-1] != "test":
            return call("test")
        on_text("The greeting is right.")
        return Reply(text="The greeting is right.")

    async def close(self) -> None:
        """Nothing is held."""


def call(tool: str, **args: object) -> Reply:
    """Ask for one call; without an id it gets one."""
    return Reply(calls=(SpokenCall("", tool, args),))


def promise(findings: str, action: str) -> Reply:
    """State what will be so; before that nothing may be written."""
    return call(
        "checkpoint",
        goal="The greeting is what the test expects.",
        findings=findings,
        proposed_action=action,
        files=["greeting.py"],
        verify_with=["python -m unittest"],
    )


def make_repository(place: Path) -> Path:
    """A repository with one commit and one failing test."""
    project = place / "project"
    project.mkdir()
    (project / "greeting.py").write_text(GREETING)
    (project / "test_greeting.py").write_text(TESTS)
    who = ("-c", "user.name=Ada", "-c", "user.email=ada@example.org", "-c", "commit.gpgsign=no")
    for args in (["init", "-q"], ["add", "."], ["commit", "-q", "-m", "A greeting"]):
        subprocess.run(["git", *who, *args], cwd=project, check=True)
    return project


def silence(_said: object) -> None:
    """Nothing is shown but the end."""


with tempfile.TemporaryDirectory() as name:
    place = Path(name).resolve()
    environ = {**os.environ, "FLYBALL_STATE_DIR": str(place / "state")}
    home = open_home(make_repository(place), environ, {})
    control = RunControl(home, Watcher(silence, silence, silence), driver=Parrot())
    wanted = RunRequest("test_greeting fails", intent=Intent.SMALL_FIX)
    result = asyncio.run(control.start(wanted))

    print(f"{result.status}, {result.state.spend.calls} calls")
    print(result.diff, end="")
