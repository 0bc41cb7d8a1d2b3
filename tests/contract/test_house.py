"""The house is one that a stranger can draw from memory: its rooms, floors, lists and names."""

from __future__ import annotations

import ast
import importlib
import re
import tokenize
import tomllib
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import NamedTuple

import click
import pytest

from flyball.shellcheck.rule import Rule
from flyball.surfaces.cli import COMMANDS
from flyball.tools.call.protocol import Tool
from flyball.tools.toolbox import TOOLS

ROOT = Path(__file__).parents[2]
SRC = ROOT / "src" / "flyball"
UNIT = ROOT / "tests" / "unit"


def module_of(path: Path) -> str:
    parts = ("flyball", *path.relative_to(SRC).with_suffix("").parts)
    return ".".join(parts).removesuffix(".__init__")


FILES = {module_of(path): path for path in sorted(SRC.rglob("*.py"))}


def parsed(path: Path) -> ast.Module:
    return ast.parse(path.read_text())


ROOMS = [path.parent for path in FILES.values() if path.name == "__init__.py"]


class ModuleFacts(NamedTuple):
    """The public classes of a module, and the modules of ours that it imports."""

    classes: tuple[str, ...]
    imports: frozenset[str]


@cache
def facts(module: str) -> ModuleFacts:
    """What a module holds; of a package, it imports the ones that it takes names from."""
    classes: list[str] = []
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
                classes += [node.name] if isinstance(node, ast.ClassDef) else []
    return ModuleFacts(
        tuple([name for name in classes if not name.startswith("_")]),
        frozenset(found & FILES.keys()),
    )


def imported(module: str) -> frozenset[str]:
    return facts(module).imports


def name_of(room: Path) -> str:
    return str(room.relative_to(SRC))


def test_no_public_class_name_is_defined_twice():
    places: dict[str, list[str]] = defaultdict(list)
    for module in FILES:
        for name in facts(module).classes:
            places[name].append(module)
    assert {name: where for name, where in places.items() if len(where) > 1} == {}


SMALL = 40
SHIPPED_FOR_TESTS = {"flyball.journal.memory"}
"""Users of the library test with it, as we do; nothing in the package needs it."""
NAMED_IN_A_STRING = {
    # Imported when the first model is asked: pydantic-ai takes a second to load.
    "flyball.drivers.provider",
    # Imported where a database is named: nobody else needs its extra.
    "flyball.journal.postgres",
    "flyball.app.people.postgres_people",
    # Imported when they are needed: hooks load what leads to them, and must be quick.
    "flyball.drivers.repair.driver",
    # Imported where a collector of traces is named: nobody else needs its extra.
    "flyball.engine.tracing",
    "flyball.app.flowfile.yaml_places",
    # Named in the script of the bare interpreter that starts each command.
    "flyball.workspace.sandbox.supervisor",
    # Named in the script that the interpreter of the project under repair is given.
    "flyball.tools.repair.inside.program",
    # Started by their paths, in the network of a run's servers.
    "flyball.tools.pages.inside.ask",
    "flyball.tools.pages.inside.browse",
}


def loaded_by_name() -> set[str]:
    """Modules that no import needs to lead to: commands, entry points, and those above."""
    scripts = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["scripts"]
    places = [*scripts.values(), *(place for place, _ in COMMANDS.values())]
    return {place.partition(":")[0] for place in places} | SHIPPED_FOR_TESTS | NAMED_IN_A_STRING


def importers() -> Mapping[str, set[str]]:
    found: dict[str, set[str]] = {module: set() for module in FILES}
    for module in FILES:
        for other in imported(module):
            found[other].add(module)
    return found


def modules_that_could_fold() -> Iterator[tuple[str, set[str]]]:
    for module, who in importers().items():
        is_named = FILES[module].stem in ("__init__", "__main__") or module in loaded_by_name()
        # One file each is what makes a list: a small tool is still a tool.
        is_listed = name_of(FILES[module].parent) in LISTS
        if not is_named and not is_listed:
            yield module, who


def test_a_small_file_with_one_importer_is_part_of_that_importer():
    small = {
        module: who.pop()
        for module, who in modules_that_could_fold()
        if len(who) == 1 and len(FILES[module].read_text().splitlines()) < SMALL
    }
    assert small == {}


CROWD = 12
LISTS = ("tools", "surfaces/cli", "shellcheck/programs")
"""Lists of things of one kind may be longer, and hold nothing else."""


def files_in(room: Path) -> list[Path]:
    return [path for path in sorted(room.glob("*.py")) if not path.name.startswith("__")]


def test_a_room_holds_at_most_twelve_files():
    crowds = {name_of(room): len(files_in(room)) for room in ROOMS if name_of(room) not in LISTS}
    assert {room: count for room, count in crowds.items() if count > CROWD} == {}


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
    for place, _ in COMMANDS.values():
        module, _, name = place.partition(":")
        found += commands_below(getattr(importlib.import_module(module), name))
    return found


@pytest.mark.parametrize("path", files_in(SRC / "surfaces/cli"), ids=lambda path: path.stem)
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


@pytest.mark.parametrize("path", files_in(SRC / "shellcheck/programs"), ids=lambda path: path.stem)
def test_each_file_among_the_programs_has_rules_of_programs(path: Path):
    """Or the check of one, where words do not suffice."""
    values = own_values(path)
    tables = [value for value in values if isinstance(value, dict)]
    rules = [*values, *(rule for table in tables for rule in table.values())]
    assert any(isinstance(rule, Rule) or is_check(rule) for rule in rules)


CORE = (
    "terms", "host", "memory", "reading", "weakening", "suite", "verdict",
    "flow", "plan", "run", "machine", "record",
)  # fmt: skip
"""From the ground up; each room of `core` imports only from rooms before it."""
FLOORS = 8


def part_of(module: str, room: str) -> str:
    """The sub-room, or the file, of a room that a module lies in; empty if outside."""
    prefix = f"flyball.{room}."
    return module.removeprefix(prefix).partition(".")[0] if module.startswith(prefix) else ""


def neighbours(room: str) -> dict[str, set[str]]:
    """Each part of a room with the other parts that it imports."""
    found: dict[str, set[str]] = {}
    for module in FILES:
        if own := part_of(module, room):
            others = {part_of(other, room) for other in imported(module)}
            found.setdefault(own, set()).update(others - {own, ""})
    return found


@pytest.mark.parametrize("room", CORE)
def test_a_room_of_core_imports_only_from_rooms_before_it(room: str):
    assert neighbours("core")[room] <= set(CORE[: CORE.index(room)])


def test_core_has_these_rooms_and_at_most_eight_floors():
    rooms = neighbours("core")
    assert set(rooms) == set(CORE)
    floor: dict[str, int] = {}
    for room in CORE:
        floor[room] = 1 + max((floor[below] for below in rooms[room]), default=0)
    assert max(floor.values()) <= FLOORS


def leftover(parts: Mapping[str, Iterable[str]]) -> set[str]:
    """What remains when parts that need nothing above them are taken away: the cycles."""
    rest = {part: set(others) for part, others in parts.items()}
    while ground := {part for part, others in rest.items() if not others & rest.keys()}:
        rest = {part: others for part, others in rest.items() if part not in ground}
    return set(rest)


PARENTS = sorted({name_of(room.parent) for room in ROOMS if room not in (SRC, SRC / "surfaces")})


@pytest.mark.parametrize("room", [each for each in PARENTS if each != "."])
def test_sub_rooms_and_the_files_beside_them_have_an_order(room: str):
    assert leftover(neighbours(room.replace("/", "."))) == set()


def test_every_folder_of_unit_tests_is_a_room():
    folders = [path for path in UNIT.rglob("*") if path.is_dir() and path.name != "__pycache__"]
    assert [str(path) for path in folders if SRC / path.relative_to(UNIT) not in ROOMS] == []


def test_every_unit_test_is_named_after_a_module_or_a_sub_room():
    strays: list[Path] = []
    for path in sorted(UNIT.rglob("test_*.py")):
        room = SRC / path.parent.relative_to(UNIT)
        things = [*files_in(room), *(each for each in ROOMS if each.parent == room)]
        name = f"{path.stem.removeprefix('test_')}_"
        if not any(name.startswith(f"{thing.stem}_") for thing in things):
            strays.append(path.relative_to(UNIT))
    assert strays == []


EXPLAINED = (
    "core/machine", "engine", "workspace/trees", "workspace/sandbox", "tools/repair",
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
