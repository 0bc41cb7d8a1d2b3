"""In nested repositories the same files are ignored as by git."""

from __future__ import annotations

import tempfile
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.repos import git, put, repository

from flyball.workspace.trees.ignore import parse_rules, walk_nested

PATHS = [
    "a.log",
    "a.txt",
    "build/out.txt",
    "src/build/x.o",
    "src/a.log",
    "src/keep.log",
    "docs/a/b/c.md",
    "docs/c.md",
    "x y.txt",
    "#hash",
    "!bang",
    "foo.bar/baz",
    "deep/er/foo/z.txt",
]
PATTERNS = [
    "*.log",
    "!keep.log",
    "build/",
    "/build/",
    "build",
    "src/*.log",
    "docs/**/c.md",
    "**/foo",
    "docs/**",
    "/a.*",
    "foo.ba?",
    "[ab].log",
    "[!a].txt",
    "\\#hash",
    "\\!bang",
    "x\\ y.txt",
    "trailing.txt   ",
    "# comment",
    "",
    "!",
    "/",
    "deep/*/foo",
    "*",
    "!*/",
    "!/src/",
    "a.*\r",
    "[",
]


@pytest.mark.slow
@settings(max_examples=80, deadline=None)
@given(
    st.lists(st.sampled_from(PATTERNS), max_size=5),
    st.lists(st.sampled_from(PATTERNS), max_size=3),
)
def test_the_walk_sees_what_git_sees(top: list[str], inner: list[str]):
    with tempfile.TemporaryDirectory() as spare:
        root = repository(Path(spare, "repo"))
        put(root, dict.fromkeys(PATHS, "x"))
        put(root, {".gitignore": "\n".join(top), "src/.gitignore": "\n".join(inner)})

        seen = git(root, "ls-files", "-z", "-o", "--exclude-standard").split("\0")

        assert sorted(walk_nested(root, "")) == sorted(path for path in seen if path)


@pytest.mark.parametrize(
    ("line", "path", "verdict"),
    [
        ("*.log", "d/a.log", True),
        ("!*.log", "a.log", False),
        ("*.log", "a.txt", None),
        ("/a", "d/a", None),
        ("a/", "a", None),
    ],
)
def test_rule_ignores_includes_or_does_not_match(line: str, path: str, verdict: bool | None):
    assert parse_rules(line).verdict(path, is_directory=False) is verdict


def test_walk_of_a_nested_repository_omits_its_records(tmp_path: Path):
    put(tmp_path, {"inner/.git/config": "", "inner/b.py": ""})

    assert list(walk_nested(tmp_path, "inner")) == ["inner/b.py"]
