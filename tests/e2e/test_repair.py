"""Without any model, failing tests are worked on by search, under the same governor."""

from __future__ import annotations

import json
import signal
from pathlib import Path
from typing import Any

import pytest
from tests.governed import Shell, Terminal, objects, types
from tests.repos import git, repository

CLAMP = '''\
"""Bounds."""


def clamp(value, low, high):
    """Keep a value between two bounds."""
    if value < low:
        return low
    if value > high:
        return low  # noqa: it's a slip
    return value
'''
CASES = """\
import unittest

from {module} import clamp


class ClampTest(unittest.TestCase):
    def test_inside(self):
        self.assertEqual(clamp(3, 1, 5), 3)

    def test_below(self):
        self.assertEqual(clamp(0, 1, 5), 1)

    def test_above(self):
        self.assertEqual(clamp(9, 1, 5), 5)
        self.assertEqual(clamp(9, 2, 7), 7)
"""
SHARES = """\
import unittest

from shop.share import share


class ShareTest(unittest.TestCase):
    def test_too_much(self):
        self.assertEqual(share(300), 100)
"""
RIDDLE = """\
import unittest

from shop import name


class NameTest(unittest.TestCase):
    def test_name(self):
        self.assertEqual(name(7), "sd9f8h2")
"""
FIX_IT = ("run", "the tests fail, fix it", "--budget-seconds", "300")


def flat(root: Path) -> Path:
    return repository(root, {"bounds.py": CLAMP, "test_bounds.py": CASES.format(module="bounds")})


def final(lines: list[dict[str, Any]]) -> dict[str, Any]:
    (line,) = [line for line in lines if line["type"] == "final"]
    return line


def card_of(shell: Shell) -> dict[str, Any]:
    (card,) = json.loads(shell("runs", "show", "last", "--json").stdout)["cards"]
    return card


@pytest.mark.slow
def test_a_failing_suite_goes_from_red_to_green_without_a_model(tmp_path: Path):
    repo = flat(tmp_path / "shop")
    (repo / "notes.txt").write_text("mine\n")
    shell = Shell(repo, tmp_path)
    done = shell(*FIX_IT, "--json")
    lines = objects(done.stdout)
    assert done.returncode == 0, done.stdout[-2000:] + done.stderr
    kinds = types(lines)
    assert kinds.index("checkpoint") < kinds.index("patch") < kinds.index("final")
    assert final(lines)["proof"].startswith("red → green (tests that were there)")
    said = final(lines)["message"]
    assert "the tests pass" in said and "plausible" in said and "fixed" not in said
    (stated,) = [line for line in lines if line["type"] == "checkpoint"]
    assert (
        "test_bounds.py:14 expects `clamp(9, 1, 5) == 5`, but `clamp(9, 1, 5)` is 1"
        in (stated["findings"])
    )
    assert "1.00  bounds.py:9  return low" in stated["findings"]
    assert "for up to " in stated["proposed_action"]
    assert git(repo, "status", "--porcelain").split() == ["??", "notes.txt"]
    card = card_of(shell)
    change = git(repo, "diff", f"{card['commit']}~1", card["commit"], "--", "*.py")
    assert "-        return low  # noqa" in change
    assert "test_bounds.py" not in change
    notes = [note.get("text", "") for note in card["notes"]]
    (others,) = [text for text in notes if text.startswith("Other changes")]
    assert "--- a/bounds.py" in others
    assert f"flyball runs show {lines[0]['run']}" in card["answer"]


@pytest.mark.exhaustive
def test_a_package_in_a_src_layout_is_repaired(tmp_path: Path):
    repo = repository(
        tmp_path / "shop",
        {
            "pyproject.toml": '[project]\nname = "shop"\nversion = "1"\n',
            "src/shop/__init__.py": "",
            "src/shop/bounds.py": CLAMP,
            "src/shop/share.py": (
                "from shop.bounds import clamp\n\n\ndef share(x):\n    return clamp(x, 0, 100)\n"
            ),
            "tests/test_bounds.py": CASES.format(module="shop.bounds"),
            "tests/test_share.py": SHARES,
        },
    )
    done = Shell(repo, tmp_path)("run", "the tests fail, fix it", "--budget-seconds=300", "--json")
    assert done.returncode == 0, done.stdout[-2000:] + done.stderr
    assert final(objects(done.stdout))["proof"].startswith("red → green (tests that were there)")
    assert git(repo, "status", "--porcelain") == ""


@pytest.mark.slow
def test_what_cannot_be_repaired_is_explained_and_left_alone(tmp_path: Path):
    shop = {"shop.py": "def name(n):\n    return str(n)\n", "test_shop.py": RIDDLE}
    repo = repository(tmp_path / "shop", shop)
    shell = Shell(repo, tmp_path)
    done = shell("run", "the tests fail, fix it", "--budget-seconds", "300")
    assert done.returncode == 4, done.stdout + done.stderr
    answer = card_of(shell)["answer"]
    assert answer.startswith("No change was found that makes the tests pass; nothing was changed.")
    assert "test_shop.py:8 expects `name(7) == 'sd9f8h2'`, but `name(7)` is '7'." in answer
    assert "shop.py:2  return str(n)" in answer
    assert "small changes at these lines were tried" in answer
    assert git(repo, "status", "--porcelain") == ""
    assert git(repo, "for-each-ref", "--format=%(objectname)", "refs/heads").split() == (
        [git(repo, "rev-parse", "HEAD").strip()] * 2
    )


@pytest.mark.exhaustive
def test_an_interrupted_search_is_made_again(tmp_path: Path):
    shell = Shell(flat(tmp_path / "shop"), tmp_path)
    with shell.begin(*FIX_IT, "--json") as process:
        assert process.stdout is not None
        for line in process.stdout:
            if '"try_candidates"' in line and '"started"' in line:
                break
        for _ in range(2):
            process.send_signal(signal.SIGINT)
        process.stdout.read()
        assert process.wait() == 130
    done = shell("runs", "resume", "last", "--json")
    assert done.returncode == 0, done.stdout[-2000:] + done.stderr
    assert final(objects(done.stdout))["proof"].startswith("red → green (tests that were there)")


@pytest.mark.exhaustive
def test_one_ctrl_c_ends_a_search_and_the_run_can_go_on(tmp_path: Path):
    """What the tests compute makes the search longer than anybody would wait here."""
    slow = CASES.format(module="bounds").replace(
        "        self", "        sum(range(2 * 10**4))\n        self"
    )
    repo = repository(tmp_path / "shop", {"bounds.py": CLAMP, "test_bounds.py": slow})
    shell = Shell(repo, tmp_path)
    with shell.begin("run", "the tests fail, fix it", "--budget-seconds=900", "--json") as process:
        assert process.stdout is not None
        for line in process.stdout:
            if '"try_candidates"' in line and '"started"' in line:
                break
        process.send_signal(signal.SIGINT)
        ended = process.stdout.read()
        assert process.wait() == 130
    assert '"paused"' in ended
    assert git(repo, "status", "--porcelain") == ""
    done = shell("runs", "resume", "last", "--json")
    assert done.returncode == 0, done.stdout[-2000:] + done.stderr
    assert final(objects(done.stdout))["proof"].startswith("red → green (tests that were there)")


@pytest.mark.exhaustive
def test_who_reports_a_fault_is_offered_the_change_and_may_decline(tmp_path: Path):
    shell = Shell(flat(tmp_path / "shop"), tmp_path)
    done = shell("run", "--intent", "diagnose", "clamp gives the lower bound for large values")
    assert done.returncode == 3, done.stdout + done.stderr
    assert "Allow this change: bounds.py:9, so that every test passes?" in done.stdout
    declined = shell("deny", "last")
    assert declined.returncode == 0, declined.stdout
    assert "With this change every test passes:" in card_of(shell)["answer"]
    assert card_of(shell)["commit"] == ""


@pytest.mark.slow
@pytest.mark.parametrize(
    ("key", "code", "said"), [("y", 0, "succeeded"), ("n", 0, "answered"), ("q", 3, "")]
)
def test_a_key_answers_what_a_run_asks(tmp_path: Path, key: str, code: int, said: str):
    shell = Shell(flat(tmp_path / "shop"), tmp_path)
    words = ("--intent", "diagnose", "clamp gives the lower bound for large values")
    with Terminal(shell, "run", *words) as terminal:
        asked = terminal.shows("decide later")
        assert "y: let it make the change · n: keep it to looking" in asked
        assert asked.count("With this change every test passes") == 1
        ended, after = terminal.ends(key)
    assert (ended, said in after) == (code, True), after
    assert bool(card_of(shell)["commit"]) is (key == "y")


@pytest.mark.exhaustive
def test_a_javascript_project_is_repaired(tmp_path: Path):
    repo = repository(
        tmp_path / "shop",
        {
            "package.json": '{"name": "shop", "type": "module"}\n',
            "clamp.js": (
                "export function clamp(value, low, high) {\n"
                "  if (value < low) return low;\n"
                "  return value > high ? low : value;\n"
                "}\n"
            ),
            "clamp.test.js": (
                'import test from "node:test";\nimport assert from "node:assert/strict";\n'
                'import { clamp } from "./clamp.js";\n\n'
                'test("inside", () => assert.equal(clamp(3, 1, 5), 3));\n'
                'test("below", () => assert.equal(clamp(0, 1, 5), 1));\n'
                'test("above", () => assert.equal(clamp(9, 1, 5), 5));\n'
            ),
        },
    )
    done = Shell(repo, tmp_path)("run", "the tests fail, fix it", "--budget-seconds=300", "--json")
    assert done.returncode == 0, done.stdout[-2000:] + done.stderr
    assert final(objects(done.stdout))["proof"].startswith("red → green (tests that were there)")
    assert "value > high ? high : value" in git(repo, "log", "-p", "--all", "--", "clamp.js")
    assert git(repo, "status", "--porcelain") == ""
