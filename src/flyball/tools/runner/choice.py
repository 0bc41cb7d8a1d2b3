"""Which runner tests a tree, and in which directory of it."""

from __future__ import annotations

import os
import shutil
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from flyball.errors import ToolError, ToolUnavailable
from flyball.tools.call.protocol import CallContext
from flyball.tools.runner.layout import MARKERS, Land, look, texts_of_tests
from flyball.tools.runner.table import BY_NAME, runners_of

INSTALL = {
    "pytest": "Install it in the project's .venv.",
    "jest": "Run `npm install` in the project first.",
    "vitest": "Run `npm install` in the project first.",
}


PYTHON = ("pytest", "unittest")
PYTHON_TOPS = ("pyproject.toml", "setup.py", "setup.cfg", "pytest.ini", "tox.ini", "conftest.py")


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
    if here and wished in ("", *here):
        part = _home_of_tests(land) if (wished or here[0]) in PYTHON else "."
        return _settled(wished or here[0], root, at, part, args)
    able = {
        part: names
        for part in land.projects
        if (names := runners_of(look(land.root / part))) and wished in ("", *names)
    }
    if len(able) == 1:
        ((part, names),) = able.items()
        return _settled(wished or names[0], root, at, part, args)
    if wished:
        return _settled(wished, root, at, ".", args)
    raise _undecided(able)


def _undecided(able: Mapping[str, Sequence[str]]) -> ToolError:
    if able:
        known = ", ".join(f"{part} ({names[0]})" for part, names in able.items())
        return ToolError(
            "Several parts of this project have tests of their own.",
            f"Name one as the first of `args`: {known}.",
        )
    return ToolError(
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


def _home_of_tests(land: Land) -> str:
    """The part that holds every test, where the top itself is no Python project."""
    if any((land.root / name).exists() for name in PYTHON_TOPS):
        return "."
    homes = {_part_of(path, land.projects) for path in land.python}
    return homes.pop() if len(homes) == 1 else "."


def _part_of(path: str, parts: Sequence[str]) -> str:
    within = [part for part in parts if path.startswith(f"{part}/")]
    return max(within, key=len, default=".")


def _settled(name: str, root: Path, at: str, part: str, args: Sequence[str]) -> Choice:
    """A choice for a part of the tree; paths that name the part are seen from within it."""
    inner = os.path.normpath(f"{at}/{part}")
    land = look(root / inner)
    words = tuple(word.removeprefix(f"{part}/") for word in args)
    stands_in = name == "pytest" and not words and "unittest" in runners_of(land)
    instead = stands_in and any("TestCase" in text for text in texts_of_tests(land))
    return Choice(name, inner, words, land, "unittest" if instead else "")


def require(name: str, argv: Sequence[str], context: CallContext) -> None:
    """Say clearly that a runner is not installed, before anything is started."""
    program = argv[0]
    if not shutil.which(program, path=context.env.get("PATH", "")):
        raise not_installed(name, f"there is no program {program!r}")


def not_installed(name: str, why: str) -> ToolUnavailable:
    """A runner that the project needs and does not have."""
    hint = INSTALL.get(name, "Install it, or choose another with `runner`.")
    return ToolUnavailable(f"{name} is not installed for this project: {why}.", hint)
