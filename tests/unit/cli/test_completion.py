"""Completion in shells: quick, and of everything that can be typed."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner

from flyball.cli import COMMANDS, cli

GUIDE = Path(__file__).parents[3] / "docs" / "guides" / "first-run.md"
FLYBALL = str(Path(sys.executable).with_name("flyball"))


def complete(*words: str) -> list[str]:
    """What bash is offered after these words, the last of which is not yet whole."""
    env = {
        "PATH": os.environ["PATH"],
        "COMP_WORDS": " ".join(("flyball", *words)),
        "COMP_CWORD": str(len(words)),
        "_FLYBALL_COMPLETE": "bash_complete",
    }
    done = subprocess.run([FLYBALL], env=env, capture_output=True, text=True)
    assert done.stderr == ""
    return [line.partition(",")[2] for line in done.stdout.splitlines()]


@pytest.mark.slow
def test_commands_options_and_choices_are_completed():
    assert complete("ver") == ["verify"]
    assert complete("run", "--dri") == ["--driver"]
    assert complete("machine", "--format", "x") == ["xstate"]
    assert complete("runs", "re") == ["resume", "replay"]


def test_the_names_of_all_commands_are_offered_without_loading_any():
    code = (
        "import sys; from flyball.cli import cli; import click\n"
        "found = cli.shell_complete(click.Context(cli), '')\n"
        "print(*(each.value for each in found))\n"
        "print(*(n for n in sys.modules if n.startswith('flyball.cli.')))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    offered, loaded = done.stdout.splitlines()
    assert set(COMMANDS) <= set(offered.split())
    assert not {"flyball.cli.run", "flyball.cli.runs"} & set(loaded.split())


def test_files_are_completed_without_loading_what_they_need_nothing_of():
    code = (
        "import sys; from flyball.cli import cli\n"
        "from flyball.cli.typed.shells import SHELLS\n"
        "shell = SHELLS['bash'](cli, {}, 'flyball', '')\n"
        "print(*(each.type for each in shell.get_completions(['patch', 'apply'], 'x')))\n"
        "print(*(n for n in sys.modules if n.startswith(('flyball.app', 'flyball.journal'))))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines() == ["file", ""]


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_each_shell_takes_its_script(shell: str, tmp_path: Path):
    result = CliRunner().invoke(cli, ["completion", shell])
    assert result.exit_code == 0
    assert f"_FLYBALL_COMPLETE={shell}_complete" in result.output
    told = json.loads(CliRunner().invoke(cli, ["completion", shell, "--json"]).stdout)
    assert told["install"].startswith("mkdir -p ")
    helped = CliRunner().invoke(cli, ["completion", "--help"]).output
    assert all(f"\n  {line}\n" in helped for line in told["install"].split("\n"))
    assert told["install"] in GUIDE.read_text()
    if program := shutil.which(shell):
        script = tmp_path / "script"
        script.write_text(result.output)
        subprocess.run([program, "-n", str(script)], check=True)
