"""Which runner tests a tree, and in which directory of it."""

from __future__ import annotations

import os
import shutil
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from flyball.core.suite.part import TOP, Part, PartSuite, is_within, owner_of
from flyball.core.suite.settled import NOTHING_SETTLED, ProjectCommands
from flyball.errors import ToolError, ToolUnavailable
from flyball.tools.call.protocol import CallContext
from flyball.tools.runner.layout import Land, look, texts_of_tests
from flyball.tools.runner.parts import COMMAND, survey_parts
from flyball.tools.runner.row import refusal
from flyball.tools.runner.table import BY_NAME, WRAPPERS, runners_of

INSTALL = {
    "pytest": "Install it in the project's .venv.",
    "jest": "Run `npm install` in the project first.",
    "vitest": "Run `npm install` in the project first.",
    "mocha": "Run `npm install` in the project first.",
    "ava": "Run `npm install` in the project first.",
}


class Choice(NamedTuple):
    """A runner, where to start it, what to pass on, and what to use where it is not installed."""

    name: str
    at: str
    args: tuple[str, ...]
    land: Land
    otherwise: str = ""
    command: str = ""
    """The whole command, where a person settled it."""


def choose(
    wished: str, words: Sequence[str], root: Path, settled: ProjectCommands = NOTHING_SETTLED
) -> Choice:
    """The runner to use, or a sentence about why there is none."""
    if wished and wished not in BY_NAME and wished != COMMAND:
        raise ToolError(f"There is no test runner {wished!r}.", f"Known are {', '.join(BY_NAME)}.")
    land = look(root)
    parts = survey_parts(land, settled)
    named, args = _named_part(words, parts)
    suited = {
        part.path: names
        for part in parts
        if named in (None, part.path) and (names := _names(part, land)) and _fits(wished, names)
    }
    if not suited:
        raise _none(wished, parts, land)
    at = named or _first(suited, args, parts)
    return _settled(wished, at, suited[at], args, parts, land)


def require_allowed(choice: Choice) -> None:
    """Refuse what a driver may not pass on to this runner."""
    if choice.command:
        bad = choice.args[0] if choice.args else ""
    else:
        bad = refusal(BY_NAME[choice.name].accepts, choice.args)
    if bad:
        raise ToolError(f"`{bad}` may not be passed on to {choice.name}.", _allowed(choice))


def _allowed(choice: Choice) -> str:
    if choice.command:
        return "Its command is settled by the user and takes nothing more."
    allowed = BY_NAME[choice.name].accepts
    known = " ".join(sorted(allowed.switches | allowed.options))
    names = "paths and names of tests within the tree" if allowed.names else ""
    return f"It takes {' and '.join(filter(None, (names, known))) or 'no arguments'}."


def _names(part: Part, land: Land) -> tuple[str, ...]:
    """Every runner a part may be tested with: its suites first, then other ways to run them."""
    if not part.suites:
        return ()
    own = tuple(suite.runner for suite in part.suites)
    others = () if COMMAND in own else runners_of(land.below(part.path))
    return tuple(dict.fromkeys((*own, *others)))


def _fits(wished: str, names: Sequence[str]) -> bool:
    """Whether a wish can be met; who wishes for npm gets the runner behind its script."""
    return wished in ("", *names) or wished in WRAPPERS


def _first(suited: Mapping[str, Sequence[str]], args: Sequence[str], parts: Sequence[Part]) -> str:
    """The part that the paths among the words lie in, else the top, else the only one."""
    for word in args:
        path = word.partition("::")[0].removeprefix("./")
        owner = owner_of(parts, path)
        is_path = "/" in path and not word.startswith("-")
        if is_path and owner and owner.path != TOP and owner.path in suited:
            return owner.path
    if TOP in suited:
        return TOP
    if len(suited) == 1:
        return next(iter(suited))
    known = ", ".join(f"{path} ({names[0]})" for path, names in suited.items())
    raise ToolError(
        "Several parts of this project have tests of their own.",
        f"Name one as the first of `args`: {known}.",
    )


def _named_part(words: Sequence[str], parts: Sequence[Part]) -> tuple[str | None, tuple[str, ...]]:
    """The part that the first word names, where it is one with a suite, and the other words."""
    first = os.path.normpath(words[0]) if words and words[0] else ""
    for part in parts:
        if first == part.path != TOP and part.suites:
            return part.path, tuple(words[1:])
    return None, tuple(words)


def _none(wished: str, parts: Sequence[Part], land: Land) -> ToolError:
    """Why nothing can be run: no tests at all, or none for the wished runner."""
    known = {name: part.path for part in parts for name in _names(part, land)}
    if wished and known:
        here = ", ".join(known)
        return ToolError(
            f"This project has no tests that {wished} would run.", f"Its runners are {here}."
        )
    return ToolError(
        "This project has no tests that a known runner would find.",
        "Use `check` for what can be checked, add tests, or settle `test.command`.",
    )


def _settled(
    wished: str,
    at: str,
    names: Sequence[str],
    args: Sequence[str],
    parts: Sequence[Part],
    land: Land,
) -> Choice:
    """A choice for a part of the tree; paths that name the part are seen from within it."""
    name = wished if wished in names else names[0]
    part = next(each for each in parts if each.path == at)
    suite = next((each for each in part.suites if each.runner == name), PartSuite(name, at))
    inner = land.below(at, _tested_inside(at, parts))
    words = tuple(word.removeprefix(f"{at}/") for word in args)
    command = suite.command if name == COMMAND else ""
    stands_in = name == "pytest" and not words and "unittest" in names
    instead = stands_in and any("TestCase" in text for text in texts_of_tests(inner))
    return Choice(name, at, words, inner, "unittest" if instead else "", command)


def _tested_inside(at: str, parts: Sequence[Part]) -> tuple[str, ...]:
    return tuple(p.path for p in parts if p.suites and p.path != at and is_within(p.path, at))


def require(name: str, argv: Sequence[str], context: CallContext) -> None:
    """Say clearly that a runner is not installed, before anything is started."""
    program = argv[0]
    if not shutil.which(program, path=context.env.get("PATH", "")):
        raise not_installed(name, f"there is no program {program!r}")


def not_installed(name: str, why: str) -> ToolUnavailable:
    """A runner that the project needs and does not have."""
    hint = INSTALL.get(name, "Install it, or choose another with `runner`.")
    return ToolUnavailable(f"{name} is not installed for this project: {why}.", hint)
