"""Every kind of diff that is repaired or refused, as folders of files."""

from __future__ import annotations

from pathlib import Path

import pytest

from flyball.patch import apply_diff

CASES = Path(__file__).parents[2] / "golden" / "patch"


def _files(folder: Path) -> dict[str, bytes]:
    found = (path for path in folder.rglob("*") if path.is_file())
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in found}


def _edit(case: Path) -> str:
    return (case / "edit.diff").read_bytes().decode()


@pytest.mark.parametrize(
    "case", [c for c in sorted(CASES.iterdir()) if (c / "after").exists()], ids=lambda c: c.name
)
def test_applies(case: Path):
    result = apply_diff(_files(case / "before"), _edit(case))
    assert not result.errors
    assert {p: d for p, d in result.files.items() if d is not None} == _files(case / "after")


@pytest.mark.parametrize(
    "case", [c for c in sorted(CASES.iterdir()) if (c / "error").exists()], ids=lambda c: c.name
)
def test_is_refused(case: Path):
    before = _files(case / "before")
    result = apply_diff(before, _edit(case))
    assert not result.ok
    assert (case / "error").read_text().strip() in [error.code.value for error in result.errors]
    assert result.files == before
    assert not result.changes
    assert all(error.message.rstrip()[-1] in ".?@" for error in result.errors)
