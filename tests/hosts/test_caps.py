"""Caps on what a host's sessions cost, by the transcripts that hosts keep."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from tests.governed import Shell
from tests.hosts.hooking import Heard, HostSession


def reply(id: str, tokens: int) -> dict[str, Any]:
    usage = {"input_tokens": tokens, "output_tokens": 0}
    return {"type": "assistant", "message": {"id": id, "model": "claude-opus-4-5", "usage": usage}}


class Billed(HostSession):
    """A session whose host keeps a transcript."""

    def __init__(self, shell: Shell, place: Path, session: str = "s1") -> None:
        super().__init__(shell, session=session)
        self.file = place / f"{session}.jsonl"

    def bills(self, *replies: dict[str, Any], agent: str = "") -> None:
        file = self.file.with_suffix("") / f"subagents/agent-{agent}.jsonl" if agent else self.file
        file.parent.mkdir(parents=True, exist_ok=True)
        with file.open("a") as stream:
            stream.writelines(json.dumps(each) + "\n" for each in replies)

    def hook(self, event: str, **fields: Any) -> Heard:
        return super().hook(event, transcript_path=str(self.file), **fields)


@pytest.fixture
def place(tmp_path: Path) -> Path:
    return tmp_path / "transcripts"


def test_a_session_is_told_at_four_fifths_and_stopped_at_its_cap(shell: Shell, place: Path):
    shell.env["FLYBALL_CAPS_SESSION_TOKENS"] = "1000"
    host = Billed(shell, place)
    # Each reply has a line for every block of it, and is counted once.
    host.bills(reply("m1", 500), reply("m1", 500))
    host.prompt()
    assert host.run("git log -1", "one").told == ""
    # A sub-agent has a transcript of its own, and the same cap.
    host.bills(reply("a1", 350), agent="x")
    said = host.run("git log -2", "two")
    assert "850 of 1,000 tokens are spent in this session" in said.told + said.notice
    assert "tokens are spent" not in host.run("git log -3", "three").told, "said once"
    host.bills(reply("m2", 200))
    stopped = host.before("Read", file_path="cart.py")
    assert stopped.is_refused
    assert "1,050 of 1,000 tokens" in stopped.err
    assert "`caps.session_tokens`" in stopped.err
    assert host.prompt("go on").is_refused
    host.end()
    other = Billed(shell, place, "s2")
    assert other.prompt().is_allowed, "another session has its own"
    other.end()


@pytest.mark.exhaustive
def test_a_week_counts_all_sessions_and_a_resumed_one_only_once(shell: Shell, place: Path):
    shell.env["FLYBALL_CAPS_WEEK_MONEY"] = "0.01"
    first = Billed(shell, place)
    first.bills(reply("m1", 1500))
    assert first.prompt().is_allowed
    first.end()
    again = Billed(shell, place, "s2")
    again.bills(reply("m1", 1500))
    assert again.prompt().is_allowed, "the same reply in another transcript costs nothing more"
    again.bills(reply("m2", 1500))
    assert "in seven days" in again.before("Read", file_path="cart.py").err
    again.end()


@pytest.mark.exhaustive
def test_lines_that_are_not_whole_or_not_json_wait_or_are_let_go(shell: Shell, place: Path):
    shell.env["FLYBALL_CAPS_SESSION_TOKENS"] = "1000"
    host = Billed(shell, place)
    host.bills(reply("m1", 100))
    with host.file.open("a") as stream:
        stream.write('no json\n[1]\n{"type": "assistant", "mess')
    host.prompt()
    assert host.before("Read", file_path="cart.py").is_allowed
    with host.file.open("a") as stream:
        stream.write('age": {"id": "m2", "usage": {"input_tokens": 2000}}}\n')
    assert host.before("Read", file_path="cart.py").is_refused
    host.end()
