"""`test.command` and `check.command` through the real command line."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from tests.governed import REVIEW, Shell, call, say, script
from tests.repos import repository

RUN = """\
if grep -q 3 firmware/volts.txt 2>/dev/null || grep -q 3 volts.txt; then
  printf 'TAP version 13\\n1..2\\nok 1 - boots\\nok 2 - volts\\n'
else
  printf 'TAP version 13\\n1..2\\nok 1 - boots\\nnot ok 2 - volts\\n'
  exit 1
fi
"""
SETTLED = '[test.command]\nfirmware = "sh run.sh"\n\n[check.command]\nfirmware = "sh lint.sh"\n'


@pytest.fixture
def shell(tmp_path: Path) -> Shell:
    files = {
        "firmware/run.sh": RUN,
        "firmware/lint.sh": "test -s volts.txt\n",
        "firmware/volts.txt": "5\n",
        "flyball.toml": SETTLED,
    }
    return Shell(repository(tmp_path / "board", files), tmp_path)


def looked(shell: Shell, tmp_path: Path, *calls: dict[str, object]) -> str:
    """All that a driver was told in a run that only looks."""
    driver = script(tmp_path / "s.jsonl", *calls, say("That is how it is."))
    done = shell("run", "why is it red?", "--intent", "diagnose", "--driver", driver, "--json")
    assert not done.stderr, done.stderr
    return shell("runs", "show", "last", "--threads").stdout


@pytest.mark.exhaustive
def test_a_repositorys_commands_count_once_they_are_trusted(shell: Shell, tmp_path: Path):
    calls = call("project"), call("test", args=["firmware"]), call("check", name="firmware")
    before = looked(shell, tmp_path, calls[0])
    assert "run.sh" not in before
    shown = shell("trust", "--yes")
    assert 'test.command = {"firmware": "sh run.sh"}' in shown.stdout, shown.stdout + shown.stderr
    after = looked(shell, tmp_path, *calls)
    assert "`sh run.sh` (settled in flyball.toml)" in after
    assert "`sh lint.sh` (settled in flyball.toml)" in after
    assert "sh run.sh in firmware: 1 passed, 1 failed" in after
    assert "sh lint.sh in firmware (diagnostics): clean" in after
    doctor = shell("doctor", "--json")
    assert "sh run.sh" in doctor.stdout


@pytest.mark.slow
def test_a_change_is_proven_by_the_settled_command_red_to_green(shell: Shell, tmp_path: Path):
    assert shell("trust", "--yes").returncode == 0
    point = call(
        "checkpoint",
        goal="The board runs at 3 volts.",
        findings="It runs at 5.",
        proposed_action="Write 3.",
        files=["firmware/volts.txt"],
        verify_with=["sh run.sh"],
    )
    edit = call("write_file", path="firmware/volts.txt", content="3\n")
    lines = point, edit, call("test", args=["firmware"]), say("Done."), REVIEW
    driver = script(tmp_path / "s.jsonl", *lines)
    done = shell("run", "fix the volts", "--intent", "small_fix", "--driver", driver)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "2 passed, 0 failed (sh run.sh)" in done.stdout
    (ending,) = [line for line in done.stdout.splitlines() if "✓ succeeded" in line]
    assert ending.endswith("(red → green (tests that were there), uninverted (2 tests))")
    assert "not run" not in done.stdout


@pytest.mark.parametrize(
    ("config", "code"),
    [
        ('[test.command]\nfirmwar = "x"\n', "no-such-directory"),
        ('[check]\ncommand = " "\n', "command-empty"),
        ('[test.command]\nfirmware = "sh -c \'x"\n', "command-unbalanced"),
        ("[test]\ncommand = 3\n", "config"),
    ],
)
def test_settings_that_cannot_be_meant_stop_before_a_run(
    shell: Shell, tmp_path: Path, config: str, code: str
):
    mine = tmp_path / "config.toml"
    mine.write_text(config)
    shell.env["FLYBALL_CONFIG"] = str(mine)
    done = shell("run", "fix it", "--driver", "repair", "--json")
    assert done.returncode == 2
    said = json.loads(done.stdout)
    assert said["code"] == code
    assert str(mine) in said["message"]
    assert said["hint"]
