"""Diffs written against what was read, when the file has changed since."""

from flyball.patch import apply_diff

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
