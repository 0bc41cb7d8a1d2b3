"""`flyball undo`: any edit goes back, is refused where later work would go, and comes again."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from tests.governed import CART, EDIT, GOOD, READ, Shell, call, checkpoint, objects, script, shop

pytestmark = pytest.mark.slow

DIFF = (
    "--- a/cart.py\n+++ b/cart.py\n@@ @@\n-    result = 0\n+    result = 1\n"
    "--- /dev/null\n+++ b/a new/file.txt\n@@ -0,0 +1 @@\n+hello\n"
    "--- a/gone.txt\n+++ /dev/null\n@@ -1 +0,0 @@\n-bye\n"
)
CHANGED = CART.replace("result = 0", "result = 1")


@pytest.fixture
def shell(tmp_path: Path) -> Shell:
    return Shell(shop(tmp_path / "shop", {"cart.py": CART, "gone.txt": "bye\n"}), tmp_path)


def apply(shell: Shell, diff: str = DIFF) -> dict[str, Any]:
    (shell.cwd.parent / "x.diff").write_text(diff)
    done = shell("patch", "apply", "../x.diff", "--json")
    assert done.returncode == 0, done.stdout + done.stderr
    return json.loads(done.stdout)


def told(shell: Shell, *args: str) -> dict[str, Any]:
    done = shell("undo", *args, "--json")
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def text(shell: Shell, name: str) -> str | None:
    place = shell.cwd / name
    return place.read_text() if place.exists() else None


def test_the_last_edit_goes_back_and_the_undo_goes_back_too(shell: Shell):
    (shell.cwd / "cart.py").chmod(0o755)
    edit = apply(shell)
    said = shell("undo").stdout

    assert "reset    cart.py" in said
    assert "remove   a new/file.txt" in said
    assert "restore  gone.txt" in said
    assert (text(shell, "cart.py"), text(shell, "gone.txt")) == (CART, "bye\n")
    assert not (shell.cwd / "a new").exists()
    assert os.access(shell.cwd / "cart.py", os.X_OK)
    again = told(shell, said.rpartition("undo ")[2].split("`")[0])
    assert sorted(again["files"]) == ["a new/file.txt", "cart.py", "gone.txt"]
    assert (text(shell, "cart.py"), text(shell, "gone.txt")) == (CHANGED, None)
    assert told(shell)["undoes"] == edit["snapshotId"]


def test_edits_go_back_one_after_the_other(shell: Shell):
    one = apply(shell)
    two = apply(shell, "--- a/cart.py\n+++ b/cart.py\n@@ @@\n-    result = 1\n+    result = 2\n")
    listed = json.loads(shell("undo", "--list", "--json").stdout)["edits"]

    assert [each["snapshotId"] for each in listed] == [two["snapshotId"], one["snapshotId"]]
    assert told(shell)["undoes"] == two["snapshotId"]
    assert told(shell)["undoes"] == one["snapshotId"]
    assert text(shell, "cart.py") == CART
    nothing = shell("undo")
    assert nothing.returncode == 2
    assert "no edit to undo" in nothing.stderr


def test_later_work_is_not_lost_unless_forced_and_even_then_it_can_come_back(shell: Shell):
    edit = apply(shell)["snapshotId"]
    (shell.cwd / "cart.py").write_text("mine, later\n")

    refused = shell("undo", edit[:6])
    assert refused.returncode == 2
    assert "cart.py changed since" in refused.stderr
    assert text(shell, "gone.txt") is None, "all or nothing"
    forced = told(shell, edit, "--force")
    assert forced["lost"] == ["cart.py"]
    assert text(shell, "cart.py") == CART
    told(shell, forced["snapshotId"])
    assert text(shell, "cart.py") == "mine, later\n"


def test_a_preview_writes_nothing(shell: Shell):
    apply(shell)
    assert told(shell, "--preview")["title"] == "patch apply"
    assert text(shell, "cart.py") == CHANGED


def test_a_link_put_in_the_way_is_later_work(shell: Shell, tmp_path: Path):
    apply(shell, "--- /dev/null\n+++ b/d/x.txt\n@@ -0,0 +1 @@\n+x\n")
    (tmp_path / "outside").mkdir()
    (tmp_path / "outside/x.txt").write_text("x\n")
    (shell.cwd / "d/x.txt").unlink()
    (shell.cwd / "d").rmdir()
    (shell.cwd / "d").symlink_to(tmp_path / "outside")

    shell("undo", "--force")

    assert (tmp_path / "outside/x.txt").read_text() == "x\n"


def test_an_edit_through_a_link_goes_back_where_it_led(shell: Shell):
    (shell.cwd / "link.py").symlink_to("cart.py")
    apply(shell, "--- a/link.py\n+++ b/link.py\n@@ @@\n-    result = 0\n+    result = 1\n")
    assert text(shell, "cart.py") == CHANGED
    told(shell)
    assert text(shell, "cart.py") == CART
    assert (shell.cwd / "link.py").is_symlink()


def test_odd_names_go_back_too(shell: Shell):
    name = "odd name é.txt"
    (shell.cwd / name).write_text("one\n")
    quoted = '"{}/odd name \\303\\251.txt"'
    head = f"--- {quoted.format('a')}\n+++ {quoted.format('b')}\n"
    apply(shell, f"{head}@@ -1 +1 @@\n-one\n+two\n")
    assert text(shell, name) == "two\n"
    told(shell)
    assert text(shell, name) == "one\n"


def test_without_git_it_works_as_well(tmp_path: Path):
    (tmp_path / "plain").mkdir()
    (tmp_path / "plain/cart.py").write_text(CART)
    (tmp_path / "plain/gone.txt").write_text("bye\n")
    shell = Shell(tmp_path / "plain", tmp_path)
    apply(shell)
    told(shell)
    assert (text(shell, "cart.py"), text(shell, "gone.txt")) == (CART, "bye\n")


def edit_of(told: list[dict[str, Any]]) -> str:
    """The snapshot that the run's edit returned."""
    return next(line["snapshotId"] for line in told if line.get("snapshotId"))


def test_an_edit_of_a_run_in_place_is_the_last_edit(shell: Shell):
    driver = script(shell.cwd.parent / "s", *GOOD)
    done = shell("run", "fix", "--intent", "small_fix", "--in-place", "--driver", driver, "--json")
    snapshot = edit_of(objects(done.stdout))

    assert told(shell)["undoes"] == snapshot
    assert text(shell, "cart.py") == CART


def test_an_edit_in_a_worktree_goes_back_by_its_snapshot_until_it_is_committed(shell: Shell):
    lines = (READ, checkpoint(), EDIT, call("bash", cmd="git clean -fd", confirm=True))
    driver = script(shell.cwd.parent / "s", *lines)
    shell.env["FLYBALL_ENABLE_BASH"] = "1"
    done = shell("run", "fix", "--intent", "small_fix", "--driver", driver, "--json")
    snapshot = edit_of(objects(done.stdout))
    root = Path(told(shell, snapshot)["root"])

    assert (root / "cart.py").read_text() == CART
    assert root != shell.cwd
    assert shell("undo").returncode == 2, "nothing was edited in the checkout"


@pytest.mark.exhaustive
def test_a_committed_edit_goes_back_with_its_card(tmp_path: Path):
    shell = Shell(shop(tmp_path / "shop"), tmp_path)
    driver = script(tmp_path / "s", *GOOD)
    done = shell("run", "fix", "--intent", "small_fix", "--driver", driver, "--json")
    refused = shell("undo", edit_of(objects(done.stdout)))

    assert refused.returncode == 2
    assert "step-1 --paths cart.py" in refused.stderr


def test_an_edit_killed_half_way_goes_back(shell: Shell):
    """The process dies right after the snapshot, before all files are written."""
    (shell.cwd.parent / "x.diff").write_text(DIFF)
    dying = (
        "import os, sys\n"
        "from flyball.workspace.files.paths import Root\n"
        "real = Root.write_bytes\n"
        "def once(self, path, data, **more):\n"
        "    real(self, path, data, **more)\n"
        "    os._exit(9)\n"
        "Root.write_bytes = once\n"
        "from flyball.cli import main\n"
        "sys.argv = ['flyball', 'patch', 'apply', '../x.diff']\n"
        "main()\n"
    )
    argv = [sys.executable, "-c", dying]
    died = subprocess.run(argv, cwd=shell.cwd, env=shell.env, capture_output=True)
    assert died.returncode == 9, died.stderr
    assert text(shell, "cart.py") == CHANGED
    assert text(shell, "gone.txt") == "bye\n"

    told(shell)
    assert (text(shell, "cart.py"), text(shell, "gone.txt")) == (CART, "bye\n")
    assert not (shell.cwd / "a new").exists()
