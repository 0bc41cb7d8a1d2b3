"""Which runner tests a tree, and in which directory of it."""

from __future__ import annotations

import os
import shutil
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from flyball.errors import ToolError, ToolUnavailable
from flyball.tools.runner.land import MARKERS, Land, look, texts_of_tests
from flyball.tools.runner.setting import Setting
from flyball.tools.runner.table import BY_NAME, runners_of

INSTALL = {
    "pytest": "Install it in the project's .venv.",
    "jest": "Run `npm install` in the project first.",
    "vitest": "Run `npm install` in the project first.",
}


class Choice(NamedTuple):
    """A runner, where to start it, what to pass on, and what to use where it is not installed."""

    name: str
    at: str
    args: tuple[str, ...]
    land: Land
    otherwise: str = ""


def choose(wished: str, words: Sequence[str], root: Path) -> Choice:
    """The runner to use, or a sentence about why there is none."""
    if wished and wished not in BY_NAME:
        raise ToolError(f"There is no test runner {wished!r}.", f"Known are {', '.join(BY_NAME)}.")
    at, args = _part(words, root)
    land = look(root / at)
    here = runners_of(land)
    if wished or here:
        return _settled(wished, at, args, land, here)
    parts = {part: runners_of(look(land.root / part)) for part in land.projects}
    able = {part: names for part, names in parts.items() if names}
    if len(able) == 1:
        ((part, names),) = able.items()
        inner = os.path.normpath(f"{at}/{part}")
        return _settled("", inner, args, look(root / inner), names)
    if able:
        known = ", ".join(f"{part} ({names[0]})" for part, names in able.items())
        raise ToolError(
            "Several parts of this project have tests of their own.",
            f"Name one as the first of `args`: {known}.",
        )
    raise ToolError(
        "This project has no tests that a known runner would find.",
        "Use `check` for what can be checked, or add tests.",
    )


def runners_below(land: Land) -> tuple[str, ...]:
    """The runners of a tree, or of its parts where it has none itself."""
    found = runners_of(land)
    for part in () if found else land.projects:
        found += runners_of(look(land.root / part))
    return tuple(dict.fromkeys(found))


def _part(words: Sequence[str], root: Path) -> tuple[str, tuple[str, ...]]:
    """The part of the tree that the first word names, where that is a project of its own."""
    first = words[0] if words else ""
    place = Path(os.path.realpath(root / first))
    top = Path(os.path.realpath(root))
    if not first or first.startswith("-") or place == top or not place.is_relative_to(top):
        return ".", tuple(words)
    if place.is_dir() and any((place / marker).exists() for marker in MARKERS):
        return os.fspath(place.relative_to(top)), tuple(words[1:])
    return ".", tuple(words)


def _settled(
    wished: str, at: str, args: tuple[str, ...], land: Land, here: Sequence[str]
) -> Choice:
    name = wished or here[0]
    cases = not wished and "unittest" in here[1:] and not args
    instead = cases and any("TestCase" in text for text in texts_of_tests(land))
    return Choice(name, at, args, land, "unittest" if instead else "")


def require(name: str, argv: Sequence[str], setting: Setting) -> None:
    """Say clearly that a runner is not installed, before anything is started."""
    program = argv[0]
    if not shutil.which(program, path=setting.env.get("PATH", "")):
        raise not_installed(name, f"there is no program {program!r}")


def not_installed(name: str, why: str) -> ToolUnavailable:
    """A runner that the project needs and does not have."""
    hint = INSTALL.get(name, "Install it, or choose another with `runner`.")
    return ToolUnavailable(f"{name} is not installed for this project: {why}.", hint)
