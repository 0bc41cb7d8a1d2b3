"""Text that stands in several places: what tells them apart, and what does not."""

import pytest

from flyball.patch import apply_diff

BODY = "     total = 0\n-    return total\n+    return result\n"
FIRST = "def first(a):\n    total = 0\n    return total\n"
TWO = f"{FIRST}\n\n{FIRST.replace('first(a)', 'second(b)')}"
ENDS = "one = 1\n\n\n" + TWO + "\n\nlast = 2\n"


def _apply(text: str, *hunks: str, **options):
    diff = "--- a/f\n+++ b/f\n" + "".join(hunks)
    return apply_diff({"f": text.encode()}, diff, **options)


def _codes(result) -> list[str]:
    return [error.code.value for error in result.errors]


def _changed(text: str, which: int) -> bytes:
    parts = text.split("return total")
    return (
        "return total".join(parts[:which]) + "return result" + "return total".join(parts[which:])
    ).encode()


@pytest.mark.parametrize(
    ("header", "which"),
    [
        ("@@ def first(a):", 1),
        ("@@ def second(b):", 2),
        ("@@ def second(b): @@", 2),
        ("@@ def second", 2),
        ("@@ -90,1 +90,1 @@ def second(b):", 2),
        ("@@ -4,2 +4,2 @@ def first(a):", 1),
    ],
)
def test_the_heading_names_the_block(header, which):
    result = _apply(ENDS, f"{header}\n{BODY}")
    assert result.files["f"] == _changed(ENDS, which)


@pytest.mark.parametrize(
    "header",
    [
        "@@",
        "@@ ... @@",
        "@@ def sec",
        "@@ def third():",
        "@@ one = 1",
        "@@ last = 2",
        "@@ -7,9 +7,1 @@",
    ],
)
def test_a_heading_that_opens_neither_block_decides_nothing(header):
    result = _apply(ENDS, f"{header}\n{BODY}")
    assert _codes(result) == ["ambiguous"]
    assert result.errors[0].lines == (5, 10)


def test_a_heading_that_opens_both_blocks_decides_nothing():
    text = "class Box:\n" + "".join(
        f"    {line}\n" if line else "\n" for line in ENDS.split("\n")[:-1]
    )
    body = "".join(f"{line[0]}    {line[1:]}\n" for line in BODY.split("\n")[:-1])
    assert _codes(_apply(text, f"@@ class Box:\n{body}")) == ["ambiguous"]
    assert _apply(text, f"@@ def second(b):\n{body}").files["f"] == _changed(text, 2)


def test_a_heading_that_was_clipped_still_names_the_block():
    name = "def second_with_a_name_that_goes_on_and_on_and_on_for_longer_than_headings_can_be"
    text = ENDS.replace("def second", name)
    assert _apply(text, f"@@ {name[:75]}\n{BODY}").files["f"] == _changed(text, 2)


ONE = "@@\n-one = 1\n+one = 11\n"
LAST = "@@\n-last = 2\n+last = 22\n"
MIDDLE = "@@\n-def second(b):\n+def middle(b):\n"


def test_hunks_come_one_after_the_other():
    result = _apply(ENDS, MIDDLE, f"@@\n{BODY}", LAST)
    assert result.files["f"] == _changed(ENDS, 2).replace(b"second", b"middle").replace(
        b"= 2", b"= 22"
    )
    result = _apply(ENDS, ONE, f"@@\n{BODY}", MIDDLE)
    assert result.files["f"] == _changed(ENDS, 1).replace(b"second", b"middle").replace(
        b"= 1", b"= 11"
    )


def test_neighbours_that_leave_two_places_do_not_decide():
    assert _codes(_apply(ENDS, ONE, f"@@\n{BODY}", LAST)) == ["ambiguous"]


def test_hunks_that_are_not_in_order_do_not_decide():
    assert _codes(_apply(ENDS, LAST, MIDDLE, f"@@\n{BODY}")) == ["ambiguous"]


def test_neighbours_that_leave_no_place_do_not_decide():
    text = ENDS + "middle = 3\n"
    hunks = ("@@\n-last = 2\n+last = 22\n", f"@@\n{BODY}", "@@\n-middle = 3\n+middle = 4\n")
    assert _codes(_apply(text, *hunks)) == ["ambiguous"]


def test_sections_of_one_file_have_no_order():
    header = "--- a/f\n+++ b/f\n"
    result = _apply(ENDS, MIDDLE, header, f"@@\n{BODY}")
    assert _codes(result) == ["ambiguous"]


def test_different_hunks_for_the_same_text_are_in_order():
    other = BODY.replace("result", "outcome")
    result = _apply(ENDS, f"@@\n{BODY}", f"@@\n{other}")
    want = ENDS.replace("return total", "return result", 1).replace(
        "return total", "return outcome"
    )
    assert result.files["f"] == want.encode()


def test_stated_numbers_that_contradict_the_written_order_leave_it_open():
    later = "@@ -22,1 +22,1 @@\n-last = 2\n+last = 22\n"
    text = "x = 1\n" * 3 + ENDS
    result = _apply(text, later, f"@@ -4,2 +4,2 @@\n{BODY}")
    assert _codes(result) == ["ambiguous"]


def test_numbers_decide_the_order_where_the_written_one_cannot_be():
    text = "x = 1\n" * 3 + ENDS
    hunks = (
        "@@ -13,1 +13,1 @@\n-last = 2\n+last = 22\n",
        f"@@ -9,2 +9,2 @@\n{BODY}",
        "@@ -6,1 +6,1 @@\n-def second(b):\n+def middle(b):\n",
    )
    assert _apply(text, *hunks).files["f"].count(b"return result") == 1


END = "        done()\n    }\n}\n"
TAIL = " " + END.replace("\n", "\n ")[:-1] + "+// the end\n"


def test_a_hunk_that_the_end_of_the_file_cuts_short_belongs_there():
    text = f"start()\n{END}middle()\n{END}"
    result = _apply(text, f"@@ -3,3 +3,4 @@\n{TAIL}")
    assert result.files["f"] == f"{text}// the end\n".encode()
    assert _codes(_apply(text, f"@@\n{TAIL}")) == ["ambiguous"]


def test_a_hunk_cut_short_by_the_end_is_not_moved_up():
    text = f"start()\n{END}middle()\nfinish()\n"
    result = _apply(text, f"@@ -3,3 +3,4 @@\n{TAIL}")
    assert _codes(result) == ["offset_exceeded"]
    assert "end of the file" in result.errors[0].message
    assert _apply(text, f"@@ -2,3 +2,4 @@\n{TAIL}").ok


def test_a_hunk_cut_short_by_the_top_is_not_moved_down():
    text = "new line\nTitle\nalpha\nbeta\ngamma\n"
    hunk = "-Title\n+TITLE\n alpha\n beta\n gamma\n"
    result = _apply(text, f"@@ -1,4 +1,4 @@\n{hunk}")
    assert _codes(result) == ["offset_exceeded"]
    assert "top of the file" in result.errors[0].message
    assert _apply(text, f"@@ -2,4 +2,4 @@\n{hunk}").ok


def test_braces_at_the_end_of_the_file_are_enough():
    text = "go()\n  {\n    }\n  }\n)\n"
    assert _apply(text, "@@\n   {\n     }\n   }\n-)\n+))\n").ok


def test_a_chosen_place_keeps_the_offset_limit():
    text = "x = 1\n" * 300 + ENDS
    result = _apply(text, f"@@ -7,2 +7,2 @@ def second(b):\n{BODY}")
    assert _codes(result) == ["offset_exceeded"]


def test_a_removal_is_due_while_what_it_removes_is_there():
    text = "new\nstart\nx = 1\nstart\nend\n"
    hunk = "@@ -1,4 +1,2 @@\n start\n-x = 1\n-start\n end\n"
    assert _apply(text, hunk).files["f"] == b"new\nstart\nend\n"


def test_a_removal_that_was_made_where_it_says_is_not_made_elsewhere():
    text = "start\nend\nmore\nstart\nx = 1\nend\n"
    assert _codes(_apply(text, "@@ -1,3 +1,2 @@\n start\n-x = 1\n end\n")) == ["already_applied"]


def test_applied_outcome_elsewhere_does_not_skip_a_hunk():
    text = "a = 1\nb = 2\nuse(a)\nfirst\na = 1\nb = 3\nuse(a)\nlast\n"
    hunk = "@@\n a = 1\n-b = 2\n+b = 3\n use(a)\n"
    assert _codes(_apply(text, hunk)) == ["already_applied"]
    result = _apply(text, hunk, "@@\n-first\n+FIRST\n")
    assert result.files["f"] == text.replace("b = 2", "b = 3").replace("first", "FIRST").encode()


def test_byte_order_mark_does_not_resolve_ambiguity():
    text = "\ufefftitle\nalpha one\nend\n" * 2
    hunk = "@@\n \ufefftitle\n-alpha one\n+ALPHA\n end\n"
    assert _codes(_apply(text, hunk)) == ["ambiguous"]
    assert _apply(text[:20], hunk).ok
