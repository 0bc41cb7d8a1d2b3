import random
import subprocess

import pytest

from flyball.patch import apply_diff, unified_diff
from flyball.patch.compare import LineRun, compare, keep_ends


def _lines(text: str) -> list[bytes]:
    return [c.encode() for c in text]


def _rebuilt(old: list[bytes], new: list[bytes]) -> list[bytes]:
    found: list[bytes] = []
    at = 0
    for run in compare(old, new):
        found += old[at : run.old_at] + new[run.new_at : run.new_end]
        at = run.old_end
    return found + old[at:]


@pytest.mark.parametrize(
    ("old", "new", "runs"),
    [
        ("", "", []),
        ("abc", "abc", []),
        ("", "ab", [LineRun(0, 0, 0, 2)]),
        ("abc", "xyz", [LineRun(0, 3, 0, 3)]),
        ("abcde", "abXde", [LineRun(2, 3, 2, 3)]),
        ("abcde", "ace", [LineRun(1, 2, 1, 1), LineRun(3, 4, 2, 2)]),
        ("axb", "axxb", [LineRun(2, 2, 2, 3)]),
        ("axxb", "axb", [LineRun(2, 3, 2, 2)]),
        ("cabb", "ab", [LineRun(0, 1, 0, 0), LineRun(3, 4, 2, 2)]),
        ("xaybz", "paqbr", [LineRun(0, 1, 0, 1), LineRun(2, 3, 2, 3), LineRun(4, 5, 4, 5)]),
    ],
)
def test_runs_that_differ(old, new, runs):
    assert compare(_lines(old), _lines(new)) == runs


def test_lines_that_occur_everywhere_are_still_aligned():
    old = _lines("{}" * 80 + "a" + "{}" * 40)
    new = _lines("{" + "{}" * 79 + "b" + "{}" * 40 + "}")
    runs = compare(old, new)
    assert _rebuilt(old, new) == new
    assert sum(run.old_end - run.old_at for run in runs) < 10


def test_crowded_lines_that_differ_too_much_count_as_rewritten():
    coin = random.Random(7)
    old, new = (_lines("".join(coin.choices("ab", k=3000))) for _ in range(2))
    assert _rebuilt(old, new) == new
    assert len(compare(old, new)) == 1


def test_a_rare_line_takes_crowded_ones_before_it_along():
    old, new = _lines("}" * 70 + "xp"), _lines("q" + "}" * 68 + "xr")
    assert compare(old, new) == [LineRun(0, 2, 0, 1), LineRun(71, 72, 70, 71)]


def test_large_files_are_split_at_lines_that_occur_once():
    old = [b"line %d\n" % n if n % 3 else b"}\n" for n in range(9000)]
    new = list(old)
    new[40:41] = [b"changed\n"]
    new[4000:4000] = [b"new\n", b"}\n"]
    del new[8000:8003]
    new[100], new[7000] = new[7000], new[100]
    assert _rebuilt(old, new) == new
    assert len(compare(old, new)) == 5


def test_large_files_with_nothing_that_occurs_once():
    old, new = _lines("ab" * 1500), _lines("ba" * 1500)
    assert _rebuilt(old, new) == new


def test_rare_lines_anchor_the_comparison():
    old = _lines("}}}x}}}y}}}")
    new = _lines("}}}}y}}x}}")
    assert _rebuilt(old, new) == new


@pytest.mark.parametrize(
    ("data", "lines"),
    [
        (b"", []),
        (b"a", [b"a"]),
        (b"a\n", [b"a\n"]),
        (b"a\r\nb\x0cc\xc2\x85", [b"a\r\n", b"b\x0cc\xc2\x85"]),
        (b"\n\n", [b"\n", b"\n"]),
    ],
)
def test_lines_end_at_newlines_only(data, lines):
    assert keep_ends(data) == lines


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
