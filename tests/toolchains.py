"""Languages that a machine may lack: what needs one is skipped there, and says which."""

from __future__ import annotations

import shutil
from collections.abc import Iterable, Iterator

import pytest


def need(*programs: str) -> None:
    """Skip the test that asks, where one of these programs is not installed."""
    for program in programs:
        if not shutil.which(program):
            pytest.skip(f"needs {program}, which is not installed here")


def programs_of(files: Iterable[str]) -> Iterator[str]:
    """What the tests of a project with these files are run with."""
    names = {path.rpartition("/")[2] for path in files}
    if "package.json" in names:
        yield from ("node", "npm")
    if "go.mod" in names:
        yield "go"
    if "Makefile" in names:
        yield "make"
    if any(name.endswith(".c") for name in names):
        yield "cc"
