import json

from flyball.patch import ChangeType, apply_diff

FILES = {"a.py": b"one\ntwo\n", "gone.py": b"x\n", "same.py": b"s\n"}
DIFF = """--- a/a.py
+++ b/a.py
@@ -1,2 +1,2 @@
 one
-two
+three
--- /dev/null
+++ b/new.py
@@ -0,0 +1 @@
+n
--- a/gone.py
+++ /dev/null
@@ -1 +0,0 @@
-x
"""


def test_the_result_holds_every_file():
    result = apply_diff(FILES, DIFF)
    assert result.files == {
        "a.py": b"one\nthree\n",
        "gone.py": None,
        "same.py": b"s\n",
        "new.py": b"n\n",
    }
    assert [c.type for c in result.changes] == [
        ChangeType.MODIFY,
        ChangeType.ADD,
        ChangeType.DELETE,
    ]
    assert [c.bytes_changed for c in result.changes] == [4, 2, 2]


def test_the_resulting_diff_applies_too():
    result = apply_diff(FILES, DIFF)
    assert apply_diff(FILES, result.diff).files == result.files


def test_as_json():
    said = json.loads(json.dumps(apply_diff(FILES, DIFF).to_json("snap-1")))
    assert said["ok"] is True
    assert said["snapshotId"] == "snap-1"
    first = said["changes"][0]
    assert (first["path"], first["type"]) == ("a.py", "modify")
    assert (first["appliedHunks"], first["skippedHunks"]) == (1, 0)
    assert first["hunks"] == [{"hunk": 1, "line": 1, "offset": 0, "how": "exact", "fuzz": 0}]
    assert said["diff"] == "".join(change["diff"] for change in said["changes"])
    assert said["warnings"] == []
    assert said["errors"] == []


def test_a_refusal_as_json():
    said = apply_diff({}, "nonsense").to_json()
    assert said["ok"] is False
    assert "snapshotId" not in said
    assert said["changes"] == []
    (error,) = said["errors"]
    assert error["code"] == "not_a_diff"
    assert error["message"]


def test_bytes_that_are_no_text_are_shown_as_such_in_json():
    result = apply_diff({"f": b"\xff\n"}, "--- a/f\n+++ b/f\n@@ -1 +1 @@\n-\udcff\n+b\n")
    assert "\ufffd" in json.dumps(result.to_json(), ensure_ascii=False)


def test_the_input_is_left_alone():
    files = dict(FILES)
    apply_diff(files, DIFF)
    assert files == FILES


def test_creating_what_is_there_already():
    diff = "--- /dev/null\n+++ b/same.py\n@@ -0,0 +1 @@\n+s\n"
    assert [e.code for e in apply_diff(FILES, diff).errors] == ["already_applied"]


def test_a_new_file_named_on_both_sides():
    diff = "--- a/n.py\n+++ b/n.py\n@@ -0,0 +1 @@\n+n\n"
    assert apply_diff({}, diff).files == {"n.py": b"n\n"}
    assert [e.code for e in apply_diff({}, diff.replace("-0,0", "-1,0")).errors] == ["file_missing"]


def test_an_encoding_that_cannot_say_it():
    text = "--- a/f\n+++ b/f\n@@ -1 +1 @@\n-caf\u00e9 \u4e2d\n+b\n"
    assert not apply_diff({"f": "café\n".encode("latin-1")}, text).ok


def test_two_sections_that_neither_fit_together_nor_in_turn():
    one = "--- a/a.py\n+++ b/a.py\n@@ -1,2 +1,2 @@\n one\n-two\n+three\n"
    result = apply_diff(FILES, one + one.replace("three", "four"))
    assert not result.ok


def test_new_files_are_looked_at_as_closely():
    cut = "--- /dev/null\n+++ b/n.py\n@@ -0,0 +1,9 @@\n+n\n"
    assert [e.code for e in apply_diff({}, cut).errors] == ["truncated"]
    left_out = "--- /dev/null\n+++ b/n.py\n@@ -0,0 +1 @@\n+# ... existing code ...\n"
    assert [e.code for e in apply_diff({}, left_out).errors] == ["placeholder"]
