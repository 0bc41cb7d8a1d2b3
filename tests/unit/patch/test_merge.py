import pytest

from flyball.patch import merge3

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
def test_what_each_side_changed_goes_together(ours, theirs, merged):
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
