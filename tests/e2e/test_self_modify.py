"""Flyball's own policy and templates: out of reach in every way, unless the user says otherwise."""

from __future__ import annotations

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

pytestmark = pytest.mark.slow

POLICY = "[policy]\nreview = true\n"
TEMPLATE = "title = 'mine'\n"
FILES = {
    "cart.py": CART,
    "test_cart.py": TESTS,
    "flyball.toml": POLICY,
    ".flyball/templates/mine.toml": TEMPLATE,
}
LOOSER = "--- a/flyball.toml\n+++ b/flyball.toml\n@@ @@\n-review = true\n+review = false\n"
MEDDLING = """\

import pathlib
pathlib.Path("new").mkdir(exist_ok=True)
for name in ("flyball.toml", ".flyball/templates/mine.toml", "new/flyball.toml"):
    try:
        pathlib.Path(name).write_text("meddled")
    except OSError:
        pass
"""
NAMED = ("cart.py", "test_cart.py", "flyball.toml", ".flyball/", "new/")
PROVE = (call("edit_diff", diff=FIX), SUITE, say("It is mended."), REVIEW)


def run(
    tmp_path: Path,
    *lines: Line,
    files: dict[str, str] = FILES,
    args: tuple[str, ...] = (),
    **env: str,
) -> list[Line]:
    """A run that says these lines once it may build, then mends the cart."""
    shell = Shell(shop(tmp_path / "shop", files), tmp_path, **env)
    driver = script(tmp_path / "s.jsonl", READ, checkpoint(*NAMED), *lines, *PROVE)
    words = ("run", "fix", "--intent", "small_fix", "--yes", "--driver", driver, "--json")
    done = shell(*words, *args)
    assert not done.stderr, done.stderr
    return objects(done.stdout)


def changed(told: list[Line]) -> list[str]:
    """What the run came to change in all."""
    reports = [
        line for line in told if line["type"] == "evidence" and line["kind"] == "diff-report"
    ]
    return [file["path"] for file in reports[-1]["evidence"]["files"]]


@pytest.mark.exhaustive
@pytest.mark.parametrize(
    "way",
    [
        call("edit_diff", diff=LOOSER),
        call("write_file", path="flyball.toml", content="[policy]\nreview = false\n"),
        call("write_file", path=".flyball/templates/new.toml", content="title = 'new'\n"),
        call("delete_file", path=".flyball/templates/mine.toml", confirm=True),
        call("git", action="revert", paths=["flyball.toml"], confirm=True),
        call("bash", cmd="echo 'review = false' > flyball.toml", confirm=True),
    ],
    ids=["edit_diff", "write_file", "new template", "delete_file", "git", "bash"],
)
def test_no_call_reaches_them(tmp_path: Path, way: Line):
    told = run(tmp_path, way, FLYBALL_ENABLE_BASH="1")
    tool = way["calls"][0]["tool"]
    denied = [line for line in told if line["type"] == "decision" and line["decision"] == "deny"]
    assert [(line["tool"], line["code"] != "malformed") for line in denied] == [(tool, True)]
    assert changed(told) == ["cart.py"]


def test_what_a_verification_does_to_them_is_undone(tmp_path: Path):
    meddling = call("write_file", path="test_cart.py", content=TESTS + MEDDLING)
    told = run(tmp_path, meddling, SUITE)
    undone = {path for line in told if line["type"] == "undone" for path in line["paths"]}
    assert "new/flyball.toml" in undone
    assert changed(told) == ["cart.py", "test_cart.py"]


@pytest.mark.exhaustive
def test_what_a_command_does_to_them_is_undone(tmp_path: Path):
    files = {**FILES, "meddle.py": MEDDLING}
    command = call("bash", cmd="python3 meddle.py", confirm=True)
    told = run(tmp_path, command, files=files, FLYBALL_ENABLE_BASH="1")
    undone = {path for line in told if line["type"] == "undone" for path in line["paths"]}
    assert "new/flyball.toml" in undone
    assert changed(told) == ["cart.py"]


@pytest.mark.exhaustive
def test_a_run_that_may_modify_itself_reaches_them(tmp_path: Path):
    policy = call("write_file", path="flyball.toml", content="# mine\n")
    template = call("write_file", path=".flyball/templates/new.toml", content="title = 'new'\n")
    told = run(tmp_path, policy, template, FLYBALL_POLICY_SELF_MODIFY="1")
    assert changed(told) == [".flyball/templates/new.toml", "cart.py", "flyball.toml"]


@pytest.mark.exhaustive
def test_a_run_about_the_framework_may_modify_it(tmp_path: Path):
    policy = call("write_file", path="flyball.toml", content="# mine\n")
    assert changed(run(tmp_path, policy, args=("--target", "framework"))) == [
        "cart.py",
        "flyball.toml",
    ]


@pytest.mark.exhaustive
def test_what_a_run_is_about_is_said_or_taken_from_the_directory(tmp_path: Path):
    shell = Shell(shop(tmp_path / "shop"), tmp_path)
    driver = script(tmp_path / "s.jsonl", say("Hello."))
    for words, target in (((), "project/shop"), (("--target", "framework"), "framework")):
        done = shell("run", "hi", "--intent", "conversational", "--driver", driver, *words)
        assert done.returncode == 0, done.stderr
        (shown,) = objects(shell("runs", "show", "last", "--json").stdout)
        assert shown["target"] == target
    refused = shell("run", "hi", "--driver", driver, "--target", "elsewhere")
    assert refused.returncode == 2
    assert "A run cannot be about 'elsewhere'. Say framework or project/NAME." in refused.stderr
    other = shell("run", "hi", "--driver", driver, "--target", "project/bakery")
    assert other.returncode == 2
    assert "A run here is about shop, not about bakery." in other.stderr
