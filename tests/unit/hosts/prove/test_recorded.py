"""Recorded payloads, through the command that is installed."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from tests.hosts.hooking import PAYLOADS
from tests.unit.hosts.prove.own_machine import OwnMachine

from flyball.hosts.prove.installed import find_hooks
from flyball.hosts.prove.lines import ProofLine
from flyball.hosts.prove.recorded import recorded, show_recorded

HOSTS = ("claude", "codex", "gemini", "opencode")


@pytest.fixture
def machine(tmp_path: Path) -> OwnMachine:
    return OwnMachine(tmp_path)


def shown(machine: OwnMachine, host: str) -> dict[str, ProofLine]:
    lines = show_recorded(host, machine.places, find_hooks(host, machine.places)[0])
    return {line.name: line for line in lines}


@pytest.mark.parametrize("host", HOSTS)
def test_a_write_is_refused_a_read_is_not_and_nonsense_is(host: str, machine: OwnMachine):
    machine.install(host)
    lines = shown(machine, host)
    assert {name: str(line.state) for name, line in lines.items()} == {
        "write": "shown", "read": "shown", "broken": "shown",
    }  # fmt: skip
    assert "recon does not allow that" in lines["write"].seen


@pytest.mark.parametrize(
    ("script", "name", "said"),
    [
        ("exit 0", "write", "exit code 0"),
        ("cat >/dev/null; exit 2", "write", "gave no reason"),
        ("echo yes; echo no >&2; exit 2", "write", "besides the refusal"),
        ("echo no >&2; exit 2", "read", "exit code 2: no"),
        ("grep -q tool_name || exit 0; echo no >&2; exit 2", "broken", "exit code 0"),
    ],
)
def test_a_command_that_answers_otherwise_fails(
    script: str, name: str, said: str, machine: OwnMachine
):
    machine.install("claude", executable=machine.program("flyball-hook", script))
    line = shown(machine, "claude")[name]
    assert not line.holds
    assert said in line.seen
    assert line.next == "flyball init --host claude --scope user"


@pytest.mark.parametrize(
    ("host", "what", "name"),
    [
        ("claude", "write", "PreToolUse.Write"),
        ("claude", "read", "PreToolUse.Read"),
        ("codex", "write", "PreToolUse.apply_patch"),
        ("codex", "read", "PreToolUse.Bash.reading"),
        ("gemini", "write", "BeforeTool.write_file"),
        ("gemini", "read", "BeforeTool.read_file"),
    ],
)
def test_payloads_match_recorded_ones(host: str, what: str, name: str):
    sent = json.loads((PAYLOADS / host / f"{name}.json").read_text())
    assert json.loads(recorded(host, what, Path("/home/dev/project"))) == sent


@pytest.mark.parametrize("what", ["write", "read"])
def test_the_payloads_of_opencode_are_what_the_plugin_makes_of_its_events(what: str):
    sent = json.loads((PAYLOADS / "opencode" / f"tool.execute.before.{what}.json").read_text())
    made = json.loads(recorded("opencode", what, Path("/home/dev/project")))
    assert (made["tool_name"], made["tool_input"]) == (
        sent["input"]["tool"],
        sent["output"]["args"],
    )


def test_a_project_with_quotes_in_its_name_is_named_rightly():
    made = json.loads(recorded("claude", "write", Path('/a "b" c')))
    assert made["cwd"] == '/a "b" c'
