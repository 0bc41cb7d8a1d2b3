import pytest

from flyball.patch import apply_diff, touched_paths
from flyball.patch.engine import why_forbidden
from flyball.patch.parse import candidates, git_names, header_name


@pytest.mark.parametrize(
    ("written", "name"),
    [
        (b"a/x.py", "a/x.py"),
        (b"a/x.py\r", "a/x.py"),
        (b"a/x.py\t2024-01-01 10:00:00", "a/x.py"),
        (b"a/x.py 2024-01-01 10:00:00.0 +0100", "a/x.py"),
        (b"a/x.py  2024-01-01", "a/x.py"),
        (b"a/with space.py", "a/with space.py"),
        (b'"a/n\\303\\251\\t\\"q\\".py"', 'a/né\t"q".py'),
        (b'"odd', '"odd'),
    ],
)
def test_names_in_headers(written, name):
    assert header_name(written) == name


@pytest.mark.parametrize(
    ("written", "names"),
    [
        (b"a/x.py b/x.py", ("a/x.py", "b/x.py")),
        (b"a/x y.py b/x y.py", ("a/x y.py", "b/x y.py")),
        (b'"a/\\303\\251" "b/\\303\\251"', ("a/é", "b/é")),
        (b"a/x.py b/y.py", None),
        (b"a/x.py b/x", None),
    ],
)
def test_names_after_diff_git(written, names):
    assert git_names(written) == names


@pytest.mark.parametrize(
    ("old", "new", "found"),
    [
        ("a/x", "b/x", (("x",), ("x",))),
        ("old/x", "new/x", (("x",), ("x",))),
        ("x", "x", (("x",), ("x",))),
        ("/dev/null", "b/x", ((), ("x",))),
        ("a/x", "/dev/null", (("x",), ())),
        ("/dev/null", "x", ((), ("x",))),
        ("", "b/x", ((), ("x", "b/x"))),
        ("a/x", "a/x", (("x", "a/x"), ("x", "a/x"))),
        ("./x", "./src//x", (("x",), ("src/x",))),
        ("a//etc/x", "b//etc/x", (("/etc/x",), ("/etc/x",))),
    ],
)
def test_what_a_header_may_mean(old, new, found):
    assert candidates(old, new) == found


@pytest.mark.parametrize(
    "path",
    [
        "",
        "/etc/passwd",
        "~/x",
        "C:\\x",
        "C:/x",
        "../x",
        "a/../../x",
        "..\\x",
        "a\nb",
        "a\0b",
        ".git/config",
        ".git",
        "sub/.git/hooks/pre-commit",
        ".GIT/config",
        ".git./config",
        ".git /config",
        ".git::$INDEX_ALLOCATION/config",
        "git~1/config",
        ".g\u200cit/config",
        "．git/config",
        "node_modules/x/i.js",
        "web/Node_Modules/x.js",
        ".flyball/state",
    ],
)
def test_forbidden_paths(path):
    assert why_forbidden(path)


@pytest.mark.parametrize(
    "path",
    ["x.py", ".gitignore", "git/x", ".github/x.yml", "a..b/c", "ünïcode/x", "a/.hidden", "x~"],
)
def test_allowed_paths(path):
    assert why_forbidden(path) is None


def test_paths_that_a_diff_names():
    diff = "--- a/x\n+++ b/x\n@@\n-1\n+2\n--- /dev/null\n+++ b/y\n@@ -0,0 +1 @@\n+1\n"
    assert touched_paths(diff) == ("x", "y")
    assert touched_paths("+++ b/x\n@@\n-1\n+2\n") == ("x", "b/x")
    assert touched_paths("no diff") == ()


def test_a_path_that_really_begins_with_a():
    result = apply_diff({"a/x": b"1\n"}, "--- a/x\n+++ a/x\n@@ -1 +1 @@\n-1\n+2\n")
    assert result.files == {"a/x": b"2\n"}
