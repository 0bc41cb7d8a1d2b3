"""A scripted run on a real repository, through the command that a user types."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any, NamedTuple

from tests.repos import git, repository
from tests.small_python import system_path
from tests.warm import run_command

from flyball.run.codec import decode_event
from flyball.run.event import AnyEvent
from flyball.run.machine import replay
from flyball.run.state import RunState

SCENARIOS = Path(__file__).parent / "scenarios"
FLYBALL = Path(sys.executable).with_name("flyball")

BROKEN = "def total(prices):\n    return sum(prices[1:])\n"
MENDED = "def total(prices):\n    return sum(prices)\n"
FILES: dict[str, str | bytes] = {
    ".gitignore": "__pycache__/\n",
    "README.md": "A cart.\n",
    "cart.py": BROKEN,
    "kept.py": "# VIBE-KEEP START rate\nRATE = 7\n# VIBE-KEEP END rate\n",
    "test_cart.py": (
        "import unittest\n\nfrom cart import total\n\n\n"
        "class TotalTest(unittest.TestCase):\n"
        "    def test_total(self):\n"
        "        self.assertEqual(total([1, 2]), 3)\n"
        "\n"
        "    def test_none(self):\n"
        "        self.assertEqual(total([]), 0)\n"
    ),
}


class Told(NamedTuple):
    """What one command printed and how it ended."""

    exit: int
    lines: list[dict[str, Any]]
    stderr: str

    def of(self, kind: str) -> list[dict[str, Any]]:
        return [line for line in self.lines if line["type"] == kind]

    @property
    def phases(self) -> list[str]:
        return [line["phase"] for line in self.of("phase")]

    @property
    def denied(self) -> list[tuple[str, str]]:
        """Tool and code of every call that was refused."""
        return [(d["tool"], d["code"]) for d in self.of("decision") if d["decision"] == "deny"]

    @property
    def guards(self) -> list[tuple[str, str]]:
        return [(line["guard"], line["level"]) for line in self.of("guard")]

    @property
    def said(self) -> str:
        """Everything the governor told the driver."""
        return "\n".join(line["text"] for line in self.of("governor"))

    @property
    def question(self) -> str:
        """What kind of question the run rests on."""
        asked = self.of("approval")
        return asked[-1]["kind"] if asked else ""

    @property
    def final(self) -> dict[str, Any]:
        return self.of("final")[-1]


class Stage:
    """One project and its runs."""

    def __init__(self, place: Path, files: dict[str, str | bytes] | None = None) -> None:
        self.repo = repository(place / "cart", files or FILES)
        self.place = place
        self.run = ""
        self.env = {
            "PATH": system_path(),
            "HOME": str(place / "home"),
            "LOGNAME": "ada",
            "FLYBALL_STATE_DIR": str(place / "state"),
            "FLYBALL_VERDICT_MUTANT_SECONDS": "0",
        }
        (place / "home").mkdir()

    def start(self, script: str, request: str = "the total is wrong", *flags: str) -> Told:
        """Begin a run that a script drives; without an intent among the flags it is a small fix."""
        intent = () if "--intent" in flags else ("--intent", "small_fix")
        told = self.flyball("run", request, *self.driven_by(script), *intent, *flags)
        self.run = told.of("run")[0]["run"]
        return told

    def driven_by(self, script: str) -> tuple[str, ...]:
        return ("--driver", f"scripted:{SCENARIOS / script}.jsonl", "--json")

    def then(self, *words: str) -> Told:
        """Say something to the run: `approve`, `deny`, `extend 5`, `runs resume` …"""
        at = 2 if words[0] == "runs" else 1
        return self.flyball(*words[:at], self.run, *words[at:], "--json")

    def flyball(self, *words: str) -> Told:
        done = run_command(self.words(*words), Path.cwd(), self.env)
        lines = [json.loads(line) for line in done.stdout.split("\n") if line.startswith("{")]
        return Told(done.returncode, [each for each in lines if "type" in each], done.stderr)

    def words(self, *words: str) -> list[str]:
        return [*words, "--repo", str(self.repo)]

    def command(self, *words: str) -> list[str]:
        return [str(FLYBALL), *self.words(*words)]

    def events(self) -> list[AnyEvent]:
        """The run's log, checked for gaps."""
        done = run_command(self.words("runs", "export", self.run), Path.cwd(), self.env)
        assert done.returncode == 0, done.stderr
        entries = [json.loads(line) for line in done.stdout.splitlines()[1:]]
        assert [entry["seq"] for entry in entries] == list(range(1, len(entries) + 1))
        return [decode_event(json.dumps(entry["event"]).encode()) for entry in entries]

    def state(self) -> RunState:
        return replay(self.events())

    def committed(self, path: str) -> str | None:
        """A file as the run's branch has it."""
        ref = f"flyball/{self.run}"
        if path not in git(self.repo, "ls-tree", "-r", "--name-only", ref).split("\n"):
            return None
        return git(self.repo, "show", f"{ref}:{path}")

    def worked(self, path: str) -> str | None:
        """A file as the run's own tree has it now."""
        return self._place_of(path).read_text() if self.has(path) else None

    def has(self, path: str) -> bool:
        return self._place_of(path).exists()

    def put(self, path: str) -> None:
        """An empty file in the run's own tree."""
        self._place_of(path).touch()

    def _place_of(self, path: str) -> Path:
        (tree,) = self.place.glob(f"state/projects/*/runs/{self.run}/tree/cart")
        return tree / path
