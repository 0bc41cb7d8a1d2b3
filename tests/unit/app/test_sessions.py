"""What is known of a session is kept in lines, of which the last whole one holds."""

from __future__ import annotations

from pathlib import Path

import pytest
from msgspec.structs import replace

from flyball.app.sessions import LONGEST, Session, Sessions

KNOWN = Session("claude", "s1", run="one")


def file_of(place: Path) -> Path:
    (found,) = (place / "hosts").glob("*.json")
    return found


def test_what_was_kept_last_is_found(tmp_path: Path):
    sessions = Sessions(tmp_path)
    for run in ("one", "two", "three"):
        sessions.keep(replace(KNOWN, run=run))
        assert sessions.find("claude", "s1").run == run
    assert [each.run for each in sessions.all()] == ["three"]
    sessions.end(KNOWN)
    assert sessions.find("claude", "s1") == Session("claude", "s1")
    assert sessions.known("claude", "s1") is None


@pytest.mark.parametrize("left", [b'{"host": "claude", "sess', b"\0\0\0", b"17\n"])
def test_what_somebody_was_killed_over_is_as_if_never_begun(tmp_path: Path, left: bytes):
    sessions = Sessions(tmp_path)
    sessions.keep(KNOWN)
    with file_of(tmp_path).open("ab") as file:
        file.write(left)
    assert sessions.find("claude", "s1") == KNOWN
    sessions.keep(replace(KNOWN, run="next"))
    assert sessions.find("claude", "s1").run == "next"


def test_a_file_does_not_grow_without_end(tmp_path: Path):
    sessions = Sessions(tmp_path)
    for n in range(12):
        sessions.keep(replace(KNOWN, run=str(n), untold="x" * (LONGEST // 8)))
        assert sessions.find("claude", "s1").run == str(n)
        assert file_of(tmp_path).stat().st_size <= LONGEST
    sessions.keep(replace(KNOWN, run="large", untold="x" * LONGEST))
    assert sessions.find("claude", "s1").run == "large"
    assert [*(tmp_path / "hosts").iterdir()] == [file_of(tmp_path)]
