"""What `${name…}` makes of a text."""

import pytest

from flyball.shellcheck.words.expansion import changed


@pytest.mark.parametrize(
    ("how", "texts"),
    [
        ("", ["a.env"]),
        (",,", ["a.env"]),
        ("^", ["a.env"]),
        (":?gone", ["a.env"]),
        (":-x", ["a.env", "x"]),
        ("='b c'", ["a.env", "b c"]),
        ("-$y", ["a.env", "*"]),
        ("%env", ["a."]),
        ("%%nothing", ["a.env"]),
        ("#a", [".env"]),
        ("##a.", ["env"]),
        ("%$y", ["a.env"[:i] for i in range(6)]),
        ("#*.", ["a.env"[i:] for i in range(6)]),
        (":1", [".env"]),
        (":1:2", [".e"]),
        (": -3", ["env"]),
        (":(-3)", ["env"]),
        (":1:-1", [".en"]),
        ("/a/b", ["b.env"]),
        ("//[a]/b", []),
        ("/a", [".env"]),
        (":n", []),
        ("@U", []),
    ],
)
def test_what_is_followed(how, texts):
    assert list(changed(["a.env"], how)) == texts


def test_what_is_not_known_stays_so():
    assert changed(["*", ""], "%x") == ["*"]


def test_a_long_text_is_not_cut_everywhere():
    assert changed(["x" * 100], "%*") == []


def test_all_that_match_may_be_replaced():
    assert changed(["aa"], "//a/b") == ["bb"]
    assert changed(["aa"], "/a/b") == ["ba"]
