"""The clipboard through the machine's own programs."""

from __future__ import annotations

from pathlib import Path

import pytest

from flyball.cli.terminal.driving import Clipboard, copy, find_clipboard, terminal_port
from flyball.cli.terminal.plain import PlainView
from flyball.errors import DriverError

LINGERING = """#!/bin/sh
cat > {board}
sleep 30 &
"""


def program(path: Path, text: str) -> str:
    path.write_text(text)
    path.chmod(0o755)
    return str(path)


def test_a_program_that_stays_behind_does_not_hold_us_up(tmp_path: Path):
    board = tmp_path / "board"
    name = program(tmp_path / "xclip", LINGERING.format(board=board))
    copy(Clipboard((name,), ()), "a prompt\n")
    assert board.read_text() == "a prompt\n"


def test_a_clipboard_that_fails_says_so(tmp_path: Path):
    name = program(tmp_path / "xclip", "#!/bin/sh\nexit 1\n")
    with pytest.raises(DriverError, match="clipboard program failed"):
        copy(Clipboard((name,), ()), "x")


def test_the_first_program_that_is_there_is_used(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("PATH", str(tmp_path))
    assert find_clipboard() is None
    for name in ("xsel", "wl-copy"):
        program(tmp_path / name, "#!/bin/sh\n")
    found = find_clipboard()
    assert found is not None
    assert found.paste[0] == "wl-paste"


def test_without_a_keyboard_there_is_no_hand():
    assert terminal_port(PlainView()) is None
