"""Every kind of diff that is repaired or refused, as folders of files."""

from __future__ import annotations

from pathlib import Path

import pytest

from flyball.patch import apply_diff

GOLDEN = Path(__file__).parents[2] / "golden"
CASES = sorted((GOLDEN / "patch").iterdir())
REFUSED = [case for case in CASES if (case / "error").exists()]
APPLIED = [case for case in CASES if case not in REFUSED]


def _files(case: Path, when: str) -> dict[str, bytes]:
    """Return the files before or after the edit; most cases are about the shop's."""
    folder = case / when if (case / when).exists() else GOLDEN / "shop" / when
    found = (path for path in folder.rglob("*") if path.is_file())
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in found}


def _edit(case: Path) -> str:
    return (case / "edit.diff").read_bytes().decode()


@pytest.mark.parametrize("case", APPLIED, ids=lambda case: case.name)
def test_applies(case: Path):
    result = apply_diff(_files(case, "before"), _edit(case))
    assert not result.errors
    assert {p: d for p, d in result.files.items() if d is not None} == _files(case, "after")


@pytest.mark.parametrize("case", REFUSED, ids=lambda case: case.name)
def test_is_refused(case: Path):
    before = _files(case, "before")
    result = apply_diff(before, _edit(case))
    assert not result.ok
    assert (case / "error").read_text().strip() in [error.code.value for error in result.errors]
    assert result.files == before
    assert not result.changes
    assert all(error.message.rstrip()[-1] in ".?@" for error in result.errors)


READ = "".join(f"line {n}\n" for n in range(1, 21)).encode()
DIFF = "--- a/f\n+++ b/f\n@@ -9,3 +9,3 @@\n line 9\n-line 10\n+TEN\n line 11\n"


def test_the_edit_is_merged_with_what_changed_meanwhile():
    now = READ.replace(b"line 9\n", b"nine\n").replace(b"line 1\n", b"one\n", 1)
    assert not apply_diff({"f": now}, DIFF).ok
    now = READ.replace(b"line 8\n", b"eight\n").replace(b"line 1\n", b"one\n", 1)
    result = apply_diff({"f": now}, DIFF, base={"f": READ})
    assert result.files["f"] == now.replace(b"line 10", b"TEN")


def test_the_same_lines_changed_on_both_sides_are_refused():
    now = READ.replace(b"line 10\n", b"ten\n")
    (refusal,) = apply_diff({"f": now}, DIFF, base={"f": READ}).errors
    assert (refusal.code, refusal.lines) == ("overlap", (10, 10))


def test_a_change_that_is_there_already_is_refused():
    now = READ.replace(b"line 10\n", b"TEN\n").replace(b"line 1\n", b"one\n", 1)
    (refusal,) = apply_diff({"f": now}, DIFF, base={"f": READ}).errors
    assert refusal.code == "already_applied"


def test_a_diff_that_does_not_fit_what_was_read_is_tried_on_what_is_there():
    result = apply_diff({"f": READ}, DIFF, base={"f": b"something else\n"})
    assert result.files["f"] == READ.replace(b"line 10", b"TEN")
    assert apply_diff({"f": READ}, DIFF, base={"f": READ}).ok
