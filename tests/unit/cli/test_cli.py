"""Failures that no command foresaw, and input that is nested too deeply."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from flyball import cli
from flyball.bounds import DEEPEST
from flyball.errors import UsageError
from flyball.hosts.answering import read_payload
from flyball.hosts.client import MOST


def fails(monkeypatch, error: Exception) -> int:
    def fail(**_options: object) -> None:
        raise error

    monkeypatch.setattr(cli.cli, "main", fail)
    monkeypatch.delenv("FLYBALL_DEBUG", raising=False)
    with pytest.raises(SystemExit) as ended:
        cli.main()
    assert isinstance(ended.value.code, int)
    return ended.value.code


def test_a_fault_of_ours_is_said_to_be_one(monkeypatch, capsys):
    assert fails(monkeypatch, ModuleNotFoundError("No module named 'fcntl'")) == cli.EXIT_INTERNAL
    assert "error[internal]: Flyball itself failed" in capsys.readouterr().err


def test_a_system_that_is_not_supported_is_said(monkeypatch, capsys):
    monkeypatch.setattr(cli.os, "name", "nt")
    assert fails(monkeypatch, ModuleNotFoundError("No module named 'fcntl'")) == cli.EXIT_FAILED
    told = capsys.readouterr().err
    assert "error[tool-unavailable]: Flyball does not run natively on Windows." in told
    assert "WSL" in told


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
        "from flyball.hosts.client import main; main()",
        "claude",
    ]
    done = subprocess.run(argv, input=b" " * (MOST + 1), capture_output=True, cwd=tmp_path)
    assert done.returncode == 2, "hosts take anything else for a yes"
    assert b"MB" in done.stderr
