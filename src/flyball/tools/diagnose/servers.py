"""The known language servers, and the check that asks each installed one."""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

import msgspec

from flyball.terms.evidence import CheckKind
from flyball.tools.call.protocol import CallContext
from flyball.tools.diagnose import inside
from flyball.verdict.runners.checker import Check, always
from flyball.verdict.runners.layout import FileIndex
from flyball.verdict.runners.start_context import StartContext
from flyball.verdict.runners.start_env import program_of, python_of
from flyball.workspace.trees.trees import TreeHash

MOST = 200
"""Changes of more files are not opened in a server; the project's own checks cover them."""


class LanguageServer(NamedTuple):
    """The command of a language server, and the types of files that it supports."""

    name: str
    argv: tuple[str, ...]
    languages: Mapping[str, str]
    """The language of a file by its extension."""
    kind: CheckKind = CheckKind.DIAGNOSTICS
    instead_of: str = ""
    """A server of the same language that takes precedence if both are installed."""
    install: str = ""
    """The command that installs it."""


_PYTHON = {".py": "python", ".pyi": "python"}
_SCRIPT = {
    ".ts": "typescript",
    ".tsx": "typescriptreact",
    ".mts": "typescript",
    ".cts": "typescript",
    ".js": "javascript",
    ".jsx": "javascriptreact",
    ".mjs": "javascript",
    ".cjs": "javascript",
}
SERVERS = (
    LanguageServer(
        "basedpyright-server",
        ("basedpyright-langserver", "--stdio"),
        _PYTHON,
        install="pip install basedpyright",
    ),
    LanguageServer(
        "pyright-server",
        ("pyright-langserver", "--stdio"),
        _PYTHON,
        instead_of="basedpyright-server",
        install="pip install pyright",
    ),
    LanguageServer(
        "ty-server",
        ("ty", "server"),
        _PYTHON,
        instead_of="pyright-server",
        install="pip install ty",
    ),
    LanguageServer(
        "ruff-server", ("ruff", "server"), _PYTHON, CheckKind.LINT, install="pip install ruff"
    ),
    LanguageServer(
        "typescript-server",
        ("typescript-language-server", "--stdio"),
        _SCRIPT,
        install="npm install -g typescript typescript-language-server",
    ),
    LanguageServer(
        "gopls", ("gopls",), {".go": "go"}, install="go install golang.org/x/tools/gopls@latest"
    ),
    LanguageServer(
        "rust-analyzer",
        ("rust-analyzer",),
        {".rs": "rust"},
        install="rustup component add rust-analyzer",
    ),
)


def server_checks(context: CallContext) -> tuple[Check, ...]:
    """Return a check for each installed server that supports a file of the change."""
    files = _changed(context)
    found: dict[str, Check] = {}
    for server in SERVERS:
        own = tuple(path for path in files if Path(path).suffix in server.languages)
        if own and server.instead_of not in found and (program := _program(server, context)):
            found[server.name] = _check(server, program, own)
    return tuple(found.values())


def _program(server: LanguageServer, context: CallContext) -> str | None:
    return shutil.which(program_of(context, server.argv[0]), path=context.env.get("PATH", ""))


def _changed(context: CallContext) -> tuple[str, ...]:
    """Return the files of the tree that have changed since the run began."""
    workspace = context.workspace
    changes = workspace.trees.changes(workspace.base, TreeHash(context.tree))
    kept = [each.path for each in changes if each.after and not each.binary]
    return tuple(kept) if len(kept) <= MOST else ()


def _check(server: LanguageServer, program: str, files: tuple[str, ...]) -> Check:
    def argv(start: StartContext, _land: FileIndex) -> list[str]:
        orders = {
            "argv": [program, *server.argv[1:]],
            "root": os.fspath(start.root.path),
            "files": _texts(server, files, start),
            "settings": {"python": {"pythonPath": python_of(start)}},
        }
        place = start.shelf / "orders.json"
        place.write_bytes(msgspec.json.encode(orders))
        text = Path(inside.__file__).read_text()
        return [sys.executable, "-I", "-S", "-c", text, os.fspath(place)]

    return Check(server.name, server.kind, always, argv, is_of_change=True)


def _texts(
    server: LanguageServer, files: tuple[str, ...], context: StartContext
) -> list[tuple[str, str, str | None, str]]:
    """Return each file with its language, and its content before and now."""
    trees, base = context.workspace.trees, context.workspace.base
    entries = trees.entries(base, files)
    before = trees.contents([entry.blob for entry in entries.values()])
    found: list[tuple[str, str, str | None, str]] = []
    for path in files:
        old = before[entries[path].blob].decode("utf-8", "replace") if path in entries else None
        new = context.root.read_bytes(path).decode("utf-8", "replace")
        found.append((path, server.languages[Path(path).suffix], old, new))
    return found
