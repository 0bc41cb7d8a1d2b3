"""`flyball acp` where no editor is."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from flyball.errors import UsageError
from flyball.surfaces.cli.acp import require_editor


def test_a_file_is_no_editor_and_a_pipe_may_be_one(tmp_path: Path):
    read, write = os.pipe()
    try:
        require_editor((read, write))
        with (tmp_path / "file").open("wb") as file, pytest.raises(UsageError, match="editor"):
            require_editor((read, file.fileno()))
    finally:
        os.close(read)
        os.close(write)
