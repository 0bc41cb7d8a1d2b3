"""What only programs made is left behind: listed on the card, never committed, never printed."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from tests.governed import (
    CART,
    FIX,
    READ,
    REVIEW,
    SUITE,
    Line,
    Shell,
    call,
    checkpoint,
    objects,
    say,
    script,
    shop,
)
from tests.governed import TESTS as SUITE_FILE
from tests.repos import git
from tests.tiers import named

pytestmark = pytest.mark.slow

BUILDING = (
    SUITE_FILE
    + """
import pathlib

pathlib.Path("built.bin").write_bytes(bytes(range(256)) * 50)
pathlib.Path("report.txt").write_text("made by a test")
"""
)
PROVE = (SUITE, SUITE, say("It is mended."), REVIEW)
FILES = {"cart.py": CART, "test_cart.py": BUILDING, "old.py": "a = 1\nb = 2\nc = 3\n"}
OURS = ("refs/heads/flyball", "refs/flyball")


def run(tmp_path: Path, *lines: Line, flags: tuple[str, ...] = ()) -> tuple[Shell, list[Line]]:
    shell = Shell(shop(tmp_path / "shop", FILES), tmp_path, FLYBALL_ENABLE_BASH="1")
    named = checkpoint("cart.py", "mine.py", "new.py", "old.py")
    driver = script(tmp_path / "s.jsonl", READ, named, *lines, *PROVE)
    done = shell("run", "fix", "--intent", "small_fix", *flags, "--driver", driver, "--json")
    assert done.returncode == 0, done.stdout[-2000:] + done.stderr
    return shell, objects(done.stdout)


@pytest.mark.parametrize("flags", named({"worktree": (), "in place": ("--in-place",)}, 2))
def test_what_a_test_built_is_listed_and_not_committed(tmp_path: Path, flags: tuple[str, ...]):
    shell, _ = run(tmp_path, call("edit_diff", diff=FIX), flags=flags)
    branch = git(shell.cwd, "for-each-ref", "--format=%(refname)", *OURS).strip()

    shown = shell("card", "show", "last", "step-1").stdout
    told = json.loads(shell("card", "show", "last", "step-1", "--json").stdout)
    diff = shell("runs", "show", "last", "--diff").stdout

    assert git(shell.cwd, "show", "--name-only", "--format=", branch).split() == ["cart.py"]
    assert "left behind, not committed: built.bin, report.txt" in shown
    assert told["record"]["left"] == ["built.bin", "report.txt"]
    assert told["artifact"]["left_behind"] == ["built.bin", "report.txt"]
    assert told["artifact"]["files"] == ["cart.py"]
    for text in (shown, diff, told["artifact"]["diff"]):
        assert "diff --git a/cart.py" in text
        assert "diff --git a/built.bin" not in text
    assert shell("runs", "merge", "last").returncode == 0
    assert git(shell.cwd, "show", "--name-only", "--format=", "HEAD").split() == ["cart.py"]
    assert (shell.cwd / "built.bin").exists() is bool(flags)


@pytest.mark.exhaustive
def test_what_a_tool_wrote_is_committed_whoever_made_it_first(tmp_path: Path):
    shell, told = run(
        tmp_path,
        call("bash", cmd="echo 'x = 1' > mine.py; echo 'y = 1' > theirs.py; mv old.py new.py"),
        call("write_file", path="mine.py", content="x = 2\n"),
        call("bash", cmd="rm theirs.py && echo 'y = 2' > theirs.py"),
        call("edit_diff", diff=FIX),
    )
    branch = git(shell.cwd, "for-each-ref", "--format=%(refname)", *OURS).strip()

    named = git(shell.cwd, "show", "--name-only", "--no-renames", "--format=", branch).split()
    assert named == ["cart.py", "mine.py", "new.py", "old.py"]
    said = [line["text"] for line in told if line["type"] == "governor"]
    assert any("made mine.py, theirs.py. What only commands make is left" in text for text in said)


@pytest.mark.exhaustive
def test_a_binary_that_a_tool_wrote_is_committed_and_only_mentioned(tmp_path: Path):
    picture = call("write_file", path="pic.bin", content_base64="AAECAwQFBgcICQ==")
    shell, _ = run(tmp_path, picture, call("edit_diff", diff=FIX))

    shown = shell("card", "show", "last", "step-1").stdout
    assert "binary file, added, 10 bytes" in shown
    diff = shell("runs", "show", "last", "--diff").stdout
    account = (next((shell.cwd / ".flyball/artifacts").glob("*/step-1.md"))).read_text()
    for text in (shown, diff, account):
        assert "pic.bin" in text
        assert "GIT binary patch" not in text
        assert "Binary files" not in text
