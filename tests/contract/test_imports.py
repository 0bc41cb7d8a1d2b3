"""The plan of the house, held by a test: who may import whom, and what the pure rooms may use."""

from __future__ import annotations

import ast
import subprocess
import sys
from functools import cache
from pathlib import Path

import pytest

SRC = Path(__file__).parents[2] / "src" / "flyball"
FILES = sorted(SRC.rglob("*.py"))

BASE = {"errors", "regex"}
MODEL = BASE | {"terms", "intent", "guards", "plan", "run", "record"}
"""What a run is: the pure rooms that everything else speaks of."""
BELOW_APP = MODEL | {
    "agents", "patch", "shell", "secret_files", "bounds", "settings", "workspace", "journal",
    "drivers", "verdict", "attest", "tools", "engine",
}  # fmt: skip

ROOMS = {
    "errors": set[str](),
    "regex": set[str](),
    "bounds": {"regex"},
    "secret_files": {"regex"},
    "terms": BASE,
    "intent": BASE | {"terms"},
    "guards": BASE | {"terms"},
    "plan": BASE | {"terms"},
    "run": BASE | {"terms", "intent", "guards", "plan"},
    "record": MODEL | {"agents"},
    "agents": MODEL,
    "patch": BASE,
    "shell": BASE | {"secret_files"},
    "workspace": BASE | {"terms", "patch", "shell", "secret_files"},
    "journal": MODEL,
    "drivers": MODEL,
    "repair": MODEL | {"workspace", "drivers", "tools", "verdict"},
    # What a call is given (`tools/call`) lies there still.
    "verdict": MODEL | {"shell", "workspace", "journal", "tools", "bounds"},
    "attest": MODEL | {"verdict", "workspace"},
    "tools": MODEL | {"patch", "shell", "workspace", "verdict", "repair", "secret_files"},
    "engine": MODEL | {
        "patch", "shell", "workspace", "journal", "drivers", "verdict", "attest", "tools",
    },
    "settings": MODEL,
    "app": BELOW_APP,
    "cluster": BELOW_APP | {"app"},
    "hosts": BELOW_APP | {"app"},
    "doctor": BELOW_APP | {"app", "hosts"},
    "audit": BELOW_APP | {"app", "hosts"},
    "web": BELOW_APP | {"app", "hosts"},
    "mcp": BELOW_APP | {"app", "hosts", "web"},
    "acp": BELOW_APP | {"app", "hosts"},
    "cli": BELOW_APP | {"app", "cluster", "hosts", "doctor", "audit", "web", "mcp", "acp"},
}  # fmt: skip
"""Each room, with the rooms that it may import from."""
PURE = {"terms", "intent", "guards", "plan", "run", "record", "agents", "patch", "shell"}
PURE_FILES = {
    SRC / "verdict" / f"{name}.py"
    for name in (
        "judge", "reports", "strength", "promises", "reach", "sides", "selection", "type_checks",
        "named", "words", "canary", "case", "manifest", "part", "settled",
    )
}  # fmt: skip
PURE_FILES |= set((SRC / "verdict" / "tests").rglob("*.py"))
PURE_FILES |= {
    SRC / "audit" / f"{name}.py" for name in ("audited_call", "finding", "rules", "trail")
}
"""What is decided from reports: such a module imports pure rooms and modules alone."""

PURE_STDLIB = {
    "__future__", "array", "ast", "base64", "binascii", "bisect", "collections", "configparser",
    "copy", "dataclasses", "difflib", "enum", "fnmatch", "functools", "hashlib", "heapq",
    "html", "itertools", "json", "math", "operator", "posixpath", "re", "shlex", "string",
    "sys", "textwrap", "tomllib", "types", "typing", "unicodedata", "zlib",
}  # fmt: skip
PURE_THIRD = {"shell": {"msgspec", "tree_sitter"}}


READS_ITS_DATA = {
    SRC / "intent" / "lexicon.py": {"pkgutil"},
    SRC / "intent" / "model.py": {"pkgutil"},
    SRC / "shell" / "words" / "source.py": {"importlib"},
    SRC / "verdict" / "tests" / "_tree.py": {"importlib"},
}
"""What is installed with us, read on first use; no other pure module reads a file."""


def room_of(path: Path) -> str:
    return path.relative_to(SRC).parts[0].removesuffix(".py")


@cache
def imports(path: Path) -> list[tuple[str, bool]]:
    """Every imported module, and whether it is imported inside a function."""
    found: list[tuple[str, bool]] = []

    def visit(block: ast.AST, is_inside: bool) -> None:
        for node in ast.iter_child_nodes(block):
            if isinstance(node, ast.Import):
                found.extend((alias.name, is_inside) for alias in node.names)
            elif isinstance(node, ast.ImportFrom):
                assert node.level == 0, f"{path} uses a relative import"
                found.append((node.module or "", is_inside))
            elif not isinstance(node, ast.expr):
                is_function = isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
                visit(node, is_inside or is_function)

    visit(ast.parse(path.read_text()), False)
    return found


def module_of(path: Path) -> str:
    parts = ("flyball", *path.relative_to(SRC).with_suffix("").parts)
    return ".".join(parts).removesuffix(".__init__")


@cache
def from_imports(path: Path) -> list[tuple[str, tuple[str, ...]]]:
    """Every `from` statement: the module, and the names that are taken from it."""
    return [
        (node.module or "", tuple(alias.name for alias in node.names))
        for node in ast.walk(ast.parse(path.read_text()))
        if isinstance(node, ast.ImportFrom)
    ]


def ids(path: Path) -> str:
    return str(path.relative_to(SRC))


def test_each_room_imports_only_the_rooms_below_it():
    ours = [(path, room_of(path)) for path in FILES if room_of(path) != "__init__"]
    others = [
        (path, room, module.split(".")[1])
        for path, room in ours
        for module, _ in imports(path)
        if module.startswith("flyball.")
    ]
    assert [
        f"{ids(path)} may not import from {other}"
        for path, room, other in others
        if other != room and other not in ROOMS[room]
    ] == []


def test_pure_rooms_use_only_the_pure_part_of_the_standard_library():
    found: list[str] = []
    for path in FILES:
        if (room := room_of(path)) in PURE:
            allowed = (
                PURE_STDLIB
                | PURE_THIRD.get(room, {"msgspec"})
                | READS_ITS_DATA.get(path, set())
                | {"flyball"}
            )
            tops = {module.partition(".")[0] for module, _ in imports(path)}
            found += [f"{ids(path)} may not import {top}" for top in tops - allowed]
    assert found == []


def test_what_decides_a_verdict_imports_only_what_is_pure():
    pure = {f"flyball.{room}" for room in PURE} | {"flyball.errors", "flyball.regex"}
    pure |= {module_of(path) for path in PURE_FILES} | {"flyball.verdict.tests"}
    found = [
        f"{ids(path)} may not import {module}"
        for path in PURE_FILES
        for module, _ in imports(path)
        if module.partition(".")[0]
        not in PURE_STDLIB | {"msgspec", "flyball"} | READS_ITS_DATA.get(path, set())
        or (module.startswith("flyball.") and not any(module.startswith(each) for each in pure))
    ]
    assert found == []


LATE = {"difflib", "hashlib", "json", "pkgutil", "flyball.intent.change"}
"""Each takes a millisecond or more, and importing the machine needs none of them."""


def test_only_the_command_line_and_the_hook_import_inside_functions():
    hook, command_line = SRC / "hosts" / "client.py", SRC / "cli"
    assert [
        f"{ids(path)} imports {module} inside a function"
        for path in FILES
        for module, is_inside in imports(path)
        if is_inside and path != hook and not path.is_relative_to(command_line)
        if module not in LATE
    ] == []


def test_each_heavy_library_is_imported_by_one_module_of_ours():
    for path in FILES:
        names = {module.partition(".")[0] for module, _ in imports(path)}
        assert "pydantic_ai" not in names or path == SRC / "drivers" / "provider.py"
        assert "dbos" not in names or path == SRC / "engine" / "cluster.py"
        assert "opentelemetry" not in names or path == SRC / "engine" / "tracing.py"
        assert not names & {"sigstore", "cryptography"} or path == SRC / "attest" / "keyless.py"


def test_only_the_surface_for_mcp_imports_what_its_extra_brings():
    for path in FILES:
        names = {module.partition(".")[0] for module, _ in imports(path)}
        is_there = path.is_relative_to(SRC / "mcp")
        assert is_there or not names & {"mcp", "mcp_types", "starlette"}, ids(path)


def test_only_the_surface_for_editors_imports_what_its_extra_brings():
    for path in FILES:
        names = {module.partition(".")[0] for module, _ in imports(path)}
        assert path.is_relative_to(SRC / "acp") or "acp" not in names, ids(path)


def test_only_one_module_starts_processes():
    # The second runs inside a sandbox that the first has made.
    allowed = {
        SRC / "workspace" / "process" / "spawn.py",
        SRC / "tools" / "diagnose" / "inside.py",
    }
    for path in FILES:
        names = {module.partition(".")[0] for module, _ in imports(path)}
        assert "subprocess" not in names or path in allowed, f"{ids(path)} starts processes"


FACES = {
    module_of(path): set(ast.literal_eval(node.value))
    for path in FILES
    if path.name == "__init__.py" and path.parent != SRC
    for node in ast.parse(path.read_text()).body
    if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "__all__"
}
"""Packages that name what others may use of them, with those names."""


def owner_of(module: str, name: str) -> str:
    """The package that alone may import a name; empty if all may."""
    if name.startswith("_"):
        is_package = (SRC.parent / module.replace(".", "/")).is_dir()
        return module if is_package else module.rpartition(".")[0]
    for face, names in FACES.items():
        if module.startswith(f"{face}.") or (module == face and name not in names):
            return face
    private = module.find("._")
    return module[:private] if private > 0 else ""


def test_others_import_what_a_package_names_and_nothing_private():
    found = [
        f"{ids(path)} imports {module}.{name}, which is for {owner} alone"
        for path in FILES
        for module, names in from_imports(path)
        if module.startswith("flyball.")
        for name in names
        if (owner := owner_of(module, name)) and not f"{module_of(path)}.".startswith(f"{owner}.")
    ]
    assert found == []


@pytest.mark.parametrize(
    ("module", "name", "owner"),
    [
        ("flyball.patch", "apply_diff", ""),
        ("flyball.patch", "revise", "flyball.patch"),
        ("flyball.patch.revise", "revise", "flyball.patch"),
        ("flyball.verdict.tests._tree", "parse", "flyball.verdict.tests"),
        ("flyball.engine.loop", "_is_action", "flyball.engine"),
        ("flyball.engine.loop", "Engine", ""),
    ],
)
def test_a_name_has_an_owner_where_no_face_shows_it(module: str, name: str, owner: str):
    assert owner_of(module, name) == owner


MODULES = [module_of(path) for path in FILES if path.name != "__main__.py"]

PROBE = """
import sys, importlib
heavy = [name for name in sys.argv[2:]]
# What it does when it is imported is not ours: it looks for a C library by running a program.
import dbos
opened = []
def watch(event, args):
    if event == "open" and args[1] and any(c in str(args[1]) for c in "wax+"):
        opened.append(str(args[0]))
    elif event in ("subprocess.Popen", "os.mkdir", "socket.connect", "os.putenv"):
        opened.append(event)
sys.dont_write_bytecode = True
sys.addaudithook(watch)
for name in sys.argv[1].split(","):
    importlib.import_module(name)
print(opened)
"""


@pytest.mark.exhaustive
def test_importing_any_module_does_no_work():
    done = subprocess.run(
        [sys.executable, "-c", PROBE, ",".join(MODULES)],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout == "[]\n"
    assert done.stderr == ""


LIGHT = """
import sys
import flyball.cli
heavy = {"rich", "pydantic_ai", "yaml", "sqlite3", "asyncio", "tree_sitter", "msgspec"}
print(sorted(heavy & set(sys.modules)))
"""


def test_the_root_of_the_command_line_loads_nothing_heavy():
    done = subprocess.run([sys.executable, "-c", LIGHT], capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"


UNREAD = """
import sys
opened = []
sys.addaudithook(lambda event, args: opened.append(args[0]) if event == "open" else None)
import flyball.intent.classifier
print([name for name in opened if str(name).endswith((".bin", ".txt"))])
"""


def test_weights_and_words_are_not_read_on_import():
    done = subprocess.run(
        [sys.executable, "-c", UNREAD], capture_output=True, text=True, check=True
    )
    assert done.stdout == "[]\n"


def compiled_at_import(tree: ast.AST) -> list[int]:
    """The lines in which a pattern is compiled when its module is loaded."""
    found: list[int] = []
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda):
            continue
        if isinstance(node, ast.Call) and ast.unparse(node.func) == "re.compile":
            found.append(node.lineno)
        found += compiled_at_import(node)
    return found


def test_no_module_compiles_a_pattern_before_it_is_used():
    # What runs inside other processes goes there without the rest of the house.
    files = [path for path in FILES if "inside" not in path.parts]
    read = {path: ast.parse(path.read_text()) for path in files if "re.compile" in path.read_text()}
    early = [f"{path}:{line}" for path, tree in read.items() for line in compiled_at_import(tree)]
    assert not early, "write `regex(...)`"


def test_a_pattern_that_is_compiled_too_early_is_seen():
    early = "import re\nX = {'a': re.compile('a')}\ndef f():\n    return re.compile('b')\n"
    assert compiled_at_import(ast.parse(early)) == [2]
