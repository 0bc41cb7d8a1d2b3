"""What `main` makes of a failure that no command foresaw."""

from __future__ import annotations

import pytest

from flyball.surfaces import cli


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
    assert "error[tool-unavailable]: Flyball does not run on Windows itself." in told
    assert "WSL" in told
