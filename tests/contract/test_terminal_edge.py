"""Nothing of the command line prints but through the edge, which makes controls visible."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

CLI = Path(__file__).parents[2] / "src" / "flyball" / "cli"
EDGE = CLI / "terminal" / "edge.py"
# They load nothing, and print nothing but what they hold themselves.
QUICK = (CLI / "confined_quick.py", CLI / "typed" / "overview.py")
FILES = sorted(path for path in CLI.rglob("*.py") if path not in (EDGE, *QUICK))
PAST_IT = {
    "print", "rich.print", "pprint", "click.echo", "click.secho", "click.echo_via_pager", "Console",
    "rich.console.Console", "sys.stdout.write", "sys.stderr.write", "sys.stdout.buffer.write",
    "sys.stderr.buffer.write", "sys.stdout.writelines", "sys.__stdout__.write", "os.write",
    "logging.basicConfig", "traceback.print_exc", "warnings.warn",
}  # fmt: skip


def called(path: Path) -> set[str]:
    tree = ast.parse(path.read_text())
    return {ast.unparse(node.func) for node in ast.walk(tree) if isinstance(node, ast.Call)}


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(CLI)))
def test_no_command_prints_past_the_edge(path: Path):
    assert not called(path) & PAST_IT


def test_the_edge_is_where_printing_happens():
    assert {"click.echo", "sys.stdout.buffer.write"} <= called(EDGE)
