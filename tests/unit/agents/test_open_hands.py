"""OpenHands' recordings, in both of their formats."""

from __future__ import annotations

import json
from typing import Any

import pytest

from flyball.agents.open_hands import is_open_hands, open_hands_end, open_hands_steps
from flyball.errors import UsageError
from flyball.record.recording import judge_recording

Event = dict[str, Any]


def old(id: int, action: str, reply: str = "", **args: Any) -> Event:
    made = {"id": id, "source": "agent", "action": action, "args": {"thought": f"t{id}", **args}}
    if reply:
        made["tool_call_metadata"] = {"model_response": {"id": reply}}
    return made


def answer(cause: int, content: str, **extras: Any) -> Event:
    return {
        "id": cause + 100,
        "source": "agent",
        "observation": "run",
        "cause": cause,
        "content": content,
        "extras": extras,
    }


OLD: list[Event] = [
    {"id": 0, "source": "user", "action": "message", "args": {"content": "mend it"}},
    old(1, "read", path="/a.py"),
    answer(1, "x = 1"),
    old(2, "edit", command="str_replace", path="/a.py", old_str="1", new_str="2"),
    answer(2, "The file /a.py has been edited."),
    old(3, "run", command="pytest -q"),
    answer(3, "1 failed", metadata={"exit_code": 1}),
    old(4, "run_ipython", code="print(1)"),
    answer(4, "1"),
    old(5, "write", path="/b.py", content="y"),
    answer(5, "ok"),
    old(6, "think"),
    old(7, "finish"),
]


def test_the_older_format_is_read() -> None:
    assert is_open_hands(OLD)
    steps = open_hands_steps(OLD)
    assert [step.kind for step in steps] == ["read", "mutate", "verify", "verify", "mutate"]
    assert [step.ok for step in steps] == [True, True, False, True, True]
    assert [bool(step.error) for step in steps] == [False, False, True, False, False]


def test_pairs_of_an_instance_are_read() -> None:
    pairs = [
        [{"source": "agent", "action": "run", "args": {"command": "ls"}}, answer(0, "a.py")],
        [
            {"source": "agent", "action": "run", "args": {"command": "make"}},
            answer(0, "", exit_code=2),
        ],
        [{"source": "agent", "action": "run", "args": {"command": "ls"}}],
    ]
    document = {"instance_id": "a", "history": pairs}
    assert is_open_hands(document)
    assert [step.ok for step in open_hands_steps(document)] == [True, False, True]


def test_calls_of_one_reply_are_one_step() -> None:
    events = [old(n, "run", reply=f"r{n // 2}", command=f"ls {n}") for n in range(4)]
    assert [step.reply for step in open_hands_steps(events)] == [1, 1, 2, 2]
    assert [step.reply for step in open_hands_steps(OLD)] == [0] * 5


def test_what_was_thought_meanwhile_makes_no_other_call() -> None:
    events = [old(n, "run", command="ls") for n in range(2)]
    first, second = open_hands_steps(events)
    assert first.call == second.call


def new(id: str, tool: str, reply: str, **action: Any) -> Event:
    return {
        "kind": "ActionEvent",
        "id": id,
        "source": "agent",
        "tool_name": tool,
        "tool_call_id": f"c{id}",
        "llm_response_id": reply,
        "action": {"kind": "SomeAction", **action},
    }


def seen(id: str, text: str, **more: Any) -> Event:
    observation = {"content": [{"type": "text", "text": text}], **more}
    return {"kind": "ObservationEvent", "tool_call_id": f"c{id}", "observation": observation}


NEW: list[Event] = [
    {"kind": "MessageEvent", "source": "user", "llm_message": {"content": "mend it"}},
    new("1", "terminal", "r1", command="pytest -q"),
    new("2", "file_editor", "r1", command="view", path="/a.py"),
    seen("1", "1 failed", exit_code=1),
    seen("2", "x = 1"),
    new("3", "file_editor", "r2", command="str_replace", path="/a.py", old_str="1", new_str="2"),
    {"kind": "AgentErrorEvent", "tool_call_id": "c3", "error": "No replacement was performed"},
    {
        "kind": "ActionEvent",
        "id": "4",
        "tool_name": "execute_bash",
        "tool_call": {"arguments": '{"command": "ls", "security_risk": "LOW"}'},
    },
    {"kind": "ObservationEvent", "action_id": "4", "observation": {"output": "a.py"}},
    new("5", "finish", "r4"),
]


def test_the_newer_format_is_read() -> None:
    assert is_open_hands(NEW)
    steps = open_hands_steps({"events": NEW})
    assert [step.kind for step in steps] == ["verify", "read", "mutate", "read"]
    assert [step.ok for step in steps] == [False, True, False, True]
    assert [step.reply for step in steps] == [1, 1, 2, 0]
    assert steps[0].error


def test_other_recordings_are_not_taken_for_it() -> None:
    assert not is_open_hands({"trajectory": [{"action": "ls", "observation": "a"}]})
    assert not is_open_hands({"history": [{"role": "assistant", "content": "x"}]})
    assert not is_open_hands("text")
    assert not is_open_hands([3])


def test_a_recording_in_which_nothing_was_asked_for_is_refused() -> None:
    with pytest.raises(UsageError, match="no recognisable call"):
        open_hands_steps([old(1, "think")])


def test_a_recording_is_judged_as_what_it_is() -> None:
    loop = [old(n, "run", command="ls") for n in range(6)]
    judged = judge_recording(json.dumps(loop).encode())
    assert (judged.steps, judged.stopped_at) == (6, 5)


def test_what_was_said_when_the_work_was_handed_in():
    new = {"kind": "ActionEvent", "tool_name": "finish", "action": {"message": "All done."}}
    assert open_hands_end([new]) == "All done."
    assert open_hands_end([{"action": "finish", "args": {"thought": "Well."}}]) == "Well."
    assert open_hands_end([{"action": "run", "args": {}}]) is None
