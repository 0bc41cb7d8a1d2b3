"""Reads that pass under the judge's leave, and what becomes of them."""

from __future__ import annotations

import asyncio
import os
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest
from msgspec.structs import replace
from tests.governed import environment, shop
from tests.unit.app.hosts.alone import AloneHost, alone_in, journaled, top_of

from flyball.app.hosts.leaves import leave
from flyball.app.hosts.leaves.ahead import MOST_READS, MOST_REFUSALS, reads_ahead
from flyball.app.project import open_home
from flyball.core.host.event import Moment
from flyball.core.machine.machine import advance
from flyball.core.run.codec import decode_event
from flyball.core.run.event import PauseAsked, RunStarted
from flyball.core.run.state import Checkpoint
from flyball.core.terms.call import Access
from flyball.surfaces.hooks.client import HookEyes
from flyball.surfaces.hooks.payload import read_payload
from flyball.workspace.process.holder import starter_of


@pytest.fixture
def host(tmp_path: Path) -> AloneHost:
    return alone_in(tmp_path)


def test_what_was_let_pass_is_journaled_by_whoever_is_asked_next(host: AloneHost):
    for n in range(3):
        assert host.passes(host.before(f"{n}.py"))
        assert host.passes(host.after(f"{n}.py"))
    assert host.state().spend.calls == 0
    refused = host.judged(host.before("cart.py", "Write"))
    assert refused.is_refused
    state = host.state()
    assert (state.spend.calls, state.cards[-1].memory.reads) == (3, 3)
    host.judged(host.data("PreCompact"))
    assert host.state().spend.calls == 3, "once, however often somebody is asked"


@pytest.mark.parametrize("moment", sorted(leave.QUIET))
def test_a_moment_without_an_answer_is_let_pass_and_ends_no_leave(host: AloneHost, moment: str):
    event = read_payload("claude", host.data(moment))
    assert event.moment in (Moment.OTHER, Moment.COMPACTING), "which the judge lets pass"
    assert host.passes(host.data(moment))
    assert host.passes(host.before("a.py"))
    forged = {"hook_event_name": moment}
    assert not host.passes(host.data("PreToolUse", tool_name="Write", tool_input=forged))


def test_there_is_no_more_leave_than_the_judge_has_given(host: AloneHost):
    passed = [host.passes(host.before(f"{n}.py")) for n in range(MOST_READS + 2)]
    assert passed == [True] * MOST_READS + [False] * 2
    for n in range(MOST_READS, 15):
        assert not host.judged(host.before(f"{n}.py"), gives_leave=False).is_refused
    assert host.judged(host.before("one-more.py")).is_refused, "a small fix has fifteen calls"
    assert host.said(host.before("yet-one-more.py")) is None
    assert host.state().spend.calls == 15


def test_only_a_read_that_is_new_and_goes_well_passes(host: AloneHost):
    for data in (
        host.before("a.py", "Bash"),
        host.before("a.py", "mcp__x__read"),
        host.before("a.py", session_id="s2"),
        host.data("PostToolUseFailure", tool_name="Read", tool_input={"file_path": "a.py"}),
        host.before("x" * leave.MOST_BYTES),
    ):
        assert not _passes(host, data)
    assert host.passes(host.before("a.py"))
    assert not host.passes(host.before("a.py")), "a loop is the judge's to see"
    assert not host.passes(host.after("a.py", {"error": "no such file"}))
    assert not host.passes(host.after("a.py", is_interrupt=True))
    assert host.passes(host.after("a.py"))
    assert not host.passes(host.after("a.py")), "nothing comes back twice"


def _passes(host: AloneHost, data: bytes) -> bool:
    try:
        return host.passes(data)
    except (OSError, LookupError):
        return False


def test_a_leave_ends_with_whatever_else_happens(host: AloneHost):
    assert host.passes(host.before("a.py"))
    config = Path(host.env["HOME"]) / ".config/flyball/config.toml"
    config.parent.mkdir(parents=True)
    config.write_text("[hooks]\nmode = 'strict'\n")
    assert not host.passes(host.before("b.py"))
    config.unlink()
    assert host.passes(host.before("b.py"))
    switch = host.governor.switch
    switch.turn_off(60)
    assert not host.passes(host.before("c.py"))
    switch.turn_on()
    env = host.env | {"FLYBALL_X": ""}
    assert not leave.let_pass("claude", host.before("c.py"), top_of, env, HookEyes())
    journal = host.governor.home.journal_path
    journal.write_bytes(journal.read_bytes())
    assert not host.passes(host.before("c.py"))


def test_half_a_line_of_a_killed_hook_and_scribble_are_nothing(host: AloneHost):
    assert host.passes(host.before("a.py"))
    with host.file.open("ab") as stream:
        stream.write(b'{"moment": "PreTo')
    assert host.passes(host.before("b.py"))
    with host.file.open("ab") as stream:
        stream.write(b"[]\n{}\n")
    host.judged(host.data("PreCompact"))
    assert host.state().spend.calls == 2


def test_whoever_died_over_a_leave_has_lost_and_doubled_nothing(host: AloneHost):
    assert host.passes(host.before("a.py"))
    assert host.passes(host.after("a.py"))
    assert host.passes(host.before("b.py"))
    kept = host.file.read_bytes()
    host.judged(host.data("PreCompact"))
    host.file.write_bytes(kept)
    host.judged(host.data("PreCompact"))
    assert host.state().spend.calls == 2
    assert [each.id for each in host.state().cards[-1].in_flight] == ["b.py"]


def test_a_read_under_way_may_come_back_under_a_leave(host: AloneHost):
    host.judged(host.before("a.py"))
    assert host.passes(host.after("a.py"))
    host.judged(host.data("PreCompact"))
    assert not host.state().cards[-1].in_flight


def test_where_the_judge_would_speak_there_is_no_leave(host: AloneHost):
    state = host.state()
    assert reads_ahead(state) == MOST_READS
    assert reads_ahead(state, 40) == 11, "the twelfth read in a row is nudged"
    few = replace(state, budget=replace(state.budget, calls=3))
    assert reads_ahead(few) == 3
    paused = advance(state, PauseAsked(by="somebody")).state
    assert reads_ahead(paused) == 0


def test_the_hook_finds_a_leave_where_the_sessions_are(host: AloneHost):
    assert Path(leave.directory(str(host.repo), host.env)) == host.file.parent
    plain = {"HOME": host.env["HOME"]}
    home = open_home(host.repo, plain, {})
    assert Path(leave.directory(str(host.repo), plain)) == home.state / "hosts"


def test_a_write_that_is_sure_to_be_refused_is_refused_in_the_judge_s_own_words(host: AloneHost):
    said = [host.said(host.before(f"{n}.py", "Write")) for n in range(MOST_REFUSALS + 1)]
    assert said[-1] is None, "a row of them is the judge's to see"
    assert host.said(host.before("0.py", "Write")) is None
    assert host.passes(host.before("a.py"))
    judged = host.judged(host.before("last.py", "Write"))
    assert judged.is_refused
    assert "3 calls in a row were denied" in judged.text, "which counts the others"
    first, how = (said[0] or "").split("\n")
    assert said[:-1] == [said[0]] * MOST_REFUSALS
    assert judged.text.startswith(f"{first}\n")
    assert judged.text.endswith(how)
    denied = [each for each in host.state().cards[-1].judged if each.code == "out_of_phase"]
    assert denied, "they are in the journal"
    assert host.state().spend.calls == 1


@pytest.mark.parametrize("path", ["/etc/passwd", "../x.py", ".claude/settings.json", ""])
def test_a_write_that_is_judged_by_its_name_is_left_to_the_judge(host: AloneHost, path: str):
    assert host.said(host.before(path, "Write")) is None


def test_a_refused_write_that_was_made_all_the_same_is_the_judge_s(host: AloneHost):
    data = host.before("x.py", "Write")
    assert host.said(data)
    made = data.replace(b"PreToolUse", b"PostToolUse")
    assert host.said(made) is None


def test_a_command_that_only_looks_passes_and_is_journaled_afterwards(host: AloneHost):
    for n in range(3):
        assert host.passes(host.look(f"git log -{n}"))
        assert host.passes(host.look(f"git log -{n}", "PostToolUse", tool_response={"stdout": ""}))
    assert host.passes(host.before("a.py"))
    assert host.state().spend.calls == 0
    host.judged(host.data("UserPromptSubmit", prompt="and now?"), gives_leave=False)
    calls = [(call.tool, call.access) for call in journaled(host)]
    assert calls == [("bash", Access.READ)] * 3 + [("read", Access.READ)]


@pytest.mark.parametrize(
    "command",
    [
        "touch x",
        "python -m pytest",
        "git log > x",
        "rm cart.py",
        "cat $HOME/x",
        "cat ~/x",
        "flyball runs list",
        "FLYBALL off",
        "echo `date`",
        "make",
        "",
    ],
)
def test_no_other_command_passes_without_the_judge(host: AloneHost, command: str):
    assert host.said(host.look(command)) is None


def test_a_command_that_is_more_than_its_text_is_left_to_the_judge(host: AloneHost):
    for given in (
        {"command": "git log", "run_in_background": True},
        {"command": "git log", "cmd": "rm x"},
        {"command": ["git", "log"]},
        {"command": f"ls {host.governor.home.state.parent}"},
    ):
        assert host.said(host.look("git log", tool_input=given)) is None
    given = {"command": "git log", "description": "history", "timeout": 1000}
    assert host.passes(host.look("git log", tool_input=given))


def test_a_tree_that_is_not_as_the_judge_saw_it_is_the_judge_s(host: AloneHost):
    assert host.passes(host.look("git log"))
    (host.repo / "cart.py").write_text("changed by what should only look")
    assert host.said(host.look("git log", "PostToolUse", tool_response={"stdout": ""})) is None
    assert host.said(host.look("git status")) is None
    host.judged(host.look("git log", "PostToolUse", tool_response={"stdout": ""}))
    assert "def total" in (host.repo / "cart.py").read_text(), "it was taken back"


def test_a_look_ends_as_a_look_and_a_read_as_a_read(host: AloneHost):
    assert host.passes(host.look("git log"))
    assert host.said(host.after("git log")) is None
    assert host.passes(host.before("a.py"))
    end = host.look("a.py", "PostToolUse", tool_use_id="a.py", tool_response={"stdout": ""})
    assert host.said(end) is None
    failed = host.look("git log", "PostToolUse", tool_response={"error": "no"})
    assert host.said(failed) is None


def test_looks_and_reads_share_what_is_left(host: AloneHost):
    passed = [
        host.passes(host.look(f"git log -{n}") if n % 2 else host.before(f"{n}.py"))
        for n in range(MOST_READS + 2)
    ]
    assert passed == [True] * MOST_READS + [False] * 2


def test_where_something_may_be_writing_no_command_passes(host: AloneHost):
    host.judged(host.look("python -m unittest"))
    assert host.said(host.look("git log")) is None


def test_who_stops_before_anything_was_changed_is_let_go_without_a_trace(host: AloneHost):
    kept = host.file.read_bytes()
    assert host.said(host.data("Stop")) == ""
    assert host.said(host.data("SubagentStop", agent_id="a1")) == ""
    assert host.file.read_bytes() == kept
    assert host.passes(host.before("a.py"))
    assert host.said(host.data("Stop")) is None, "a call is under way"
    assert host.passes(host.after("a.py"))
    assert host.said(host.data("Stop")) == ""
    (host.repo / "cart.py").write_text("written behind the governor's back")
    assert host.said(host.data("Stop")) is None


def test_a_stop_that_is_asked_about_is_left_to_the_judge(host: AloneHost):
    point = Checkpoint("g", "f", "a", ("cart.py",), ("python -m unittest",))
    asyncio.run(host.governor.checkpoint(point))
    write = host.before("cart.py", "Write")
    host.judged(write)
    (host.repo / "cart.py").write_text("changed = True\n")
    host.judged(write.replace(b"PreToolUse", b"PostToolUse"))
    assert host.passes(host.before("a.py")), "there is a leave"
    assert host.passes(host.after("a.py"))
    assert host.said(host.data("Stop")) is None


def test_the_end_of_no_call_leaves_no_trace(host: AloneHost):
    kept = host.file.read_bytes()
    assert host.said(host.after("unasked.py")) == ""
    assert host.file.read_bytes() == kept
    host.judged(host.look("python -m unittest"))
    ended = host.look("python -m unittest", "PostToolUse", tool_response="")
    assert host.said(ended) is None, "one that the judge has let begin is its own to end"
    host.judged(ended)
    (host.repo / "cart.py").write_text("written behind the governor's back")
    assert host.said(host.after("unasked.py")) is None


def test_what_was_refused_without_a_trace_is_refused_again_in_the_same_words(host: AloneHost):
    for n in range(15):
        assert not host.judged(host.before(f"{n}.py")).is_refused
    refused = host.judged(host.before("more.py"))
    again = host.judged(host.before("more.py"))
    assert "15 tool calls are spent" in again.text
    assert (refused.text, again.stands) == (again.text, True)
    kept = host.file.read_bytes()
    assert host.said(host.before("more.py")) == again.text
    assert host.said(host.before("other.py")) is None
    assert host.file.read_bytes() == kept
    (host.repo / "cart.py").write_text("written behind the governor's back")
    assert host.said(host.before("more.py")) is None


def test_a_read_that_is_under_way_may_begin_again_and_each_time_counts(host: AloneHost):
    host.judged(host.before("a.py"))
    passed = [host.passes(host.before("a.py")) for _ in range(MOST_READS + 1)]
    assert passed == [True] * MOST_READS + [False]
    assert not host.passes(host.before("b.py")), "nobody has asked the judge about both"
    kept = host.file.read_bytes()
    host.judged(host.data("PreCompact"))
    assert host.state().spend.calls == MOST_READS + 1
    host.file.write_bytes(kept)
    host.judged(host.data("PreCompact"))
    assert host.state().spend.calls == MOST_READS + 1, "once, although all have one name"


def test_a_look_that_is_under_way_may_begin_again(host: AloneHost):
    host.judged(host.look("git log"))
    assert host.passes(host.look("git log"))
    assert host.passes(host.look("git log"))
    assert host.said(host.look("git log", "PostToolUse", tool_response="")) == ""
    assert host.said(host.look("git log")) is None, "what came back is the judge's to compare"


@pytest.fixture
def known(host: AloneHost) -> AloneHost:
    """A host of which it is known that this very process speaks for it."""
    host.judged(host.data("UserPromptSubmit", prompt="fix it"), process=starter_of(os.getpid()))
    return host


def prompt(host: AloneHost, text: str, **more: str) -> bytes:
    return host.data("UserPromptSubmit", prompt=text, **more)


def requests(host: AloneHost) -> list[str]:
    """What the runs in the journal were asked for, in their order."""
    with closing(sqlite3.connect(host.governor.home.journal_path)) as db:
        rows = db.execute("SELECT body FROM events ORDER BY at, seq").fetchall()
    events = [decode_event(body) for (body,) in rows]
    return [event.request for event in events if isinstance(event, RunStarted)]


def test_prompts_are_written_down_and_taken_up_in_their_order(known: AloneHost):
    assert known.passes(known.before("a.py"))
    assert known.passes(prompt(known, "rename the cart"))
    assert known.passes(prompt(known, "no, the basket"))
    assert known.said(known.before("b.py")) is None, "the run it belongs to is not there yet"
    assert known.said(known.data("Stop")) is None
    asyncio.run(known.governor.catch_up())
    assert requests(known)[-3:] == ["fix it", "rename the cart", "no, the basket"]
    assert known.passes(known.before("b.py")), "leave was given anew"
    assert known.said(known.after("b.py")) is None, "there is something to be told first"
    told = known.judged(known.after("b.py"))
    assert told.text.count("Flyball governs this session") == 1
    assert known.passes(known.before("c.py"))
    assert known.passes(known.after("c.py"))


def test_a_run_that_has_ended_leaves_leave_for_the_next_prompt(known: AloneHost):
    asyncio.run(known.governor.prompts.leave(known.session(), "it is over"))
    asyncio.run(known.governor.catch_up())
    assert known.said(known.before("a.py")) is None
    assert known.said(known.data("Stop")) is None
    assert known.passes(prompt(known, "and now the name"))
    asyncio.run(known.governor.catch_up())
    assert requests(known)[-1] == "and now the name"


def test_a_prompt_that_may_be_nobodys_is_left_to_the_judge(known: AloneHost):
    assert known.said(prompt(known, "fix it", agent_id="a1")) is None
    assert known.said(prompt(known, "<task-notification>done</task-notification>")) is None
    known.judged(prompt(known, "fix it"), process="1@1")
    assert known.said(prompt(known, "fix it")) is None, "another process spoke for the host"
    rejected = replace(known.session(), process=starter_of(os.getpid()), rejected="Not done.")
    known.governor.sessions.keep(rejected)
    asyncio.run(known.governor.catch_up())
    assert known.said(prompt(known, "fix it")) is None, "it may be what we have said ourselves"


def test_what_was_changed_behind_a_prompt_that_waits_is_the_persons_own(known: AloneHost):
    assert known.passes(prompt(known, "fix the name"))
    (known.repo / "cart.py").write_text("edited by the person\n")
    asyncio.run(known.governor.catch_up())
    known.judged(known.look("git status"))
    assert (known.repo / "cart.py").read_text() == "edited by the person\n"


def test_where_calls_are_timed_only_a_prompt_passes(tmp_path: Path):
    config = tmp_path / "home/.config/flyball/config.toml"
    config.parent.mkdir(parents=True)
    config.write_text("[guards]\nplan_seconds = 600\n")
    host = alone_in(tmp_path)
    host.judged(prompt(host, "fix it"), process=starter_of(os.getpid()))
    host.judged(host.before("a.py"))
    assert host.said(host.after("a.py")) is None, "somebody waits for its end"
    assert host.said(host.before("b.py")) is None
    assert host.said(host.data("Stop")) is None
    assert host.passes(prompt(host, "fix the name"))


def test_a_session_of_which_nothing_is_known_gets_no_leave(tmp_path: Path):
    host = AloneHost(shop(tmp_path / "shop"), environment(tmp_path))
    assert not host.judged(host.data("SessionStart", source="startup")).is_refused
    assert not host.file.exists()
