"""What a call leaves behind that never comes back."""

from __future__ import annotations

from pathlib import Path

from tests.unit.app.hosts.alone import alone_in


def test_what_a_program_wrote_that_still_runs_at_the_stop_is_taken_back(tmp_path: Path):
    host = alone_in(tmp_path)
    run = {"tool_name": "Bash", "tool_input": {"command": "python3 -m unittest"}}
    assert not host.judged(host.data("PreToolUse", **run, tool_use_id="t1")).is_refused
    (host.repo / "late.py").write_text("x = 1\n")
    said = host.judged(host.data("Stop", last_assistant_message="I looked."))
    assert "late.py" in said.notice
    assert not (host.repo / "late.py").exists()
    assert not host.state().cards[-1].in_flight


def test_a_refused_call_does_not_pass_under_the_id_of_an_allowed_one(tmp_path: Path):
    host = alone_in(tmp_path)
    look = {"tool_name": "Bash", "tool_input": {"command": "git log --oneline | cat"}}
    secret = {"tool_name": "Bash", "tool_input": {"command": "cat .env"}}
    assert not host.judged(host.data("PreToolUse", **look, tool_use_id="call_0")).is_refused
    for _ in range(2):
        assert host.judged(host.data("PreToolUse", **secret, tool_use_id="call_0")).is_refused
    assert not host.judged(host.data("PreToolUse", **look, tool_use_id="call_0")).is_refused
