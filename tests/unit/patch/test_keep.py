import pytest

from flyball.patch import apply_diff, merge3
from flyball.patch.keep import changed_regions, regions


@pytest.mark.parametrize(
    ("start", "end"),
    [
        ("# {} x", "# {} x"),
        ("// {} x", "// {} x"),
        ("/* {} x */", "/* {} x */"),
        ("<!-- {} x -->", "<!--{} x-->"),
        ("-- {} x", "--{} x"),
        ("{{# {} x #}}", "{{# {} x #}}"),
        ("code();  // {} x", "  * {} x"),
        ("' {} x", '" {} x'),
        ("; {} x", "% {} x"),
        ("it's # {} x", 's = "a" # {} x'),
        ('s = "a\\"b" # {} x', "s = 'a\"' # {} x"),
        ("REM {} x", "  {} x"),
    ],
)
def test_markers_in_any_comment(start, end):
    lines = ["a", start.format("VIBE-KEEP START"), "b", end.format("VIBE-KEEP END"), "c"]
    found = regions("\n".join(lines).encode())
    assert [(r.name, r.first, r.last) for r in found.found] == [("x", 2, 4)]
    assert not found.problems


@pytest.mark.parametrize(
    "line",
    [
        's = "VIBE-KEEP START x"',
        's = "# VIBE-KEEP START x"',
        "'VIBE-KEEP START x'",
        "we say VIBE-KEEP START x",
        "VIBE-KEEPSTART x",
    ],
)
def test_markers_in_strings_and_prose_do_not_count(line):
    assert regions(line.encode()).found == ()
    assert regions(line.encode()).problems == ()


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("# VIBE-KEEP START a\n", "has no END"),
        ("# VIBE-KEEP END a\n", "without a START"),
        (
            "# VIBE-KEEP START a\n# VIBE-KEEP START b\n# VIBE-KEEP END b\n# VIBE-KEEP END a\n",
            "starts inside 'a'",
        ),
        ("# VIBE-KEEP START a\n# VIBE-KEEP END a\n" * 2, "occurs 2 times"),
    ],
)
def test_broken_markers_are_reported(text, problem):
    assert any(problem in found for found in regions(text.encode()).problems)


def test_an_unnamed_end_closes_the_nearest_region():
    found = regions(b"# VIBE-KEEP START a\nx\n# VIBE-KEEP END\n")
    assert [r.name for r in found.found] == ["a"]


def test_every_lost_copy_of_a_doubled_region_counts():
    one = b"# VIBE-KEEP START a\nx\n# VIBE-KEEP END a\n"
    assert len(changed_regions(regions(one + one), regions(one))) == 1
    assert changed_regions(regions(one), regions(b"y\n" + one)) == []


KEPT = b"a = 1\n# VIBE-KEEP START s\nb = 2\n# VIBE-KEEP END s\nc = 3\n"
TOUCH = "--- a/k\n+++ b/k\n@@ -3 +3 @@\n-b = 2\n+b = 9\n"
BESIDE = "--- a/k\n+++ b/k\n@@ -1 +1 @@\n-a = 1\n+a = 9\n"


def test_a_released_region_is_named_in_a_warning():
    result = apply_diff({"k": KEPT}, TOUCH, keep_regions=False)
    assert result.ok
    assert any("'s' (lines 2 to 4)" in warning for warning in result.warnings)


def test_the_refusal_names_region_lines_and_hunk():
    (refusal,) = apply_diff({"k": KEPT}, TOUCH).errors
    assert (refusal.code, refusal.hunk, refusal.lines) == ("keep_region", 1, (2, 4))
    assert "'s'" in refusal.message


def test_problems_with_markers_are_warned_of_and_do_not_refuse():
    broken = KEPT.replace(b"# VIBE-KEEP END s\n", b"")
    result = apply_diff({"k": broken}, BESIDE)
    assert result.ok
    assert any("has no END" in warning for warning in result.warnings)


def test_a_region_changed_through_a_merge_is_refused_too():
    now = KEPT.replace(b"c = 3", b"c = 4")
    result = apply_diff({"k": now}, TOUCH, base={"k": KEPT})
    assert [error.code for error in result.errors] == ["keep_region"]


def test_sections_applied_in_turn_name_no_hunk():
    one = "--- a/k\n+++ b/k\n@@ -3 +3 @@\n-b = 2\n+b = 3\n"
    (refusal,) = apply_diff(
        {"k": KEPT}, one + one.replace("b = 3", "b = 4").replace("-b = 2", "-b = 3")
    ).errors
    assert (refusal.code, refusal.hunk) == ("keep_region", 0)


def test_the_hunk_that_reaches_into_the_region_is_named():
    two = BESIDE + "@@ -3 +3 @@\n-b = 2\n+b = 9\n"
    (refusal,) = apply_diff({"k": KEPT}, two).errors
    assert (refusal.code, refusal.hunk) == ("keep_region", 2)


BASE = b"a\nb\nc\nd\ne\nf\ng\n"


@pytest.mark.parametrize(
    ("ours", "theirs", "merged"),
    [
        (BASE, b"a\nB\nc\nd\ne\nf\ng\n", b"a\nB\nc\nd\ne\nf\ng\n"),
        (b"a\nB\nc\nd\ne\nf\ng\n", BASE, b"a\nB\nc\nd\ne\nf\ng\n"),
        (b"A\nb\nc\nd\ne\nf\ng\n", b"a\nb\nc\nd\ne\nf\nG\n", b"A\nb\nc\nd\ne\nf\nG\n"),
        (b"a\nx\nb\nc\nd\ne\nf\ng\n", b"a\nb\nc\ne\nf\ng\n", b"a\nx\nb\nc\ne\nf\ng\n"),
        (b"same\n", b"same\n", b"same\n"),
        (b"a\nB\nc\nd\ne\nf\nG\n", b"a\nB\nc\nD\ne\nf\ng\n", b"a\nB\nc\nD\ne\nf\nG\n"),
        (b"a\nb\nc\nd\ne\nf\ng\nh", b"A\nb\nc\nd\ne\nf\ng\n", b"A\nb\nc\nd\ne\nf\ng\nh"),
    ],
)
def test_merge_combines_both_sides(ours, theirs, merged):
    result = merge3(BASE, ours, theirs)
    assert result.ok
    assert result.data == merged


@pytest.mark.parametrize(
    ("ours", "theirs", "lines"),
    [
        (b"a\nX\nc\nd\ne\nf\ng\n", b"a\nY\nc\nd\ne\nf\ng\n", (2, 2)),
        (b"a\nX\nc\nd\ne\nf\ng\n", b"a\nb\nY\nd\ne\nf\ng\n", (2, 3)),
        (b"a\nb\nc\nd\ne\nf\ng\nx\n", b"a\nb\nc\nd\ne\nf\ng\ny\n", (8, 8)),
    ],
)
def test_what_both_sides_changed_differently_is_a_clash(ours, theirs, lines):
    result = merge3(BASE, ours, theirs)
    assert not result.ok
    assert result.data == ours
    assert (result.clashes[0].first, result.clashes[0].last) == lines
    assert result.clashes[0].ours != result.clashes[0].theirs
