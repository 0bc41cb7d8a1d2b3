"""What Flyball does to a tree with its own hands goes through `workspace.files`, and nothing else.

Who opens a path by name waits for pipes, follows links and reads without end.
"""

from __future__ import annotations

import ast
from pathlib import Path

SRC = Path(__file__).parents[2] / "src" / "flyball"
INSIDE = ("repair/inside/", "tools/diagnose/inside.py", "tools/pages/inside/")
"""Programs that run in the sandbox, where the kernel sees to that."""
OWN = {"tools/diagnose/servers.py": {"read_text"}, "tools/pages/confined.py": {"rmtree"}}
"""Files of our own package or making, not of a tree."""
ROOMS = [
    path
    for room in ("tools", "engine")
    for path in sorted((SRC / room).rglob("*.py"))
    if not path.relative_to(SRC).as_posix().startswith(INSIDE)
]
FORBIDDEN = {"read_text", "rglob", "walk", "rmtree", "symlink_to", "copytree", "makedirs"}


def opened_in(path: Path) -> list[str]:
    """The calls in a file that read or write files by themselves."""
    name = path.relative_to(SRC).as_posix()
    forbidden = FORBIDDEN - OWN.get(name, set())
    found: list[str] = []
    for node in ast.walk(ast.parse(path.read_text())):
        if not isinstance(node, ast.Call):
            continue
        if isinstance(node.func, ast.Name) and node.func.id == "open":
            found.append(f"{name}: open")
        elif isinstance(node.func, ast.Attribute) and node.func.attr in forbidden:
            owner = node.func.value
            if not (isinstance(owner, ast.Name) and owner.id in ("ast", "root")):
                found.append(f"{name}: {ast.unparse(node.func)}, line {node.lineno}")
    return found


def test_no_room_above_the_workspace_opens_files_by_itself():
    found = [each for path in ROOMS for each in opened_in(path)]
    assert found == [], "use workspace.files.plain or a Root"
