import base64
import stat

import pytest

from flyball.errors import FlyballError, OutsideWorkspace, ToolError

KEEP = "a = 1\n# VIBE-KEEP START own\nb = 2\n# VIBE-KEEP END own\nc = 3\n"


def diff(path, old, new):
    return f"--- a/{path}\n+++ b/{path}\n@@ -1 +1 @@\n-{old}\n+{new}\n"


def test_a_diff_over_two_files_is_applied_and_shown(make_bench):
    bench = make_bench({"a.py": "x = 1\n", "b.py": "y = 1\n"})
    result = bench.do(
        "edit_diff", diff=diff("a.py", "x = 1", "x = 2") + diff("b.py", "y = 1", "y = 2")
    )
    assert result.ok
    assert (bench.text("a.py"), bench.text("b.py")) == ("x = 2\n", "y = 2\n")
    assert result.text.startswith("Changed 2 files.\nmodify a.py: +1 -1, now at line 1\n")
    assert result.data["event"] == "PATCH_DIFF_APPLIED"


def test_a_preview_writes_nothing(make_bench):
    bench = make_bench({"a.py": "x = 1\n"})
    result = bench.do("edit_diff", diff=diff("a.py", "x = 1", "x = 2"), preview=True)
    assert result.text.startswith("Would change 1 file.")
    assert bench.text("a.py") == "x = 1\n"


def test_a_refusal_changes_nothing_and_says_why(make_bench):
    bench = make_bench({"a.py": "x = 1\n", "b.py": "y = 1\n"})
    both = diff("a.py", "x = 1", "x = 2") + diff("b.py", "z = 1", "z = 2")
    result = bench.do("edit_diff", diff=both)
    assert not result.ok
    assert result.error == "no_match"
    assert "b.py hunk 1 [no_match]" in result.text
    assert bench.text("a.py") == "x = 1\n"


def test_partial_edit_reports_skipped_hunks(make_bench):
    bench = make_bench({"a.py": "x = 1\n", "b.py": "y = 1\n"})
    both = diff("a.py", "x = 1", "x = 2") + diff("b.py", "z = 1", "z = 2")
    result = bench.do("edit_diff", diff=both, partial=True)
    assert result.ok
    assert "Skipped: b.py hunk 1 [no_match]" in result.text
    assert (bench.text("a.py"), bench.text("b.py")) == ("x = 2\n", "y = 1\n")


def test_a_stale_diff_is_applied_to_what_was_read_and_merged(make_bench):
    bench = make_bench({"a.py": "".join(f"v{n} = {n}\n" for n in range(20))})
    tree = bench.context.workspace.tree_hash()
    bench.put({"a.py": "# new\n" * 3 + bench.text("a.py").replace("v19 = 19", "v19 = 0")})
    bench.context = bench.context._replace(seen={"a.py": tree})
    result = bench.do(
        "edit_diff", diff="--- a/a.py\n+++ b/a.py\n@@ -1,2 +1,2 @@\n v0 = 0\n-v1 = 1\n+v1 = 9\n"
    )
    assert result.ok
    assert "v1 = 9" in bench.text("a.py")
    assert "v19 = 0" in bench.text("a.py")


def test_a_second_file_that_cannot_be_written_is_an_error(make_bench):
    bench = make_bench({"a.py": "x = 1\n", "d/b.py": "y = 1\n"})
    fresh = "--- /dev/null\n+++ b/a.py/new.py\n@@ -0,0 +1 @@\n+z\n"
    with pytest.raises(FlyballError):
        bench.do("edit_diff", diff=diff("d/b.py", "y = 1", "y = 2") + fresh)


def test_a_finished_diff_is_found_after_a_crash_and_a_half_done_one_is_not(make_bench):
    bench = make_bench({"a.py": "x = 1\n", "b.py": "y = 1\n"})
    both = diff("a.py", "x = 1", "x = 2") + diff("b.py", "y = 1", "y = 2")
    before = bench.context.workspace.tree_hash()
    assert bench.probe("edit_diff", before, diff=both) is None
    bench.put({"a.py": "x = 2\n"})
    assert bench.probe("edit_diff", before, diff=both) is None
    bench.put({"b.py": "y = 2\n"})
    assert bench.probe("edit_diff", before, diff=both).ok
    assert bench.probe("edit_diff", before, diff=both, preview=True) is None


def test_keep_regions_hold_against_every_way_of_writing(make_bench):
    bench = make_bench({"a.py": KEEP})
    changed = KEEP.replace("b = 2", "b = 9")
    attempts = [
        bench.do("write_file", path="a.py", content=changed),
        bench.do("delete_file", path="a.py"),
        bench.do("edit_diff", diff="--- a/a.py\n+++ b/a.py\n@@ -3 +3 @@\n-b = 2\n+b = 9\n"),
    ]
    assert [result.error for result in attempts] == ["keep_region"] * 3
    assert "'own', lines 2 to 4" in attempts[0].text
    assert bench.text("a.py") == KEEP
    assert bench.do("write_file", path="a.py", content=changed, keepRegions=False).ok
    assert not bench.call("delete_file", path="a.py", keepRegions=False).keeps_regions


def test_a_whole_file_keeps_its_mode_and_may_be_bytes(make_bench):
    bench = make_bench({"run.sh": "#!/bin/sh\n"})
    (bench.root / "run.sh").chmod(0o755)
    assert bench.do("write_file", path="run.sh", content="#!/bin/sh\necho ü\n").ok
    assert stat.S_IMODE((bench.root / "run.sh").stat().st_mode) == 0o755
    data = bytes(range(256))
    result = bench.do(
        "write_file", path="deep/x.bin", content_base64=base64.b64encode(data).decode()
    )
    assert result.text == "Wrote deep/x.bin, 256 bytes."
    assert (bench.root / "deep/x.bin").read_bytes() == data
    tree = bench.context.workspace.tree_hash()
    assert bench.probe("write_file", tree, path="run.sh", content="#!/bin/sh\necho ü\n").ok
    assert bench.probe("write_file", tree, path="run.sh", content="other") is None


def test_the_mask_of_a_secret_is_never_written(make_bench):
    bench = make_bench({"conf.ini": "key = real\nuser = me\n"})
    result = bench.do("write_file", path="conf.ini", content="key = [redacted]\nuser = you\n")
    assert result.error == "redacted"
    assert "stands for a secret" in result.text
    edit = "--- a/conf.ini\n+++ b/conf.ini\n@@ -1 +1 @@\n-key = real\n+key = [redacted]\n"
    assert bench.do("edit_diff", diff=edit).error == "redacted"
    assert bench.text("conf.ini") == "key = real\nuser = me\n"


def test_deleting(make_bench):
    bench = make_bench({"a.py": "x\n", "d/b.py": "y\n"})
    before = bench.context.workspace.tree_hash()
    assert bench.probe("delete_file", before, path="a.py") is None
    assert bench.do("delete_file", path="a.py").text == "Deleted a.py."
    assert bench.probe("delete_file", before, path="a.py").ok
    assert bench.probe("delete_file", before, path="never.py") is None
    with pytest.raises(ToolError, match="is a directory"):
        bench.do("delete_file", path="d")
    with pytest.raises(FlyballError, match=r"no file 'a\.py'"):
        bench.do("delete_file", path="a.py")


def test_untracked_work_of_the_user_is_marked(make_bench):
    bench = make_bench({"a.py": "x\n"}, in_place=True, ignored={"mine.txt": "work\n"})
    call = bench.call("delete_file", path="mine.txt", confirm=True)
    assert call.paths[0].untracked
    assert "not in git" in call.destructive
    assert bench.call("delete_file", path="a.py").destructive == ""


@pytest.mark.parametrize("in_place", [False, True])
def test_the_users_untracked_work_is_known_wherever_the_run_works(make_bench, in_place):
    bench = make_bench({"a.py": "x\n"}, in_place=in_place, ignored={"mine.txt": "work\n"})
    bench.put({"made.py": "by the run\n"})
    bench.context = bench.context._replace(tree=bench.context.workspace.tree_hash())
    writing = {"mine.txt": True, "made.py": False, "a.py": False, "new.py": False}
    for path, is_theirs in writing.items():
        assert bench.call("write_file", path=path, content="y").paths[0].untracked is is_theirs

    bench.context = bench.context._replace(changed=frozenset({"mine.txt"}))
    assert not bench.call("write_file", path="mine.txt", content="y").paths[0].untracked
    gone = "--- a/mine.txt\n+++ /dev/null\n@@ -1 +0,0 @@\n-work\n"
    assert bench.call("edit_diff", diff=gone).paths[0].untracked


def test_in_place_a_file_that_the_user_ignores_is_theirs(make_bench):
    ignored = {".gitignore": "*.local\n", "my.local": "plans\n"}
    bench = make_bench({"a.py": "x\n"}, in_place=True, ignored=ignored)
    assert bench.call("write_file", path="my.local", content="y").paths[0].untracked


@pytest.mark.parametrize("path", ["../x", "/etc/passwd", ".git/config", "node_modules/x/i.js"])
def test_nothing_outside_or_protected_is_written(make_bench, path):
    bench = make_bench()
    with pytest.raises(OutsideWorkspace):
        bench.do("write_file", path=path, content="x")


def test_git_brings_files_back_to_where_the_run_began(make_bench):
    bench = make_bench({"a.py": "x\n", "b.py": "y\n"})
    bench.put({"a.py": "changed\n", "new.py": "new\n"})
    (bench.root / "b.py").unlink()
    result = bench.do("git", action="revert", paths=["a.py", "b.py", "new.py"], confirm=True)
    assert result.ok
    assert (bench.text("a.py"), bench.text("b.py")) == ("x\n", "y\n")
    assert not (bench.root / "new.py").exists()
    with pytest.raises(ToolError, match="neither here nor where the run started"):
        bench.do("git", action="revert", paths=["never.py"], confirm=True)
    assert bench.do("git", action="branch").text == "The run works on flyball/r1."
    assert "when it is verified" in bench.do("git", action="commit", message="m").text
    assert (
        "discards the changes to a.py"
        in bench.call("git", action="revert", paths=["a.py"]).destructive
    )


def test_without_git_there_is_no_branch_and_no_history(make_bench):
    bench = make_bench({"a.py": "x\n"}, with_git=False)
    with pytest.raises(ToolError, match="not in git"):
        bench.do("git", action="branch")
    with pytest.raises(ToolError, match="not in git"):
        bench.do("git_log")
    assert bench.do("write_file", path="b.py", content="y\n").ok
