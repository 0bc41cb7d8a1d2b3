"""Reading diffs: what belongs to a hunk and what does not."""

import pytest

from flyball.patch import apply_diff, touched_paths
from flyball.patch.engine import why_forbidden
from flyball.patch.parse import candidates, git_names, header_name, parse

HEAD = "--- a/f\n+++ b/f\n"


def _bodies(diff: str) -> list[str]:
    return [hunk.marks.decode() for section in parse(diff).sections for hunk in section.hunks]


@pytest.mark.parametrize(
    ("diff", "bodies"),
    [
        (HEAD + "@@ -1,2 +1,2 @@\n a\n-b\n+c\n", [" -+"]),
        (HEAD + "@@ -1,2 +1,2 @@\n a\n-b\n+c\n- a bullet\n", [" -+-"]),
        (HEAD + "@@ -1,2 +1,2 @@\n a\n-b\n+c\n\n- a bullet\n", [" -+"]),
        (HEAD + "@@ -1,2 +1,2 @@\n a\n-b\n+c\n\n d\n+e\n", [" -+  +"]),
        (HEAD + "@@ -1,1 +1,1 @@\n a\n \n-b\n+c\n", ["  -+"]),
        (HEAD + "@@ -1,1 +1,1 @@\n a\n \n-b\n\\ No newline at end of file\n+c\n", ["  -+"]),
        (HEAD + "@@ -1,9 +1,9 @@\n-a\n+b\n```\n", ["-+"]),
        (HEAD + "@@ -1,3 +1,3 @@\n-a\n+b\n```\n c\n", ["-+? "]),
        (HEAD + "@@ -1,9 +1,9 @@\n-a\n+b\n```\nprose\n```\n more\n", ["-+"]),
        (HEAD + "@@ -1,4 +1,4 @@\n-a\n+b\n```go\nx\n```\n-c\n+d\n", ["-+???-+"]),
        (HEAD + "@@ -1,9 +1,9 @@\n-a\n+b\n```\nprose\n@@ -1 +1 @@\n-x\n+y\n", ["-+", "-+"]),
        (HEAD + "@@ -1,2 +1,2 @@\n a\n-b\n+c\n\n-d\n+e\n", [" -+ -+"]),
        (HEAD + "@@ -1,9 +1,9 @@\n-a\n+b\n--- a/g\n+++ b/g\n@@ -1 +1 @@\n-x\n+y\n", ["-+", "-+"]),
        (HEAD + "@@ -1,9 +1,9 @@\n-a\n+b\n+++ b/g\n@@ -1 +1 @@\n-x\n+y\n", ["-+", "-+"]),
        (HEAD + "@@\n-a\n+b\n--- a/g\n@@ -1 +1 @@\n-x\n+y\n", ["-+", "-+"]),
        (HEAD + "@@\n-a\n+b\n--- a/g\n+++ b/g\n-x\n+y\n", ["-+", "-+"]),
        (HEAD + "@@\n-a\n+b\n--- old words\n+++ new words\n", ["-+-+"]),
        (HEAD + "@@\n-a\n+b\n\nSome prose here.\n", ["-+"]),
        (HEAD + "@@\n-a\n+b\nbare words\n\nprose\n", ["-+?"]),
        (HEAD + "@@\n-a\n+b\n-- \n2.39.5\n", ["-+"]),
        (HEAD + "@@\n-a\n+b\n-- \nmore\n", ["-+-?"]),
        (HEAD + "@@\n-a\n+b\n-- \n", ["-+-"]),
        (HEAD + "@@ -1 +1 @@\n-a\n\\ No newline at end\n+b\n\\ No newline at end\n", ["-+"]),
        (HEAD + "@@\n\\ No newline at end of file\n-a\n+b\n", ["-+"]),
        ("+++ b/f\n-a\n+b\n", ["-+"]),
        (HEAD + "prose\n", []),
        (HEAD, []),
    ],
)  # fmt: skip
def test_what_belongs_to_a_hunk(diff, bodies):
    assert _bodies(diff) == bodies


def test_marked_lines_outside_every_hunk_refuse_the_file():
    diff = HEAD + "@@ -1 +1 @@\n-a\n+b\n```\nand further down:\n+    c = 1\n-d\n"
    result = apply_diff({"f": b"a\nd\n"}, diff)
    assert [error.code for error in result.errors] == ["not_a_diff"]
    assert "Line 8 of the diff is marked with +" in result.errors[0].message


def test_lists_and_rules_outside_every_hunk_are_prose():
    diff = HEAD + "@@ -1 +1 @@\n-a\n+b\n```\n- changed a\n+ nothing else\n---\n-\n"
    assert apply_diff({"f": b"a\n"}, diff).ok


def test_a_lone_header_above_prose_is_prose():
    parsed = parse("--- we say\nnothing\n" + HEAD + "@@\n-a\n+b\n")
    assert len(parsed.sections) == 1


def test_a_header_without_a_name_is_not_a_path():
    result = apply_diff({}, "--- \n+++ \n@@\n-a\n+b\n")
    assert [error.code for error in result.errors] == ["path_forbidden"]


@pytest.mark.parametrize(
    "diff",
    [
        "diff --git a/x b/x\n",
        "diff --git a/x b/",
        "diff --git a/x b/x\nnew file mode 100644\n",
        "diff --git a/x b/x\nnew file mode 100644\nindex 000..123\n",
        HEAD + "@@ -1 +1 @@\n-a\n+b\ndiff --gi",
        HEAD + "@@ -1 +1 @@\n-a\n+b\n--- a/g\n+++ b/g\n",
        HEAD + "@@ -1 +1 @@\n-a\n+b\n@@ -5,3 +5,3 @@\n",
        HEAD + "@@ -1 +1 @@\n-a\n+b\n@@ -5,3 +5,3 @@\n x\n y",
    ],
)
def test_a_diff_that_stops_early(diff):
    result = apply_diff({"f": b"a\n", "x": b"", "g": b""}, diff)
    assert [error.code for error in result.errors] == ["truncated"]


def test_an_empty_file_may_go():
    diff = "diff --git a/x b/x\ndeleted file mode 100644\nindex e69de29..0000000\n"
    result = apply_diff({"x": b""}, diff)
    assert result.files == {"x": None}


def test_null_side_with_a_git_header():
    diff = "diff --git a/x b/x\n+++ /dev/null\n@@ -1 +0,0 @@\n-a\n"
    assert apply_diff({"x": b"a\n"}, diff).files == {"x": None}


def test_lone_surrogates_do_not_disturb():
    assert not apply_diff({"f": b"a\n"}, HEAD + "@@ -1 +1 @@\n-\ud800\n+b\n").ok
    result = apply_diff({"f": b"\xff\n"}, HEAD + "@@ -1 +1 @@\n-\udcff\n+b\n")
    assert result.files == {"f": b"b\n"}


def test_a_byte_order_mark_before_the_diff_is_not_part_of_it():
    assert apply_diff({"f": b"a\n"}, "\ufeff" + HEAD + "@@ -1 +1 @@\n-a\n+b\n").ok


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
