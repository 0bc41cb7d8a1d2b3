"""Choose the runner for a tree, and the directory in it."""

from __future__ import annotations

import os
import posixpath
import shutil
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from flyball.errors import ToolError, ToolUnavailable
from flyball.regex import regex
from flyball.verdict.part import TOP, Part, PartSuite, is_within, owner_of
from flyball.verdict.runners.layout import (
    LINKED_OUT,
    FileIndex,
    look,
    python_tools,
    table_of,
    texts_of_tests,
)
from flyball.verdict.runners.parts import COMMAND, PYTHON, survey_parts
from flyball.verdict.runners.row import refusal
from flyball.verdict.runners.start_context import StartContext
from flyball.verdict.runners.table import BY_NAME, WRAPPERS, runners_of
from flyball.verdict.settled import NOTHING_SETTLED, ProjectCommands

SET_UPS: tuple[tuple[str, str], ...] = (
    ("uv.lock", "uv sync"),
    ("poetry.lock", "poetry install"),
    ("pdm.lock", "pdm install"),
    ("Pipfile.lock", "pipenv install --dev"),
    ("environment.yml", "conda env create -f environment.yml"),
    ("environment.yaml", "conda env create -f environment.yaml"),
)
"""A file of a Python project, and the command that makes its environment."""
CLIENTS: tuple[tuple[str, str], ...] = (
    ("pnpm-lock.yaml", "pnpm install"),
    ("yarn.lock", "yarn install"),
    ("bun.lock", "bun install"),
    ("bun.lockb", "bun install"),
    ("package-lock.json", "npm ci"),
)
OTHERS = {
    "rspec": "bundle install",
    "rake": "bundle install",
    "phpunit": "composer install",
    "mix": "mix deps.get",
}
FETCHES = {
    "maven": ("mvnw", "mvn test"),
    "gradle": ("gradlew", "gradle test"),
    "go": ("", "go mod download"),
    "cargo": ("", "cargo fetch"),
}
"""The project's wrapper of a build tool, and the command that fetches what its tests need."""
TEST_EXTRAS = ("test", "tests", "testing", "dev")


TOLD_BY = regex(
    r"pyproject\.toml|setup\.cfg|tox\.ini|noxfile\.py|pytest\.ini|package\.json|go\.mod"
    r"|Cargo\.toml|pom\.xml|build\.gradle(?:\.kts)?|CMakeLists\.txt|(?:GNU)?[Mm]akefile"
    r"|[Jj]ustfile|Gemfile|[Rr]akefile|composer\.json|mix\.exs|deno\.jsonc?"
)
"""Files that may say how a project is tested."""
SHOWN = 6


class Choice(NamedTuple):
    """A runner, where to start it, its arguments, and the fallback if it is not installed."""

    name: str
    at: str
    args: tuple[str, ...]
    land: FileIndex
    otherwise: str = ""
    command: str = ""
    """The whole command, if a person configured it."""


def choose(
    requested: str, words: Sequence[str], root: Path, settled: ProjectCommands = NOTHING_SETTLED
) -> Choice:
    """Return the runner to use, or a sentence that explains why there is none."""
    if requested and requested not in BY_NAME and requested != COMMAND:
        raise ToolError(
            f"There is no test runner {requested!r}.", f"Known are {', '.join(BY_NAME)}."
        )
    land = look(root)
    parts = survey_parts(land, settled)
    named, args = _named_part(words, parts)
    suited = {
        part.path: names
        for part in parts
        if named in (None, part.path) and (names := _names(part, land)) and _fits(requested, names)
    }
    if not suited:
        raise _none(requested, parts, land)
    at = named or _first(suited, args, parts)
    return _settled(requested, at, suited[at], args, parts, land)


def require_allowed(choice: Choice) -> None:
    """Refuse arguments that a driver may not pass on to this runner."""
    if choice.command:
        bad = choice.args[0] if choice.args else ""
    else:
        bad = refusal(BY_NAME[choice.name].accepts, choice.args)
    if bad:
        raise ToolError(f"`{bad}` may not be passed on to {choice.name}.", _allowed(choice))


def _allowed(choice: Choice) -> str:
    if choice.command:
        return "Its command is configured by the user and takes no arguments."
    allowed = BY_NAME[choice.name].accepts
    known = " ".join(sorted(allowed.switches | allowed.options))
    names = "paths and names of tests within the tree" if allowed.names else ""
    return f"It takes {' and '.join(filter(None, (names, known))) or 'no arguments'}."


def _names(part: Part, land: FileIndex) -> tuple[str, ...]:
    """Return every runner for a part: its suites first, then other ways to run them."""
    if not part.suites:
        return ()
    own = tuple(suite.runner for suite in part.suites)
    others = () if COMMAND in own else runners_of(land.below(part.path))
    return tuple(dict.fromkeys((*own, *others)))


def _fits(requested: str, names: Sequence[str]) -> bool:
    """Return whether a requested runner is available; `npm` means the runner behind its script."""
    return requested in ("", *names) or requested in WRAPPERS


def _first(suited: Mapping[str, Sequence[str]], args: Sequence[str], parts: Sequence[Part]) -> str:
    """Return the part that contains the paths in the words, else the top, else the only one."""
    for word in args:
        is_path = "/" in word.partition("::")[0] and not word.startswith("-")
        owner = owner_of(parts, posixpath.normpath(word.partition("::")[0]))
        if is_path and owner and owner.path != TOP and owner.path in suited:
            return owner.path
    if TOP in suited:
        return TOP
    if len(suited) == 1:
        return next(iter(suited))
    known = ", ".join(f"{path} ({names[0]})" for path, names in suited.items())
    raise ToolError(
        "Several parts of this project have their own tests.",
        f"Name one as the first of `args`: {known}.",
    )


def _named_part(words: Sequence[str], parts: Sequence[Part]) -> tuple[str | None, tuple[str, ...]]:
    """Return the part that the first word names, if it has a suite, and the other words."""
    first = os.path.normpath(words[0]) if words and words[0] else ""
    for part in parts:
        if first == part.path != TOP and part.suites:
            return part.path, tuple(words[1:])
    return None, tuple(words)


def _none(requested: str, parts: Sequence[Part], land: FileIndex) -> ToolError:
    """Return why nothing can be run: no tests at all, or none for the requested runner."""
    known = {name: part.path for part in parts for name in _names(part, land)}
    if requested and known:
        here = ", ".join(known)
        return ToolError(
            f"This project has no tests that {requested} would run.", f"Its runners are {here}."
        )
    looked = [path for path in land.files if TOLD_BY.fullmatch(posixpath.basename(path))]
    seen = f", {', '.join(looked[:SHOWN])} among them" if looked else ""
    linked = "".join(f" {each} is {LINKED_OUT}." for each in land.tests_linked_out[:SHOWN])
    return ToolError(
        "This project has no tests that a known runner would find: "
        f"{len(land.files)} files were looked at{seen}.{linked}",
        "If it has tests, a person names their command in `test.command`; else use `check`.",
    )


def _settled(
    requested: str,
    at: str,
    names: Sequence[str],
    args: Sequence[str],
    parts: Sequence[Part],
    land: FileIndex,
) -> Choice:
    """Return a choice for a part of the tree; paths that name the part are made relative to it."""
    name = requested if requested in names else names[0]
    part = next(each for each in parts if each.path == at)
    suite = next((each for each in part.suites if each.runner == name), PartSuite(name, at))
    inner = land.below(at, _tested_inside(at, parts))
    words = tuple(seen for word in args if (seen := _seen_from(at, word)))
    command = suite.command if name == COMMAND else ""
    stands_in = name == "pytest" and not words and "unittest" in names
    instead = stands_in and any("TestCase" in text for text in texts_of_tests(inner))
    return Choice(name, at, words, inner, "unittest" if instead else "", command)


def _seen_from(at: str, word: str) -> str:
    """Return a path of the tree relative to a part of it; empty for the part itself."""
    if at == TOP or word.startswith("-"):
        return word
    path, double_colon, rest = word.partition("::")
    whole = posixpath.normpath(path)
    if whole == at:
        return ""
    return f"{whole.removeprefix(f'{at}/')}{double_colon}{rest}" if is_within(whole, at) else word


def _tested_inside(at: str, parts: Sequence[Part]) -> tuple[str, ...]:
    return tuple(p.path for p in parts if p.suites and p.path != at and is_within(p.path, at))


def set_up_command(name: str, land: FileIndex) -> str:
    """Return the project's own command that installs what a runner needs; empty if unknown."""
    if name in PYTHON:
        return _python_set_up(land)
    if land.has("package.json") and name not in NOT_NODE:
        return next((command for file, command in CLIENTS if land.has(file)), "npm install")
    return OTHERS.get(name, "")


def fetch_command(choice: Choice) -> str:
    """Return the command that fetches what a build needs from the network; empty if unknown."""
    wrapper, command = FETCHES.get(choice.name, ("", ""))
    if wrapper and choice.land.has(wrapper):
        return f"./{wrapper} {command.partition(' ')[2]}"
    return command


NOT_NODE = frozenset(OTHERS) | {"go", "cargo", "maven", "gradle", "dotnet", "ctest", "bats"}


def _python_set_up(land: FileIndex) -> str:
    if known := next((command for file, command in SET_UPS if land.has(file)), ""):
        return known
    if "hatch" in python_tools(land):
        return "hatch env create"
    venv = "python3 -m venv .venv && .venv/bin/pip install"
    project = table_of(land.pyproject.get("project"))
    extras = table_of(project.get("optional-dependencies"))
    if extra := next((each for each in TEST_EXTRAS if each in extras), ""):
        return f"{venv} -e '.[{extra}]'"
    for file in ("requirements-dev.txt", "requirements-test.txt", "requirements.txt"):
        if land.has(file):
            return f"{venv} -r {file} pytest"
    if land.has("tox.ini"):
        return "tox devenv .venv"
    return f"{venv} -e . pytest" if land.has("pyproject.toml", "setup.py") else f"{venv} pytest"


def require(choice: Choice, argv: Sequence[str], context: StartContext) -> None:
    """Fail with a clear message if a runner is not installed, before anything is started."""
    program = argv[0]
    # A project's own wrapper (`./mvnw`) is in the tree, wherever Flyball itself was started.
    place = os.fspath(context.workdir / program) if "/" in program else program
    if not shutil.which(place, path=context.env.get("PATH", "")):
        raise not_installed(choice, f"there is no program {program!r}")


def not_installed(choice: Choice, why: str) -> ToolUnavailable:
    """Return the error for a runner that the project needs and does not have."""
    command = set_up_command(choice.name, choice.land)
    where = "the project" if choice.at == TOP else choice.at
    hint = f"A person runs `{command}` in {where}." if command else "A person installs it."
    return ToolUnavailable(f"{choice.name} is not installed for this project: {why}.", hint)
