"""Work of the user's that git does not know: asked about, put back, and never merged away."""

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
    TESTS,
    Line,
    Shell,
    call,
    checkpoint,
    objects,
    say,
    script,
    shop,
)
from tests.repos import git

pytestmark = pytest.mark.slow

NOTES = "buy milk\n"
PLACES = pytest.mark.parametrize("flags", [(), ("--in-place",)], ids=["worktree", "in place"])
PROVE = (call("edit_diff", diff=FIX), SUITE, say("It is mended."), REVIEW)
WAITS = 3
NAMED = ("cart.py", "notes.txt", "diary/")
OVERWRITE = "--- a/notes.txt\n+++ b/notes.txt\n@@ @@\n-buy milk\n+buy bread\n"
REMOVE = "--- a/notes.txt\n+++ /dev/null\n@@ -1 +0,0 @@\n-buy milk\n"
LOSING = """\

import pathlib, shutil
shutil.rmtree("diary", ignore_errors=True)
pathlib.Path("notes.txt").unlink(missing_ok=True)
pathlib.Path("notes.txt").mkdir(exist_ok=True)
pathlib.Path("notes.txt/inside").write_text("mine now")
pathlib.Path("diary").symlink_to("/tmp")
"""


@pytest.fixture
def shell(tmp_path: Path) -> Shell:
    files = {"cart.py": CART, "test_cart.py": TESTS}
    shell = Shell(shop(tmp_path / "shop", files), tmp_path, FLYBALL_ENABLE_BASH="1")
    for name in ("notes.txt", "diary/a day.txt", "diary/odd\nname.txt"):
        (shell.cwd / name).parent.mkdir(exist_ok=True)
        (shell.cwd / name).write_text(NOTES)
    return shell


def kept(shell: Shell) -> bool:
    """Whether all of the user's files are what they were, and still outside of git."""
    names = ("notes.txt", "diary/a day.txt", "diary/odd\nname.txt")
    shown = git(shell.cwd, "status", "--porcelain", "-z", "-uall").split("\0")
    return all((shell.cwd / name).read_text() == NOTES for name in names) and {
        f"?? {name}" for name in names
    } <= set(shown)


def begin(shell: Shell, *lines: Line, flags: tuple[str, ...] = ()) -> tuple[int, list[Line]]:
    driver = script(shell.cwd.parent / "s.jsonl", READ, checkpoint(*NAMED), *lines, *PROVE)
    done = shell("run", "fix", "--intent", "small_fix", *flags, "--driver", driver, "--json")
    assert not done.stderr, done.stderr
    return done.returncode, objects(done.stdout)


@pytest.mark.exhaustive
@PLACES
@pytest.mark.parametrize(
    "way",
    [
        call("delete_file", path="notes.txt", confirm=True),
        call("write_file", path="notes.txt", content="buy bread\n"),
        call("edit_diff", diff=OVERWRITE),
        call("edit_diff", diff=REMOVE),
        call("bash", cmd="rm notes.txt"),
        call("bash", cmd="mv ./notes.txt elsewhere.txt"),
        call("bash", cmd="echo hi > notes.txt"),
        call("bash", cmd="cd diary && rm 'a day.txt'"),
        call("bash", cmd="rm diary/a*", confirm=True),
    ],
    ids=["delete", "write", "edit", "edit away", "rm", "mv", "redirect", "cd", "pattern"],
)
def test_every_way_to_lose_it_asks(shell: Shell, way: Line, flags: tuple[str, ...]):
    code, told = begin(shell, way, flags=flags)

    assert code == WAITS, told[-3:]
    assert kept(shell)


@PLACES
def test_what_a_test_did_to_it_is_put_back_and_said(shell: Shell, flags: tuple[str, ...]):
    meddling = call("write_file", path="cart.py", content=CART + LOSING)
    mended = call("write_file", path="cart.py", content=CART)
    code, told = begin(shell, meddling, SUITE, mended, flags=flags)

    undone = {path for line in told if line["type"] == "undone" for path in line["paths"]}
    said = [line["text"] for line in told if line["type"] == "governor"]
    assert {"notes.txt", "diary/a day.txt", "diary/odd\nname.txt"} <= undone
    assert any("not in git. It was put back" in text for text in said)
    assert code == 0, told[-3:]
    assert kept(shell)


@pytest.mark.exhaustive
@PLACES
def test_a_program_of_a_command_is_watched_too(shell: Shell, flags: tuple[str, ...]):
    lose = call("write_file", path="lose.py", content=LOSING)
    gone = call("delete_file", path="lose.py", confirm=True)
    _, told = begin(shell, lose, call("bash", cmd="python lose.py"), gone, flags=flags)

    undone = {path for line in told if line["type"] == "undone" for path in line["paths"]}
    assert "notes.txt" in undone
    assert kept(shell)


@pytest.mark.exhaustive
def test_merging_keeps_it_and_a_revert_brings_it_back(shell: Shell):
    begin(shell, call("delete_file", path="notes.txt", confirm=True))
    assert shell("approve", "last", "--json").returncode == 0

    merged = json.loads(shell("runs", "merge", "last", "--json").stdout)
    assert merged["kept"] == ["notes.txt"]
    assert kept(shell)
    back = shell("card", "revert", "last", "step-1")
    assert back.returncode == 0, back.stderr
    assert (shell.cwd / "cart.py").read_text() == CART
    assert kept(shell)


@pytest.mark.exhaustive
def test_asked_to_merging_removes_it_and_a_revert_brings_it_back(shell: Shell):
    begin(shell, call("delete_file", path="notes.txt", confirm=True))
    assert shell("approve", "last", "--json").returncode == 0

    shell("runs", "merge", "last", "--remove-untracked")
    assert not (shell.cwd / "notes.txt").exists()
    back = shell("card", "revert", "last", "step-1", "--paths", "notes.txt")
    assert back.returncode == 0, back.stderr
    assert kept(shell)


@pytest.mark.exhaustive
def test_in_place_a_revert_brings_it_back_and_applying_again_asks(shell: Shell):
    begin(shell, call("delete_file", path="notes.txt", confirm=True), flags=("--in-place",))
    assert shell("approve", "last", "--json").returncode == 0
    assert not (shell.cwd / "notes.txt").exists()

    assert shell("card", "revert", "last", "step-1").returncode == 0
    assert kept(shell)
    again = shell("card", "apply", "last", "step-1")
    assert again.returncode != 0
    assert "notes.txt: it is not in git" in again.stderr
    assert kept(shell)


@pytest.mark.exhaustive
def test_in_place_a_file_that_is_ignored_is_asked_about(shell: Shell):
    (shell.cwd / ".gitignore").write_text("*.local\n")
    (shell.cwd / "my.local").write_text("secret plans\n")

    code, _ = begin(shell, call("write_file", path="my.local", content="x"), flags=("--in-place",))

    assert code == WAITS
    assert (shell.cwd / "my.local").read_text() == "secret plans\n"


@pytest.mark.exhaustive
def test_once_overwriting_was_granted_it_is_not_asked_again_but_deleting_is(shell: Shell):
    once = call("write_file", path="notes.txt", content="buy bread\n")
    twice = call("write_file", path="notes.txt", content="buy bread and butter\n")
    begin(shell, once, twice, call("delete_file", path="notes.txt", confirm=True))

    told = objects(shell("approve", "last", "--json").stdout)

    asked = [line for line in told if line["type"] == "approval"]
    assert [line["call"]["tool"] for line in asked] == ["delete_file"]
    assert kept(shell)
