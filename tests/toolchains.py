"""Languages that a machine may lack: what needs one is skipped there, and says which."""

from __future__ import annotations

import shutil

import pytest


def need(*programs: str) -> None:
    """Skip the test that asks, where one of these programs is not installed."""
    for program in programs:
        if not shutil.which(program):
            pytest.skip(f"needs {program}, which is not installed here")
