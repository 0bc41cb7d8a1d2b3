"""The known checks: how each is recognised and started, and what it verifies."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Mapping
from typing import NamedTuple

from flyball.shell import verification_kind
from flyball.terms.evidence import CheckKind
from flyball.verdict.part import TOP
from flyball.verdict.runners.layout import FileIndex, depends_on, npm_script, python_tools
from flyball.verdict.runners.start_context import StartContext
from flyball.verdict.runners.start_env import program_of, python_of, venv_of, with_own_programs
from flyball.verdict.settled import SettledCommand

IsHere = Callable[[FileIndex], bool]
Argv = Callable[[StartContext, FileIndex], list[str]]


class Check(NamedTuple):
    """One way to check a project without running its tests."""

    name: str
    kind: CheckKind
    is_here: IsHere
    argv: Argv
    at: str = TOP
    is_of_change: bool = False
    """Whether it reports only what the change introduced."""


def _has(*names: str) -> IsHere:
    return lambda land: land.has(*names)


def _configures(tool: str, *files: str) -> IsHere:
    """Return a condition that looks for a tool's table in pyproject.toml, or its own file."""
    return lambda land: tool in python_tools(land) or _has(*files)(land)


def _configures_mypy(land: FileIndex) -> bool:
    in_cfg = "[mypy]" in land.text("setup.cfg")
    return in_cfg or _configures("mypy", "mypy.ini", ".mypy.ini")(land)


def _has_eslint(land: FileIndex) -> bool:
    endings = ("js", "mjs", "cjs", "ts")
    flat = _has(*(f"eslint.config.{ending}" for ending in endings))
    return depends_on(land, "eslint") or flat(land)


def _has_build_script(land: FileIndex) -> bool:
    return bool(npm_script(land, "build"))


def _makes_build(land: FileIndex) -> bool:
    return re.search(r"^build[ \t]*:(?![:=]*=)", land.text("Makefile"), re.M) is not None


def _has_python(land: FileIndex) -> bool:
    return land.has_python


def _program(name: str, *words: str) -> Argv:
    return lambda context, _land: [program_of(context, name), *words]


def _pyright(context: StartContext, _land: FileIndex) -> list[str]:
    own = ["--pythonpath", python_of(context)] if venv_of(context) else []
    return [program_of(context, "pyright"), *own]


def _mypy(context: StartContext, land: FileIndex) -> list[str]:
    settles_files = "files" in python_tools(land).get("mypy", {})
    where = [] if settles_files else ["."]
    return [program_of(context, "mypy"), f"--cache-dir={context.cache / 'mypy'}", *where]


def _compileall(context: StartContext, land: FileIndex) -> list[str]:
    """Return a command that compiles every source file again, except those of environments."""
    apart = "|".join([r"\.[^/.][^/]*", "node_modules"])
    venvs = "".join(rf"|^\./{re.escape(path)}/" for path in land.venvs)
    left_out = rf"^\./(?:.*/)?(?:{apart})/{venvs}"
    return [python_of(context), "-m", "compileall", "-q", "-f", "-x", left_out, "."]


CHECKS: tuple[Check, ...] = (
    Check("cargo", CheckKind.BUILD, _has("Cargo.toml"), _program("cargo", "check")),
    Check(
        "go-build",
        CheckKind.BUILD,
        _has("go.mod"),
        _program("go", "build", "-o", os.devnull, "./..."),
    ),
    Check("build", CheckKind.BUILD, _has_build_script, _program("npm", "run", "build")),
    Check("make-build", CheckKind.BUILD, _makes_build, _program("make", "build")),
    Check("tsc", CheckKind.TYPES, _has("tsconfig.json"), _program("tsc", "--noEmit")),
    Check("pyright", CheckKind.TYPES, _configures("pyright", "pyrightconfig.json"), _pyright),
    Check("mypy", CheckKind.TYPES, _configures_mypy, _mypy),
    Check("ty", CheckKind.TYPES, _configures("ty", "ty.toml"), _program("ty", "check")),
    Check("go-vet", CheckKind.DIAGNOSTICS, _has("go.mod"), _program("go", "vet", "./...")),
    Check(
        "ruff",
        CheckKind.LINT,
        _configures("ruff", "ruff.toml", ".ruff.toml"),
        _program("ruff", "check", "--no-cache", "."),
    ),
    Check("eslint", CheckKind.LINT, _has_eslint, _program("eslint", ".")),
    Check("compileall", CheckKind.SYNTAX, _has_python, _compileall),
)

BY_NAME: dict[str, Check] = {check.name: check for check in CHECKS}


_SETTLED_KINDS = {
    "build": CheckKind.BUILD,
    "types": CheckKind.TYPES,
    "lint": CheckKind.LINT,
    "import": CheckKind.SYNTAX,
    "syntax": CheckKind.SYNTAX,
}


def settled_checks(land: FileIndex, settled: Mapping[str, SettledCommand]) -> tuple[Check, ...]:
    """Return the checks of a tree, in which configured checks replace detected ones.

    What a configured command verifies is derived from its words; an unknown command counts as a
    diagnosis.
    """
    own = [
        Check(
            each.command,
            _SETTLED_KINDS.get(verification_kind(each.command) or "", CheckKind.DIAGNOSTICS),
            always,
            _shell(each.command),
            at,
        )
        for at, each in settled.items()
    ]
    return (*own, *(() if TOP in settled else checks_of(land)))


def always(_land: FileIndex) -> bool:
    """Return True: a named or detected check always applies."""
    return True


def _shell(command: str) -> Argv:
    return lambda context, _land: ["sh", "-c", with_own_programs(command, context)]


def checks_of(land: FileIndex, *, is_top: bool = True) -> tuple[Check, ...]:
    """Return the checks that this tree is set up for, strongest first; only the top checks
    syntax."""
    return tuple(
        check
        for check in CHECKS
        if check.is_here(land) and (is_top or check.kind is not CheckKind.SYNTAX)
    )
