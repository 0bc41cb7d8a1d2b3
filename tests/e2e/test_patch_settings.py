"""`patch.max_offset` and `patch.paths` hold for people and for runs; a preview is the result."""

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
    Shell,
    call,
    checkpoint,
    objects,
    say,
    script,
    shop,
)

pytestmark = pytest.mark.slow

FAR = "x = 1\n" * 50 + CART
FILES = {"cart.py": FAR, "test_cart.py": TESTS, "docs/a.md": "a\n"}
DOCS = "--- a/docs/a.md\n+++ b/docs/a.md\n@@ -1 +1 @@\n-a\n+b\n"


@pytest.fixture
def shell(tmp_path: Path) -> Shell:
    return Shell(shop(tmp_path / "shop", FILES), tmp_path)


def patch(shell: Shell, diff: str, *args: str) -> dict[str, object]:
    (shell.cwd.parent / "x.diff").write_text(diff)
    return json.loads(shell("patch", *args, "../x.diff", "--json").stdout)


def test_a_hunk_is_looked_for_as_far_as_was_settled(shell: Shell):
    off = FIX.replace("-1,5 +1,5", "-20,5 +20,5")
    assert patch(shell, off, "check")["ok"]
    shell.env["FLYBALL_PATCH_MAX_OFFSET"] = "10"
    assert not patch(shell, off, "check")["ok"]
    assert patch(shell, off, "check", "--max-offset", "100")["ok"]


def test_only_the_listed_paths_are_written(shell: Shell):
    shell.env["FLYBALL_PATCH_PATHS"] = '["*.py"]'
    refused = shell("patch", "apply", "--json", "../x.diff")
    result = patch(shell, DOCS, "apply")
    assert refused.returncode != 0
    assert not result["ok"]
    assert "patch.paths" in json.dumps(result)
    assert (shell.cwd / "docs/a.md").read_text() == "a\n"
    assert patch(shell, FIX, "apply")["ok"]


def test_a_preview_shows_the_result_and_refuses_what_cannot_apply(shell: Shell):
    shown = patch(shell, FIX, "apply", "--preview")
    assert "@@ -51,5 +51,5 @@" in str(shown["diff"])
    assert not patch(shell, FIX.replace("result += price\n+", "absent\n+"), "apply", "--preview")[
        "ok"
    ]
    assert (shell.cwd / "cart.py").read_text() == FAR


@pytest.mark.exhaustive
def test_a_run_keeps_to_the_list_by_every_way(shell: Shell):
    shell.env |= {"FLYBALL_PATCH_PATHS": '["*.py"]', "FLYBALL_ENABLE_BASH": "1"}
    ways = (
        call("edit_diff", diff=DOCS),
        call("write_file", path="docs/b.md", content="b"),
        call("bash", cmd="echo b > docs/a.md"),
        call("edit_diff", diff=FIX),
    )
    lines = (READ, checkpoint("cart.py", "docs/"), *ways, SUITE, say("It is mended."), REVIEW)
    driver = script(shell.cwd.parent / "s", *lines)
    done = shell("run", "fix", "--intent", "small_fix", "--driver", driver, "--json")
    told = objects(done.stdout)

    assert done.returncode == 0, told[-3:]
    denied = [line["code"] for line in told if line["type"] == "decision" and line["code"]]
    assert denied == ["protected", "protected"]
    assert [line["paths"] for line in told if line["type"] == "undone"] == [["docs/a.md"]]
    assert shell("runs", "merge", "last", "--json").stdout.count("docs") == 0
