"""Flyball without Landlock, namespaces and `fork`: all but confinement works, and that is said."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

import pytest
from tests.governed import ARGV, environment, shop

pytestmark = pytest.mark.exhaustive

ROOT = Path(__file__).parents[2]
BARE = (sys.executable, "-m", "tests.bare")
SURFACES = (
    "tests/hosts/test_hooks.py::test_a_fix_is_held_to_a_checkpoint_and_to_the_verdict",
    "tests/unit/audit/test_auditing.py",
    "tests/web/test_routes.py",
)
"""Hooks, audit and page, of which the quick part has none since they start processes."""


def on_bare_machine(
    *argv: str, cwd: Path = ROOT, env: Mapping[str, str] = os.environ
) -> subprocess.CompletedProcess[str]:
    known = {**env, "PYTHONPATH": str(ROOT)}
    return subprocess.run([*BARE, *argv], cwd=cwd, env=known, capture_output=True, text=True)


ROOMS = ("tests/unit/hosts", "tests/unit/hosts/prove", "tests/unit/journal")
"""Those of the quick part that ask the system for something."""


def test_what_asks_the_system_for_something_passes():
    which = ("-m", "not slow and not exhaustive", *ROOMS)
    done = on_bare_machine(sys.executable, "-m", "pytest", *which)
    assert done.returncode == 0, done.stdout[-4_000:]
    assert " passed" in done.stdout


def test_hooks_audit_and_page_work():
    found = on_bare_machine(sys.executable, "-m", "pytest", "-m", "not exhaustive", *SURFACES)
    assert found.returncode == 0, found.stdout[-4_000:]


def test_the_missing_confinement_is_said(tmp_path: Path):
    repo, env = shop(tmp_path / "shop"), environment(tmp_path)
    told = on_bare_machine(*ARGV, "doctor", "--json", cwd=repo, env=env)
    assert (told.returncode, json.loads(told.stdout)["sandbox"]["level"]) == (1, "none")

    cart = repo / "cart.py"
    cart.write_text(cart.read_text() + "\n# The end\n")
    judged = on_bare_machine(*ARGV, "verify", cwd=repo, env=env)
    assert "! No sandbox works on this machine: commands are not confined." in judged.stderr
    judged = on_bare_machine(*ARGV, "verify", "--json", cwd=repo, env=env)
    assert json.loads(judged.stdout)["sandbox"] == "none"
