"""Configured commands: the runner that each starts, and how to make it report."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from flyball.regex import regex
from flyball.verdict.runners.pace import Steps
from flyball.verdict.runners.reports.output import RunnerOutput
from flyball.verdict.runners.reports.unknown import documents_left, from_unknown
from flyball.verdict.runners.row import Runner
from flyball.verdict.runners.rows.script import commands_in
from flyball.verdict.runners.start_context import StartContext
from flyball.verdict.runners.start_env import with_own_programs
from flyball.verdict.runners.table import BY_NAME
from flyball.verdict.runners.tally import Tally

STARTERS: tuple[tuple[str, ...], ...] = (
    *(("coverage", "run", "-m"), ("python", "-m"), ("python3", "-m")),
    *((tool, "run") for tool in ("uv", "poetry", "pdm", "pipenv", "hatch", "rye", "yarn", "pnpm")),
    *(("pnpm", "exec"), ("bundle", "exec"), ("yarn",), ("pnpm",), ("npx",), ("bunx",)),
    *(("env",), ("c8",), ("nyc",), ("cross-env",), ("time",)),
)
"""Programs that do nothing but start the one behind them; the longer forms come first."""

PROGRAMS: dict[tuple[str, ...], str] = {
    ("pytest",): "pytest",
    ("py.test",): "pytest",
    ("unittest",): "unittest",
    ("vitest",): "vitest",
    ("jest",): "jest",
    ("mocha",): "mocha",
    ("_mocha",): "mocha",
    ("ava",): "ava",
    ("tape",): "tape",
    ("tap",): "tap",
    ("node", "--test"): "node",
    ("go", "test"): "go",
    ("cargo", "test"): "cargo",
    ("mvn", "test"): "maven",
    ("mvnw", "test"): "maven",
    ("gradle", "test"): "gradle",
    ("gradlew", "test"): "gradle",
    ("dotnet", "test"): "dotnet",
    ("ctest",): "ctest",
    ("rspec",): "rspec",
    ("phpunit",): "phpunit",
    ("mix", "test"): "mix",
    ("deno", "test"): "deno",
    ("bats",): "bats",
}
"""A program, and the word that must follow it, by the runner they start."""

_ASSIGNMENT = regex(r"[A-Za-z_]\w*=")
_ENDS_OPTIONS = frozenset({"--", "-args", "--args"})


class SettledStart(NamedTuple):
    """How to start a configured command and read its output."""

    argv: list[str]
    runner: Runner | None

    @property
    def name(self) -> str:
        """Return the name of the runner behind the command; empty if unknown."""
        return self.runner.name if self.runner else ""

    @property
    def steps(self) -> Steps | None:
        """Return a reader of the started and ended tests in the runner's output."""
        return self.runner.steps if self.runner else None

    def reports(self, context: StartContext) -> Sequence[Path]:
        """Return the reports of a known runner, and any others the command may have written."""
        own = [*self.runner.reports(context)] if self.runner else []
        return own or documents_left(context)

    def read(self, said: RunnerOutput) -> Tally | None:
        """Parse the results as the runner's own, or if it is unknown, as anything recognisable."""
        found = self.runner.read(said) if self.runner else None
        return found or from_unknown(said)


def start_settled(command: str, context: StartContext) -> SettledStart:
    """Return a shell that runs the command with only the options added that make a known runner
    report.

    The project's installed programs come first, as in the user's own shell.
    """
    steps = commands_in(command) or []
    known = [(n, name) for n, step in enumerate(steps) if (name := runner_behind(step))]
    runner = BY_NAME[known[0][1]] if len(known) == 1 else None
    if runner is not None:
        steps[known[0][0]] = _with_report(runner, steps[known[0][0]], context)
        command = " && ".join(steps)
    return SettledStart(["sh", "-c", with_own_programs(command, context)], runner)


def runner_behind(step: str) -> str:
    """Return the runner that a command starts; empty if it is not a known one."""
    words = _unwrapped(_words(step))
    for (program, *more), name in PROGRAMS.items():
        if words and words[0] == program and set(more) <= set(words[1:]):
            return name
    return ""


def _with_report(runner: Runner, step: str, context: StartContext) -> str:
    """Return the command with its runner's report options; words after `--` belong to another
    program."""
    return step if _ENDS_OPTIONS & {*_words(step)} else runner.tell(context, step)


def _words(step: str) -> list[str]:
    return shlex.split(step, comments=True)


def _unwrapped(words: Sequence[str]) -> list[str]:
    """Return the program that is finally started, without its directory, and its arguments."""
    left = list(words)
    while left:
        if _ASSIGNMENT.match(left[0]):
            left = left[1:]
            continue
        left[0] = left[0].rpartition("/")[2]
        starter = next((each for each in STARTERS if tuple(left[: len(each)]) == each), None)
        if starter is None:
            return left
        left = left[len(starter) :]
        while left and left[0].startswith("-"):
            left = left[1:]
    return left
