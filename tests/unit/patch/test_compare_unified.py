import subprocess

import pytest

from flyball.patch import apply_diff, unified_diff

LONG = b"".join(b"line %d\n" % n for n in range(40))


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (b"a\nb\nc\n", b"a\nB\nc\n"),
        (None, b"new\n"),
        (b"gone\n", None),
        (None, b""),
        (b"", None),
        (b"a", b"a\n"),
        (b"a\n", b"a"),
        (b"a\r\nb\r\n", b"a\r\nB\r\n"),
        (b"caf\xe9\n", b"th\xe9\n"),
        (LONG, LONG.replace(b"line 3\n", b"three\n").replace(b"line 30\n", b"thirty\n")),
        (LONG, LONG.replace(b"line 3\n", b"three\n").replace(b"line 9\n", b"nine\n")),
        (LONG, b""),
        (b"", LONG),
    ],
)
def test_git_and_the_engine_both_apply_it(tmp_path, before, after):
    diff = unified_diff("dir/f.txt", before, after)
    files = {} if before is None else {"dir/f.txt": before}
    result = apply_diff(files, diff)
    assert result.ok, result.errors
    assert result.files["dir/f.txt"] == after

    (tmp_path / "dir").mkdir()
    if before is not None:
        (tmp_path / "dir/f.txt").write_bytes(before)
    raw = diff.encode("utf-8", "surrogateescape")
    command = ["git", "apply", "--whitespace=nowarn", "-"]
    subprocess.run(command, input=raw, cwd=tmp_path, check=True, env={"GIT_DIR": "/nonexistent"})
    there = tmp_path / "dir/f.txt"
    assert (there.read_bytes() if there.exists() else None) == after


def test_nothing_to_say_about_equal_files():
    assert unified_diff("f", b"a\n", b"a\n") == ""


def test_binary_content_is_only_mentioned():
    diff = unified_diff("x.bin", b"\0", b"\1\0")
    assert diff.endswith("Binary files a/x.bin and b/x.bin differ\n")


def test_unusual_names_are_quoted_as_git_does():
    diff = unified_diff('né "x".txt', b"a\n", b"b\n")
    assert '--- "a/n\\303\\251 \\"x\\".txt"' in diff
    assert apply_diff({'né "x".txt': b"a\n"}, diff).files == {'né "x".txt': b"b\n"}
