"""Where hunks go: stated lines, drift, fuzz, twins, overlaps, partial application."""

import pytest

from flyball.patch import apply_diff

NUMBERED = "".join(f"line {n} of the file\n" for n in range(1, 401))


def _diff(*hunks: str, path: str = "f") -> str:
    return f"--- a/{path}\n+++ b/{path}\n" + "".join(hunks)


def _apply(text: str, *hunks: str, **options):
    return apply_diff({"f": text.encode()}, _diff(*hunks), **options)


def _codes(result) -> list[str]:
    return [error.code.value for error in result.errors]


TWINS = "def a():\n    go = 1\n    return go\n\n\ndef b():\n    go = 1\n    return go\n"
TWIN_BODY = "     go = 1\n-    return go\n+    return stop\n"


def test_the_stated_line_is_taken_among_twins():
    result = _apply(TWINS, "@@ -7,2 +7,2 @@\n" + TWIN_BODY)
    assert result.files["f"] == TWINS[:-10].encode() + b"return stop\n"


def test_a_header_that_contradicts_its_body_does_not_decide_among_twins():
    result = _apply(TWINS, "@@ -7,9 +7,1 @@\n" + TWIN_BODY)
    assert _codes(result) == ["ambiguous"]
    assert result.errors[0].lines == (2, 7)


def test_numbers_that_contradict_each_other_do_not_decide_either():
    first = "@@ -1,1 +1,2 @@\n def a():\n+    pass\n"
    result = _apply(TWINS, first, "@@ -7,2 +7,2 @@\n" + TWIN_BODY)
    assert _codes(result) == ["ambiguous"]


def test_equal_hunks_for_as_many_places_leave_nothing_to_guess():
    result = _apply(TWINS, "@@\n" + TWIN_BODY, "@@\n" + TWIN_BODY)
    assert result.files["f"] == TWINS.replace("return go", "return stop").encode()


def test_three_equal_hunks_for_two_places_are_ambiguous():
    result = _apply(TWINS, *["@@\n" + TWIN_BODY] * 3)
    assert _codes(result) == ["ambiguous"] * 3


def test_later_hunks_are_expected_where_earlier_ones_drifted_to():
    text = "x\n" * 3 + TWINS
    first = "@@ -1,2 +1,2 @@\n-def a():\n+def c():\n     go = 1\n"
    result = _apply(text, first, "@@ -7,2 +7,2 @@\n" + TWIN_BODY)
    want = text.replace("def a", "def c")[:-10] + "return stop\n"
    assert result.files["f"] == want.encode()
    assert [taken.offset for taken in result.changes[0].taken] == [3, 0]


@pytest.mark.parametrize(("limit", "codes"), [(150, ["offset_exceeded"]), (200, [])])
def test_the_offset_is_limited(limit, codes):
    body = " line 210 of the file\n-line 211 of the file\n+LINE\n"
    result = _apply(NUMBERED, "@@ -20,2 +20,2 @@\n" + body, max_offset=limit)
    assert _codes(result) == codes


def test_made_up_numbers_have_no_offset():
    body = " line 310 of the file\n-line 311 of the file\n+LINE\n"
    assert _apply(NUMBERED, "@@ -1,2 +1,2 @@\n" + body).ok
    assert _apply(NUMBERED, "@@ -5000,2 +5000,2 @@\n" + body).ok


@pytest.mark.parametrize("space", ["", " "])
def test_many_hunks_without_numbers_are_all_found(space):
    hunks = [
        f"@@\n line {n} of the file{space}\n-line {n + 1} of the file\n+new {n}\n"
        for n in range(1, 400, 10)
    ]
    result = _apply(NUMBERED, *hunks)
    assert result.ok
    assert result.changes[0].after.count(b"new") == 40
    wrong = "@@\n line 2 of the file\n-no such line\n+x\n"
    assert _codes(_apply(NUMBERED, *hunks, wrong)) == ["no_match"]


def test_a_block_that_would_begin_before_the_file_is_not_there():
    assert _codes(_apply("long first line\nb\n", "@@\n a\n-long first line\n+x\n")) == ["no_match"]


FUZZY = "@@ -2,3 +2,3 @@\n alpha one\n-beta two\n+BETA\n gamma three\n"


def test_fuzz_ignores_outer_context_only_when_asked():
    text = "zero\nalpha changed\nbeta two\ngamma three\n"
    assert _codes(_apply(text, FUZZY)) == ["no_match"]
    result = _apply(text, FUZZY, fuzz=1)
    assert result.files["f"] == text.replace("beta two", "BETA").encode()
    assert result.changes[0].taken[0].fuzz == 1
    assert any("fuzz 1" in warning for warning in result.warnings)


def test_no_more_fuzz_than_needed_is_used():
    result = _apply("zero\nalpha changed\nbeta two\ngamma three\n", FUZZY, fuzz=2)
    assert result.changes[0].taken[0].fuzz == 1


def test_equal_hunks_that_need_fuzz_take_one_place_each():
    text = "alpha x\nbeta two\ngamma x\nalpha y\nbeta two\ngamma y\n"
    hunk = FUZZY.replace("-2,3 +2,3", "...")
    result = _apply(text, hunk, hunk, fuzz=1)
    assert result.files["f"] == text.replace("beta two", "BETA").encode()
    assert _codes(_apply(text, hunk, fuzz=1)) == ["ambiguous"]


def test_context_that_lost_its_space_beyond_the_edges_of_the_file():
    hunk = "@@\nlast words\nfirst words\n-here\n+there\n"
    assert _codes(_apply("first words\nhere\nlast words\n", hunk)) == ["no_match"]


def test_numbers_that_are_all_zero_say_nothing():
    result = _apply("first words\nhere\n", "@@ -0,0 +0,0 @@\n first words\n-here\n+there\n")
    assert result.files["f"] == b"first words\nthere\n"


def test_fuzz_never_drops_removed_lines():
    assert _codes(_apply("zero\nalpha one\nbeta 2\ngamma three\n", FUZZY, fuzz=2)) == ["no_match"]


def test_fuzz_that_leaves_nothing_to_look_for_finds_nothing():
    hunk = "@@ -2,2 +2,3 @@\n alpha one\n+new\n beta two\n"
    assert _codes(_apply("other\nthings\n", hunk, fuzz=1)) == ["no_match"]


def test_fuzz_must_still_be_unique():
    text = "alpha x\nbeta two\ngamma x\nalpha y\nbeta two\ngamma y\n"
    assert _codes(_apply(text, FUZZY, fuzz=1)) == ["ambiguous"]


def test_the_same_addition_at_the_edge_is_not_made_twice():
    text = "first line\nsecond line\nthird line\n"
    after = "@@ -1,1 +1,2 @@\n first line\n+second line\n"
    before = "@@ -2,1 +2,2 @@\n+first line\n second line\n"
    for hunk in (after, before, "@@\n first line\n+second line\n"):
        assert _codes(_apply(text, hunk)) == ["already_applied"]
    assert _apply(text, "@@ -2,1 +2,2 @@\n+zeroth line\n second line\n").ok


def test_a_twin_that_is_already_as_wanted_makes_the_place_doubtful():
    text = TWINS.replace("return go", "return stop", 1)
    assert _codes(_apply(text, "@@\n" + TWIN_BODY)) == ["already_applied"]


def test_lines_that_are_only_removed_are_there_to_be_removed():
    text = "one = 1\ntwo = 2\nthree = 3\n"
    assert _apply(text, "@@\n one = 1\n-two = 2\n-three = 3\n").files["f"] == b"one = 1\n"


def test_wrong_counts_with_a_near_line_stay_unambiguous():
    text = TWINS.replace("return go", "return stop", 1)
    assert _apply(text, "@@ -7,9 +7,9 @@\n" + TWIN_BODY + "@@\n \n").ok


def test_context_that_the_header_counts_but_the_hunk_hides_is_missed():
    text = "title\n\nwords in a row\nmore of them\n"
    assert _codes(_apply(text, "@@ -1,3 +1,4 @@\n+badge\n \n words in a row\n")) == ["no_match"]


def test_hunk_marked_as_end_applies_at_the_end():
    unended = "@@ -1 +1,2 @@\n-x = 100\n\\ No newline at end of file\n+x = 100\n+y = 200\n"
    assert _apply("x = 100", unended).files["f"] == b"x = 100\ny = 200\n"
    result = _apply("x = 100\ny = 200\n", unended)
    assert not result.ok


def test_lines_added_behind_an_unended_crlf_line():
    hunk = "@@ -2 +2,2 @@\n second\n+third\n"
    assert _apply("first\r\nsecond", hunk).files["f"] == b"first\r\nsecond\r\nthird"


def test_an_insertion_between_crlf_lines_at_the_very_top():
    result = _apply("first\r\nsecond\r\n", "@@ -1 +1,2 @@\n+zero\n first\n")
    assert result.files["f"] == b"zero\r\nfirst\r\nsecond\r\n"


def test_an_exact_diff_keeps_the_line_endings_it_has():
    hunk = "@@ -1,2 +1,2 @@\n first\r\n-second\r\n+second\n"
    assert _apply("first\r\nsecond\r\n", hunk).files["f"] == b"first\r\nsecond\n"
    bare = "@@\n first one\r\n-second\r\n+third\n"
    assert _apply("first one\r\nsecond\r\n", bare).files["f"] == b"first one\r\nthird\r\n"
    assert _apply("first one\r\nsecond\r\nx\n", bare).files["f"] == b"first one\r\nthird\nx\n"


@pytest.mark.parametrize(("old", "new"), [("\r\n", "\n"), ("\n", "\r\n")])
def test_a_diff_that_changes_line_endings_means_it(old, new):
    lines = ["first one", "second one"]
    body = "".join(f"-{line}{old}" for line in lines) + "".join(f"+{line}{new}" for line in lines)
    text = "".join(line + old for line in lines)
    assert _apply(text, "@@\n" + body).files["f"] == text.replace(old, new).encode()


def test_a_single_unended_line_takes_the_plain_ending():
    assert _apply("only", "@@\n-only\r\n+more\r\n").files["f"] == b"more"


def test_all_lines_may_go():
    assert _apply("gone\n", "@@ -1 +0,0 @@\n-gone\n").files["f"] == b""


def test_an_empty_file_takes_additions_without_context():
    assert _apply("", "@@ -0,0 +1 @@\n+x\n").files["f"] == b"x\n"


@pytest.mark.parametrize(
    ("one", "two"),
    [
        (
            "@@ -1,2 +1,3 @@\n a line\n+new\n b line\n",
            "@@ -1,2 +1,3 @@\n a line\n+other\n b line\n",
        ),
        (
            "@@ -1,3 +1,3 @@\n a line\n-b line\n+B\n c line\n",
            "@@ -2,2 +2,2 @@\n b line\n-c line\n+C\n",
        ),
        (
            "@@ -1,3 +1,3 @@\n a line\n b line\n-c line\n+C\n",
            "@@ -2,2 +2,1 @@\n-b line\n-c line\n+X\n",
        ),
        (
            "@@ -1,3 +1,1 @@\n-a line\n-b line\n-c line\n+X\n",
            "@@ -1,2 +1,3 @@\n a line\n+new\n b line\n",
        ),
        (
            "@@ -1,4 +1,4 @@\n a line\n b line\n c line\n-d line\n+D\n",
            "@@ -1,2 +1,3 @@\n a line\n+new\n b line\n",
        ),
    ],
)
def test_hunks_that_contradict_each_other(one, two):
    result = _apply("a line\nb line\nc line\nd line\n", one, two)
    assert "overlap" in _codes(result)


def test_hunks_side_by_side_do_not_overlap():
    text = "a line\nb line\nc line\nd line\n"
    result = _apply(text, "@@ -1,1 +1,1 @@\n-a line\n+A\n", "@@ -2,1 +2,1 @@\n-b line\n+B\n")
    assert result.files["f"] == b"A\nB\nc line\nd line\n"


def test_partial_applies_fitting_hunks_and_lists_skipped():
    bad = "@@\n nowhere to be seen\n-gone\n+here\n"
    good = "@@ -1,2 +1,2 @@\n-line 1 of the file\n+LINE\n line 2 of the file\n"
    result = _apply(NUMBERED, good, bad, partial=True)
    assert result.ok
    assert _codes(result) == ["no_match"]
    assert (len(result.changes[0].taken), result.changes[0].skipped) == (1, (2,))
    assert not _apply(NUMBERED, bad, partial=True).ok
    assert not _apply(NUMBERED, good, bad).ok


def test_partial_skips_whole_files_too():
    good = _diff("@@ -1 +1 @@\n-a\n+b\n", path="x")
    result = apply_diff(
        {"x": b"a\n"}, good + _diff("@@ -1 +1 @@\n-a\n+b\n", path="y"), partial=True
    )
    assert result.ok
    assert result.files == {"x": b"b\n"}
    assert _codes(result) == ["file_missing"]
