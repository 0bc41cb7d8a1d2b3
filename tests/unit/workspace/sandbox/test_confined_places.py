"""Which places outside the project a confined command is shown."""

from pathlib import Path

import pytest
from tests.repos import put

from flyball.workspace.sandbox.confined import Scene, shown_paths


def test_installation_behind_a_virtual_environment_is_shown(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    """Its interpreter is a link to there, whatever the environment is called."""
    installed = tmp_path / "tools" / "python"
    put(installed, {"bin/python3": ""})
    named = f"version = 3\nhome = {installed}/bin\n"
    put(tmp_path, {"shop/env/pyvenv.cfg": named, "shop/old/pyvenv.cfg": "home = /nowhere\n"})
    (tmp_path / "home").mkdir()
    monkeypatch.chdir(tmp_path / "shop")
    scene = Scene(["true"], {"HOME": str(tmp_path / "home"), "PATH": "/usr/bin"}, read_only=True)
    shown = shown_paths(scene)
    assert str(installed) in shown
    assert str(tmp_path / "tools") not in shown
