"""Hooks' payloads that are larger or nested deeper than anything we take are refused."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from flyball.bounds import DEEPEST
from flyball.errors import UsageError
from flyball.surfaces.hooks.client import MOST
from flyball.surfaces.hooks.payload import read_payload


@pytest.mark.parametrize("levels", [100_000, DEEPEST])
def test_a_payload_that_is_nested_too_deeply_is_refused(levels: int):
    with pytest.raises(UsageError, match="levels"):
        read_payload("claude", b'{"tool_input":' + b"[" * levels + b"]" * levels + b"}")


def test_a_payload_that_is_too_large_is_refused_whatever_it_is_about(tmp_path: Path):
    with pytest.raises(UsageError, match="MB"):
        read_payload("claude", b" " * (MOST + 1))
    argv = [
        sys.executable,
        "-c",
        "from flyball.surfaces.hooks.client import main; main()",
        "claude",
    ]
    done = subprocess.run(argv, input=b" " * (MOST + 1), capture_output=True, cwd=tmp_path)
    assert done.returncode == 2, "hosts take anything else for a yes"
    assert b"MB" in done.stderr
