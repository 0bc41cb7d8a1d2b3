"""The demo repairs a small shop live, whatever the user has settled."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.governed import Shell, objects, types
from tests.repos import git

from flyball.cli.demo import NEXT


@pytest.mark.exhaustive
@pytest.mark.slow
def test_the_demo_repairs_a_shop_and_proves_it(tmp_path: Path):
    more = {"TMPDIR": str(tmp_path), "FLYBALL_POLICY_APPROVE_CHECKPOINT": "1"}
    shell = Shell(tmp_path, tmp_path, **more)
    done = shell("demo", "--json")
    lines = objects(done.stdout)
    assert done.returncode == 0, done.stdout + done.stderr
    assert lines[-1]["proof"].startswith("red → green (tests that were there)")
    kinds = types(lines)
    assert kinds.index("checkpoint") < kinds.index("patch") < kinds.index("final")
    (project,) = tmp_path.glob("flyball-demo-*/shop")
    assert git(project, "status", "--porcelain") == ""
    (plain,) = (Shell(project, tmp_path),)
    assert plain("runs", "merge", lines[0]["run"]).returncode == 0
    assert git(project, "diff", "--stat", "HEAD~1", "--", "test_cart.py") == ""
    assert "+            result += price * quantity" in git(project, "diff", "HEAD~1")


def test_the_demo_says_what_to_type_next():
    assert 'flyball run "the tests fail, fix it"' in NEXT
    assert "flyball demo --scripted" in NEXT
