"""Conditions under which tests run: which take a test away, and which only seem to."""

from __future__ import annotations

import pytest

from flyball.verdict.tests import compare_tests
from flyball.verdict.tests._conditions import complement, features_in, is_usual
from flyball.verdict.tests._finding import ALARMS

FEATURES = frozenset({"std", "alloc"})
GO = (
    "package x\n\nfunc TestAdd(t *testing.T) {\n"
    "\tif got := Add(1, 2); got != 3 {\n\t\tt.Fatal(got)\n\t}\n}\n"
)
RUST = "#[test]\nfn adds() {\n    assert_eq!(add(1, 2), 3);\n}\n"
KNOWN = '#[cfg(feature = "std")]\nuse std::fmt;\n\n'
C = "void test_add(void) {\n    check(add(1, 2) == 3);\n}\n"


def alarms(path: str, before: str, after: str, **more: tuple[str, str]) -> list[str]:
    old = {path: before, **{name: pair[0] for name, pair in more.items()}}
    new = {path: after, **{name: pair[1] for name, pair in more.items()}}
    return [str(one.comparison) for one in compare_tests(old, new) if one.comparison in ALARMS]


@pytest.mark.parametrize(
    "skip",
    [
        "#[cfg(unix)]",
        '#[cfg(target_os="linux")]',
        '#[cfg(not(target_os="aix"))]',
        '#[cfg(all(test,feature="std"))]',
        '#![cfg(any(feature="alloc",feature="std"))]',
        '#[cfg(not(feature="std"))]',
        "#[cfg(not(no_btreemap_retain))]",
        "#[cfg(not(any(windows,wasm)))]",
        "build tag !windows&&!darwin&&!plan9",
        "build tag linux||darwin",
        "build tag (linux&&amd64)||windows",
        "build tag go1.18",
        "build tag !appengine",
        "#ifndef_WIN32",
        "#if!defined(_MSC_VER)",
    ],
)
def test_what_holds_on_most_machines_takes_nothing_away(skip: str):
    assert is_usual(skip, FEATURES)


@pytest.mark.parametrize(
    "skip",
    [
        "#[ignore]",
        "#[cfg(windows)]",
        '#[cfg(feature="never")]',
        '#[cfg(all(unix,feature="never"))]',
        "#[cfg(never)]",
        '#[cfg(target_arch="wasm32")]',
        "#[cfg(any())]",
        "#[cfg(not(all()))]",
        "#[cfg(",
        "#[cfg()]",
        "build tag never",
        "build tag windows||never",
        "build tag linux&&never",
        "build tag go1.99",
        "build tag !linux",
        "t.Skip(",
        "#if0",
        "#ifdef_WIN32",
        "#ifdefNEVER",
    ],
)
def test_what_holds_nowhere_or_on_few_machines_does(skip: str):
    assert not is_usual(skip, FEATURES)


def test_features_are_those_that_were_known_and_those_that_are_declared():
    before = {"src/lib.rs": KNOWN, "Cargo.toml": "[features]\nold = []\n"}
    after = {
        "Cargo.toml": (
            '[package]\nname = "x"\n\n[features]\ndefault = ["raw"]\nraw = []\n\n[deps]\nno = "1"\n'
        ),
        "src/lib.rs": '#[cfg(feature = "late")]\n',
        "sub/Cargo.toml": "[package]\n",
    }
    assert features_in(before, after) == {"std", "default", "raw"}


def test_two_attributes_that_leave_nothing_out_between_them_are_each_others_complement():
    assert complement("#[cfg(old)]") == "#[cfg(not(old))]"
    assert complement('#[cfg(not(any(a,feature="b")))]') == '#[cfg(any(a,feature="b"))]'
    assert complement("t.Skip(") == ""


@pytest.mark.parametrize(
    ("path", "before", "after"),
    [
        ("x_test.go", GO, "//go:build !windows\n\n" + GO),
        ("x_test.go", GO, "// +build linux darwin\n// +build amd64,!cgo386\n\n" + GO),
        ("tests/a.rs", KNOWN + RUST, KNOWN + '#[cfg(feature = "std")]\n' + RUST),
        ("tests/a.rs", "#[ignore]\n" + RUST, "#[should_panic]\n" + RUST),
        (
            "tests/a.rs",
            RUST,
            RUST.replace("    a", "    #[cfg(old)]\n    let _ = 1;\n    #[cfg(not(old))]\n    a"),
        ),
        ("test_add.c", C, "#ifndef _WIN32\n" + C + "#endif\n"),
    ],
)
def test_a_test_that_still_runs_is_no_alarm(path: str, before: str, after: str):
    assert alarms(path, before, after) == []


@pytest.mark.parametrize(
    ("path", "before", "after"),
    [
        ("x_test.go", GO, "//go:build never\n\n" + GO),
        ("x_test.go", GO, "// +build windows,linux never\n\n" + GO),
        ("tests/a.rs", KNOWN + RUST, KNOWN + '#[cfg(feature = "off")]\n' + RUST),
        ("tests/a.rs", RUST, "#[ignore]\n" + RUST),
        (
            "tests/a.rs",
            RUST + RUST.replace("adds", "b"),
            "#[ignore]\n" + RUST + "#[should_panic]\n" + RUST.replace("adds", "b"),
        ),
        ("test_add.c", C, "#ifdef NEVER\n" + C + "#endif\n"),
    ],
)
def test_one_that_does_not_is(path: str, before: str, after: str):
    assert "skipped" in alarms(path, before, after)


def test_a_feature_that_came_with_its_declaration_may_be_on():
    after = '#[cfg(feature = "raw")]\n' + RUST
    declared = ("[package]\n", "[package]\n[features]\nraw = []\n")
    assert alarms("tests/a.rs", RUST, after) == ["skipped"]
    assert alarms("tests/a.rs", RUST, after, **{"Cargo.toml": declared}) == []
