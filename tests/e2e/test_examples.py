"""The examples and the README's code run as they are printed, and show what they promise."""

from __future__ import annotations

import re
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest
from tests.small_python import small_path
from tests.tiers import sampled

ROOT = Path(__file__).parents[2]
EXAMPLES = sorted((ROOT / "examples").glob("[0-9]*.py"))

SHOWS = {
    "01-governor.py": (
        "The card is open: plan.recon.analyze_code",
        "edit_diff: Deny(code='out_of_phase'",
        "After the checkpoint: build.execute",
        "edit_diff: Allow()",
        "The journal folds into the same state: True",
    ),
    "02-patch.py": (
        "ok: True",
        "+        result += price * quantity",
        "ok: False and every byte as it was: True",
        "no_match: ",
        "merged: True",
    ),
    "03-guards.py": (
        "step 3: repetition (soft)",
        "step 5: repetition (hard)",
        "Polling: the same call with a changed outcome\n  9 steps seen",
        "step 8: cycle (hard)",
    ),
    "04-scripted-run.py": (
        "edit_diff: deny out_of_phase",
        "edit_diff: allow",
        "verdict-report: failing",
        "sent back: This is not done yet",
        "verdict-report: passing",
        "succeeded, red → green (tests that were there) (1 test)",
        "success, 2 calls, 1 blocked",
    ),
    "05-flow-by-relay.py": (
        "find: doing\n  sent back: - `criteria_checklist` is missing",
        "fix: doing\n  verdict-report: good\nfix: done\nnote: doing",
        "asks: Review both changes: it is done and waits for your review.\nthe process has ended",
        "with 3; the run waits\nreview: done\nannounce: done\nsuccess: Totals ignored how many",
        "the second process has ended with 0",
    ),
    "06-own-loop.py": (
        "edit_diff: Deny: `edit_diff` changes things",
        "read: made\npromised; now build.execute\nedit_diff: made",
        "2 calls, 1 blocked of 15",
    ),
    "07-pydantic-ai.py": (
        "write: Deny\npromise: build.execute\nwrite: Allow",
        "The total counts every piece.\ntotal = price * n",
    ),
    "08-rejudge.py": (
        "at most 150 calls: 0 of 6 differ",
        "at most 4 calls: 2 of 6 differ",
        "read: allow → deny (budget_spent)",
    ),
    "09-verify-in-ci.py": ("honest: exit 0: ✓ shown: red → green", "cheat: exit 4: ✗ not shown: "),
    "10-own-gate.py": (
        "nothing was looked at: Missing(",
        "an older tree: Missing(",
        "two folders: Failed(",
        "one folder: Passed(",
    ),
    "11-langgraph.py": ("write: Deny\npromise: build.execute\nwrite: Allow", "total = price * n"),
    "12-own-driver.py": (
        "asked as executor in plan.recon.analyze_code\nasked as executor in build.execute",
        "asked as reviewer",
        "success, 3 calls\n",
        '+    return "Hello, " + name',
    ),
}


def run(program: list[str], home: Path) -> subprocess.CompletedProcess[str]:
    env = {"PATH": small_path(), "HOME": str(home), "TMPDIR": str(home), "LANG": "C.UTF-8"}
    return subprocess.run(
        [sys.executable, *program], cwd=home, env=env, capture_output=True, text=True, timeout=900
    )


@pytest.mark.slow
@pytest.mark.parametrize("example", sampled(EXAMPLES, 5, lambda path: path.name))
def test_an_example_shows_what_it_promises(example: Path, tmp_path: Path):
    done = run([str(example)], tmp_path)
    if "langgraph" in example.name and find_spec("langgraph") is None:
        assert "pip install langgraph" in done.stderr
        return
    assert (done.returncode, done.stderr) == (0, "")
    place = 0
    for line in SHOWS[example.name]:
        found = done.stdout.find(line, place)
        assert found >= 0, f"{line!r} is not shown in its order:\n{done.stdout}"
        place = found + len(line)


def test_the_examples_are_numbered_without_a_gap_and_all_are_promised():
    names = [path.name for path in EXAMPLES]
    assert [name[:3] for name in names] == [f"{n:02}-" for n in range(1, len(names) + 1)]
    assert sorted(SHOWS) == names


def test_the_code_in_the_readme_prints_what_its_comments_say(tmp_path: Path):
    text = (ROOT / "README.md").read_text()
    (code,) = re.findall(r"```python\n(.*?)```", text, re.DOTALL)
    done = run(["-c", code], tmp_path)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.splitlines() == re.findall(r"# → (.*)", code)
