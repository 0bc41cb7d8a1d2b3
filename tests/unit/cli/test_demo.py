"""The demo's project and its script; `flyball acp` where no editor is."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from tests.repos import git

from flyball.app.project import open_home
from flyball.cli.acp import require_editor
from flyball.cli.demo import make_project, own_environment
from flyball.drivers.scripted import read_script
from flyball.errors import UsageError
from flyball.verdict.runners.parts import runners_and_checks


def test_the_shop_is_committed_and_broken_in_one_place(tmp_path: Path):
    project, _ = make_project(tmp_path)
    assert git(project, "status", "--porcelain") == ""
    ran = subprocess.run(
        [sys.executable, "-m", "unittest"], cwd=project, capture_output=True, text=True
    )
    assert "FAILED (failures=1)" in ran.stderr
    assert runners_and_checks(project)[0] == ("unittest",)


def test_the_script_can_be_read(tmp_path: Path):
    _, script = make_project(tmp_path)
    lines = read_script(script)
    assert set(lines) == {"executor", "reviewer"}


def test_the_users_settings_do_not_disturb_it(tmp_path: Path):
    (tmp_path / "config.toml").write_text("[policy]\napprove_checkpoint = true\n")
    environ = {
        "HOME": str(tmp_path),
        "FLYBALL_CONFIG": str(tmp_path / "config.toml"),
        "FLYBALL_POLICY_PREVIEW": "nonsense",
        "FLYBALL_STATE_DIR": str(tmp_path / "state"),
    }
    home = open_home(tmp_path, own_environment(environ), {})
    assert not home.effective.settings.policy_approve_checkpoint
    assert home.state.is_relative_to(tmp_path / "state")


def test_a_file_is_no_editor_and_a_pipe_may_be_one(tmp_path: Path):
    read, write = os.pipe()
    try:
        require_editor((read, write))
        with (tmp_path / "file").open("wb") as file, pytest.raises(UsageError, match="editor"):
            require_editor((read, file.fileno()))
    finally:
        os.close(read)
        os.close(write)
