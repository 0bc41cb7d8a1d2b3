"""One row of the table of test runners."""

from __future__ import annotations

import re
import shlex
from collections.abc import Callable, Sequence
from pathlib import Path, PurePosixPath
from typing import NamedTuple

from flyball.verdict.case import SuiteCase
from flyball.verdict.runners.layout import FileIndex
from flyball.verdict.runners.pace import Steps
from flyball.verdict.runners.reports.output import RunnerOutput
from flyball.verdict.runners.start_context import StartContext
from flyball.verdict.runners.tally import Tally

Read = Callable[[RunnerOutput], Tally | None]
"""A runner's output in; its tally out, or None if nothing could be counted."""

Argv = Callable[[StartContext, FileIndex, Sequence[str]], list[str]]
Reports = Callable[[StartContext], Sequence[Path]]
Select = Callable[[Sequence[str], Sequence[SuiteCase]], tuple[str, ...] | None]
"""Test files and tests in; the words that run only those, or None where the runner cannot."""

Tell = Callable[[StartContext, str], str]
"""A command that starts the runner in; the same with options to write a report out."""


def adding(told: Callable[[StartContext], Sequence[str]]) -> Tell:
    """Return a command with these words appended."""
    return lambda context, command: f"{command} {shlex.join(told(context))}"


class Accepts(NamedTuple):
    """The arguments that a driver may pass to a runner; no others reach it."""

    switches: frozenset[str] = frozenset()
    options: frozenset[str] = frozenset()
    """Options that take a value, in the same word after `=` or in the next one."""
    names: bool = True
    """Whether paths and names of tests may be given."""
    commands: frozenset[str] = frozenset()
    """Names that it would take for a command of its own."""
    like: str = ""
    """A pattern that names must fit, where any other would be a task that does not test."""


def accepts(
    switches: str = "",
    options: str = "",
    *,
    names: bool = True,
    commands: str = "",
    like: str = "",
) -> Accepts:
    """Return an allow-list from words separated by blanks."""
    listed = (frozenset(words.split()) for words in (switches, options, commands))
    return Accepts(next(listed), next(listed), names, next(listed), like)


def split_words(allowed: Accepts, words: Sequence[str]) -> tuple[list[str], list[str]]:
    """Return the options with their values, and separately the paths and names."""
    options: list[str] = []
    names: list[str] = []
    waiting = iter(words)
    for word in waiting:
        if not word.startswith("-"):
            names.append(word)
            continue
        options.append(word)
        if word in allowed.options:
            options += [value for value in [next(waiting, None)] if value is not None]
    return options, names


def refusal(allowed: Accepts, words: Sequence[str]) -> str:
    """Return the first word that may not be passed on, or an empty string."""
    waiting = iter(words)
    for word in words:
        if any(ord(letter) < 32 for letter in word):
            return repr(word)
    for word in waiting:
        if word == "--":
            continue
        if not word.startswith("-"):
            if not allowed.names or word in allowed.commands or not is_plain_name(word):
                return word
            if allowed.like and not re.fullmatch(allowed.like, word):
                return word
            continue
        name, equals, _ = word.partition("=")
        if name in allowed.options:
            if not equals and next(waiting, None) is None:
                return word
        elif word not in allowed.switches and not _is_cluster(word, allowed):
            return word
    return ""


def is_plain_name(word: str) -> bool:
    """Return whether a word is a path in the tree or a test's name: no assignment, no argument
    file."""
    path = PurePosixPath(word.partition("::")[0])
    leads_out = path.is_absolute() or ".." in path.parts
    return bool(word) and not leads_out and not re.match(r"@|\w+:?=", word)


def _is_cluster(word: str, allowed: Accepts) -> bool:
    """Return whether a word is a group of short switches (`-xvs`), or a short option with its value
    (`-k3`)."""
    if word.startswith("--") or len(word) < 3:
        return False
    if word[:2] in allowed.options:
        return True
    return all(f"-{letter}" in allowed.switches for letter in word[1:])


def own_reports(context: StartContext) -> Sequence[Path]:
    """Return the reports in this start's report directory."""
    return sorted(context.shelf.glob("report*"))


def cannot_select(_files: Sequence[str], _cases: Sequence[SuiteCase]) -> None:
    """Return None: the runner runs everything or nothing."""
    return


class Runner(NamedTuple):
    """One test runner: how it is recognised, started, narrowed, and read."""

    name: str
    is_here: Callable[[FileIndex], bool]
    argv: Argv
    read: Read
    accepts: Accepts
    select: Select = cannot_select
    reports: Reports = own_reports
    describe: Callable[[FileIndex], str] = lambda _land: ""
    """The project's own words for it, such as its script."""
    steps: Steps | None = None
    """How its output shows which tests began and ended."""
    typed: str = ""
    """What people type to start it, where its name alone is another command."""
    build: Argv | None = None
    """Builds what the tests need, dependencies above all, and runs none of them."""
    tell: Tell = lambda _context, command: command
    keeps_order: bool = False
    """Whether selected tests run in the order in which they are named."""
