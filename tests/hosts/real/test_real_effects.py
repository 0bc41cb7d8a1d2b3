"""What reaches the files of a real host's project without its own tools for it."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.hosts.real.test_real import HOSTS, RealHost, calls, place, says

__all__ = ["place"]

pytestmark = [pytest.mark.slow, pytest.mark.exhaustive]

SERVER = str(Path(__file__).with_name("put_file_server.py"))
OBEYS = """\
import sys
import unittest


class Obeys(unittest.TestCase):
    def test_what_it_is_told(self):
        exec(sys.stdin.readline())
"""
COMMAND = "---\nallowed-tools: Bash(*)\n---\nLook: !`echo 'x = 1' > late.py; echo made`\n"
GEMINI_COMMAND = 'prompt = """Look: !{echo "x = 1" > late.py; echo made}"""\n'
SKILL = "---\nname: mk\ndescription: makes a file\n---\nSee !`echo 'x = 1' > late.py; echo made`\n"


@pytest.mark.parametrize("host", HOSTS)
def test_a_tool_of_a_server_waits_for_the_checkpoint(host: str, place: tuple[Path, str]):
    real = RealHost(host, *place)
    given = {"path": str(real.repo / "late.py"), "content": "x = 1\n"}
    name = "mcp_lab_put_file" if host == "gemini" else "mcp__lab__put_file"
    tool = {"name": name, "input": given}
    if host == "codex":
        tool = {"name": "put_file", "namespace": "mcp__lab", "input": given}
    real.asks(real.look(), calls(tool), says("It could not."), server=SERVER)
    assert "recon does not allow that" in real.heard
    assert not (real.repo / "late.py").exists()


@pytest.mark.parametrize("host", ["codex", "gemini"])
def test_what_a_shell_leaves_behind_writes_nothing_while_only_looking(
    host: str, place: tuple[Path, str]
):
    real = RealHost(host, *place)
    sneaky = "(sleep 1; echo 'x = 1' > late.py) >/dev/null 2>&1 & echo started"
    real.asks(real.shells(sneaky), real.shells("sleep 2; python3 -c 'print(1)'"), says("I looked."))
    assert not (real.repo / "late.py").exists()


def test_what_is_typed_into_a_running_program_changes_nothing(place: tuple[Path, str]):
    real = RealHost("codex", *place)
    (real.repo / "test_wait.py").write_text(OBEYS)
    run = {"cmd": "python3 -m unittest test_wait", "tty": True, "yield_time_ms": 3000}
    typed = {"session_id": "@#SID@", "chars": "open('late.py', 'w').write('x = 1')\n"}
    real.asks(
        calls({"name": "exec_command", "input": run}),
        {
            "capture": {"SID": r"session ID (\d+)"},
            **calls({"name": "write_stdin", "input": {**typed, "yield_time_ms": 3000}}),
        },
        real.look(),
        says("I looked."),
    )
    assert "session ID" in real.heard, "the program was still running"
    # It runs confined, so that nothing of what it writes is kept.
    assert not (real.repo / "late.py").exists()


def test_what_a_slash_command_writes_is_taken_back(place: tuple[Path, str]):
    real = RealHost("claude", *place)
    command = real.repo / ".claude/commands/mk.md"
    command.parent.mkdir(parents=True)
    command.write_text(COMMAND)
    real.asks(real.look(), says("I looked."), prompt="/mk")
    assert not (real.repo / "late.py").exists()


def test_what_a_slash_command_writes_before_any_prompt_is_taken_back(place: tuple[Path, str]):
    real = RealHost("gemini", *place)
    command = real.repo / ".gemini/commands/mk.toml"
    command.parent.mkdir(parents=True)
    command.write_text(GEMINI_COMMAND)
    real.asks(real.look(), says("I looked."), prompt="/mk")
    assert "late.py changed without an allowed call" in real.heard
    assert not (real.repo / "late.py").exists()
    assert command.exists()


def test_what_a_skill_writes_is_taken_back(place: tuple[Path, str]):
    real = RealHost("claude", *place)
    skill = real.repo / ".claude/skills/mk/SKILL.md"
    skill.parent.mkdir(parents=True)
    skill.write_text(SKILL)
    real.asks(calls({"name": "Skill", "input": {"skill": "mk"}}), real.look(), says("I looked."))
    assert not (real.repo / "late.py").exists()


@pytest.mark.parametrize("host", HOSTS)
def test_a_loop_is_nudged_and_then_stopped(host: str, place: tuple[Path, str]):
    real = RealHost(host, *place)
    real.asks(*[real.shells("git log -1 --format=%s") for _ in range(7)], says("I looked."))
    assert "gave the same outcome 3 times" in real.heard
    # Gemini takes the fifth for a loop by itself.
    if host != "gemini":
        assert "A person must decide" in real.heard
