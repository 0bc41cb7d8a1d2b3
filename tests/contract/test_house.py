"""The house is one that a stranger can draw from memory: its rooms, floors, lists and names."""

from __future__ import annotations

import ast
import importlib
import re
import tokenize
from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from pathlib import Path

import click
import pytest

from flyball.cli import COMMANDS
from flyball.shell.rule import Rule
from flyball.tools.call.protocol import Tool
from flyball.tools.toolbox import TOOLS

ROOT = Path(__file__).parents[2]
SRC = ROOT / "src" / "flyball"


def module_of(path: Path) -> str:
    parts = ("flyball", *path.relative_to(SRC).with_suffix("").parts)
    return ".".join(parts).removesuffix(".__init__")


FILES = {module_of(path): path for path in sorted(SRC.rglob("*.py"))}


def parsed(path: Path) -> ast.Module:
    return ast.parse(path.read_text())


ROOMS = [path.parent for path in FILES.values() if path.name == "__init__.py"]


@cache
def imported(module: str) -> frozenset[str]:
    """Return the modules of ours that a module imports; of a package, those it takes names from."""
    found: set[str] = set()
    waiting: list[ast.AST] = [parsed(FILES[module])]
    while waiting:
        for node in ast.iter_child_nodes(waiting.pop()):
            if isinstance(node, ast.Import):
                found.update(alias.name for alias in node.names)
            elif isinstance(node, ast.ImportFrom) and node.module:
                inner = [f"{node.module}.{alias.name}" for alias in node.names]
                found.update(name if name in FILES else node.module for name in inner)
            elif not isinstance(node, ast.expr):
                waiting.append(node)
    return frozenset(found & FILES.keys())


def name_of(room: Path) -> str:
    return str(room.relative_to(SRC))


def files_in(room: Path) -> list[Path]:
    return [path for path in sorted(room.glob("*.py")) if not path.name.startswith("__")]


def test_a_room_says_what_lives_there():
    told = {room: ast.get_docstring(parsed(room / "__init__.py")) or "" for room in ROOMS}
    mute = [room for room, text in told.items() if not re.search(r"[.:]$", text.partition("\n")[0])]
    assert mute == [], "one sentence each, for the map"


def own_values(path: Path) -> list[object]:
    """What a module defines itself, at its top."""
    module = importlib.import_module(module_of(path))
    names: set[str] = set()
    for node in parsed(path).body:
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            names.add(node.name)
        elif isinstance(node, ast.Assign):
            names.update(each.id for each in node.targets if isinstance(each, ast.Name))
        elif isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name):
            names.add(node.target.id)
    return [getattr(module, name) for name in sorted(names)]


@pytest.mark.parametrize("path", files_in(SRC / "tools"), ids=lambda path: path.stem)
def test_each_file_among_the_tools_is_a_tool(path: Path):
    tools = [value for value in own_values(path) if isinstance(value, Tool)]
    assert tools
    assert all(tool in TOOLS for tool in tools)


def commands_below(command: click.Command) -> Iterator[click.Command]:
    yield command
    if isinstance(command, click.Group):
        context = click.Context(command)
        for name in command.list_commands(context):
            inner = command.get_command(context, name)
            assert inner is not None
            yield from commands_below(inner)


@cache
def every_command() -> list[click.Command]:
    found: list[click.Command] = []
    for place in COMMANDS.values():
        module, _, name = place.partition(":")
        found += commands_below(getattr(importlib.import_module(module), name))
    return found


@pytest.mark.parametrize("path", files_in(SRC / "cli"), ids=lambda path: path.stem)
def test_each_file_among_the_commands_is_a_command(path: Path):
    """Or a part of the one that its name begins with."""
    own = [value for value in own_values(path) if isinstance(value, click.Command)]
    whole = path.with_stem(path.stem.partition("_")[0])
    if not own and whole != path:
        assert module_of(path) in imported(module_of(whole))
        return
    assert own
    assert all(command in every_command() for command in own)


def is_check(value: object) -> bool:
    return callable(value) and "Inquiry" in getattr(value, "__annotations__", {}).values()


@pytest.mark.parametrize("path", files_in(SRC / "shell/programs"), ids=lambda path: path.stem)
def test_each_file_among_the_programs_has_rules_of_programs(path: Path):
    """Or the check of one, where words do not suffice."""
    values = own_values(path)
    tables = [value for value in values if isinstance(value, dict)]
    rules = [*values, *(rule for table in tables for rule in table.values())]
    assert any(isinstance(rule, Rule) or is_check(rule) for rule in rules)


def part_of(module: str, room: str) -> str:
    """The sub-room, or the file, of a room that a module lies in; empty if outside."""
    prefix = f"flyball.{room}."
    return module.removeprefix(prefix).partition(".")[0] if module.startswith(prefix) else ""


HOOK = "flyball.hosts.client"
"""Imports the rest of its room inside functions, and only where it must judge by itself."""


def neighbours(room: str) -> dict[str, set[str]]:
    """Each part of a room with the other parts that it imports."""
    found: dict[str, set[str]] = {}
    for module in FILES:
        if own := part_of(module, room):
            taken = imported(module) if module != HOOK else frozenset[str]()
            others = {part_of(other, room) for other in taken}
            found.setdefault(own, set()).update(others - {own, ""})
    return found


def leftover(parts: Mapping[str, Iterable[str]]) -> set[str]:
    """What remains when parts that need nothing above them are taken away: the cycles."""
    rest = {part: set(others) for part, others in parts.items()}
    while ground := {part for part, others in rest.items() if not others & rest.keys()}:
        rest = {part: others for part, others in rest.items() if part not in ground}
    return set(rest)


PARENTS = sorted({name_of(room.parent) for room in ROOMS if room != SRC})


@pytest.mark.parametrize("room", [each for each in PARENTS if each != "."])
def test_sub_rooms_and_the_files_beside_them_have_an_order(room: str):
    assert leftover(neighbours(room.replace("/", "."))) == set()


EXPLAINED = (
    "run", "engine", "workspace/trees", "workspace/sandbox", "repair",
)  # fmt: skip
PER = 100
FOR_MACHINES = re.compile(r"#\s*(!|noqa|type:|pragma|pyright:|fmt:|ruff:)")


def comments(path: Path) -> int:
    """How many comments for people a file has; lines that follow each other are one."""
    with path.open("rb") as file:
        tokens = list(tokenize.tokenize(file.readline))
    lines = {
        token.start[0]
        for token in tokens
        if token.type == tokenize.COMMENT and not FOR_MACHINES.match(token.string)
    }
    return sum(line - 1 not in lines for line in lines)


@pytest.mark.parametrize("room", EXPLAINED)
def test_rooms_where_a_reader_would_undo_things_say_why(room: str):
    files = list((SRC / room).rglob("*.py"))
    lines = sum(len(path.read_text().splitlines()) for path in files)
    assert sum(map(comments, files)) * PER >= lines, f"{room} has {lines} lines"
