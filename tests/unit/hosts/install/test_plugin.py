"""The opencode plugin, loaded by Node and driven by somebody who plays opencode."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from tests.simulation.node import node

from flyball.hosts.install import plugin

HOST = Path(__file__).with_name("opencode_host.mjs")
HOOK = f"""#!{sys.executable} -ISB
import json, sys, pathlib
here = pathlib.Path(__file__).parent
payload = json.load(sys.stdin)
with (here / "asked.jsonl").open("a") as log:
    log.write(json.dumps([sys.argv[1:], payload]) + "\\n")
answers = json.loads((here / "answers.json").read_text())
code, text, *told = answers.get(payload["hook_event_name"], [0, ""])
sys.stderr.write(text)
sys.stdout.write(json.dumps(told[0]) if told else "")
sys.exit(code)
"""
WRITE = [
    "tool.execute.before",
    {"tool": "write", "sessionID": "ses_root", "callID": "call_1"},
    {"args": {"filePath": "/p/a.txt", "content": "x"}},
]
READ = [
    "tool.execute.before",
    {"tool": "read", "sessionID": "ses_root", "callID": "call_2"},
    {"args": {"filePath": "/p/a.txt"}},
]
IDLE = ["event", {"event": {"type": "session.idle", "properties": {"sessionID": "ses_root"}}}]


def message(session: str, text: str) -> list[Any]:
    parts = [{"type": "text", "text": text}, {"type": "text", "text": "hint", "synthetic": True}]
    return ["chat.message", {"sessionID": session}, {"message": {}, "parts": parts}]


class Opencode:
    """A directory with a hook that answers as told, and the plugin that asks it."""

    def __init__(self, base: Path) -> None:
        self.base = base
        self.hook = base / "flyball-hook"
        self.hook.write_text(HOOK)
        self.hook.chmod(0o755)
        self.answer()

    def answer(self, **answers: tuple[int, str] | tuple[int, str, object]) -> None:
        (self.base / "answers.json").write_text(json.dumps(answers))

    def play(self, *steps: list[Any], hook: Path | None = None, level: str = "") -> dict[str, Any]:
        # As .mjs, because not every Node takes a bare .js for a module; opencode does.
        module = self.base / "flyball.mjs"
        module.write_text(plugin.rendered(str(hook or self.hook), level))
        done = subprocess.run(
            [node(), str(HOST), str(module), str(self.base)],
            input=json.dumps(steps),
            capture_output=True,
            text=True,
            timeout=600,
        )
        assert done.returncode == 0, done.stderr
        return json.loads(done.stdout)

    def asked(self, *flags: str) -> list[dict[str, Any]]:
        path = self.base / "asked.jsonl"
        rows = [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []
        assert all(words == ["opencode", *flags] for words, _ in rows)
        return [payload for _, payload in rows]


@pytest.fixture
def opencode(tmp_path: Path) -> Opencode:
    return Opencode(tmp_path)


def test_a_plugin_exports_one_function_and_asks_before_a_tool(opencode: Opencode):
    done = opencode.play(WRITE)

    assert done["exports"] == ["Flyball"], "opencode calls everything that a plugin exports"
    assert done["results"] == [{"output": WRITE[2]}]
    assert opencode.asked() == [
        {
            "hook_event_name": "PreToolUse",
            "session_id": "ses_root",
            "cwd": str(opencode.base),
            "tool_name": "write",
            "tool_input": WRITE[2]["args"],
            "tool_use_id": "call_1",
        }
    ]


def test_a_no_is_thrown_with_its_reason(opencode: Opencode):
    opencode.answer(PreToolUse=(2, "State a checkpoint first.\n"))

    assert opencode.play(WRITE)["results"] == [{"thrown": "State a checkpoint first."}]


def test_tool_result_is_reported_with_a_message_to_the_model(opencode: Opencode):
    opencode.answer(PostToolUse=(2, "The same call failed three times."))
    about = {"tool": "bash", "sessionID": "ses_root", "callID": "c", "args": {"command": "x"}}
    own = {"title": "x", "metadata": {"exit": 3}, "output": "oops\n"}
    mcp = {"content": [{"type": "text", "text": "wrote"}]}
    done = opencode.play(["tool.execute.after", about, own], ["tool.execute.after", about, mcp])

    first, second = (result["output"] for result in done["results"])
    assert first["output"] == "oops\n\n\nThe same call failed three times."
    assert second["content"][1]["text"] == "The same call failed three times."
    asked = opencode.asked()[0]
    assert asked["hook_event_name"] == "PostToolUse"
    assert asked["tool_response"] == own
    assert asked["tool_input"] == {"command": "x"}


def test_prompt_is_reported_without_opencode_additions(opencode: Opencode):
    opencode.answer(UserPromptSubmit=(2, "The week's budget is spent."))
    done = opencode.play(message("ses_root", "fix it"))

    assert done["results"] == [{"thrown": "The week's budget is spent."}]
    assert opencode.asked()[0]["prompt"] == "fix it"


def test_a_stop_that_is_held_becomes_a_prompt_which_is_not_the_person(opencode: Opencode):
    opencode.answer(Stop=(2, "The tests do not pass yet."))
    done = opencode.play(IDLE, message("ses_root", "The tests do not pass yet."), IDLE)

    prompt = {"path": {"id": "ses_root"}}
    body = {"parts": [{"type": "text", "text": "The tests do not pass yet."}]}
    assert done["calls"] == [["promptAsync", {**prompt, "body": body}]] * 2
    asked = [(each["hook_event_name"], each["stop_hook_active"]) for each in opencode.asked()]
    assert asked == [("Stop", False), ("Stop", True)]


def words(event: str, text: str, notice: str = "") -> tuple[int, str, object]:
    own = {"hookEventName": event, "additionalContext": text}
    return 0, "", {"hookSpecificOutput": own, "systemMessage": notice}


def test_message_with_an_approval_reaches_model_and_person(opencode: Opencode):
    opencode.answer(
        SessionStart=words("SessionStart", "Flyball governs this."),
        UserPromptSubmit=words("UserPromptSubmit", "15 calls left."),
        PostToolUse=words("PostToolUse", "Three times the same.", "Look at run 7."),
    )
    created = {"type": "session.created", "properties": {"info": {"id": "ses_root"}}}
    about = {"tool": "bash", "sessionID": "ses_root", "callID": "c", "args": {}}
    done = opencode.play(
        ["event", {"event": created}],
        message("ses_root", "fix it"),
        ["tool.execute.after", about, {"output": "ok"}],
    )

    _, prompt, tool = (result["output"] for result in done["results"])
    said = "\n\n".join(part["text"] for part in prompt["parts"])
    assert said == "fix it\n\nhint\n\nFlyball governs this.\n\n15 calls left."
    assert tool["output"] == "ok\n\nThree times the same."
    assert [call[1]["body"]["message"] for call in done["calls"]] == ["Look at run 7."]


def test_allowed_stop_sends_nothing(opencode: Opencode):
    assert opencode.play(IDLE)["calls"] == []


def test_subagents_are_reported_under_the_first_session(opencode: Opencode):
    child = {"type": "session.idle", "properties": {"sessionID": "ses_grandchild"}}
    created = {"type": "session.created", "properties": {"info": {"id": "ses_new"}}}
    deleted = {"type": "session.deleted", "properties": {"info": {"id": "ses_new"}}}
    write = [WRITE[0], {**WRITE[1], "sessionID": "ses_child"}, WRITE[2]]
    opencode.play(
        message("ses_child", "look"),
        write,
        *(["event", {"event": e}] for e in (child, created, deleted)),
    )

    seen = [(e["hook_event_name"], e["session_id"], e.get("agent_id")) for e in opencode.asked()]
    assert seen == [
        ("SubagentStart", "ses_root", "ses_child"),
        ("PreToolUse", "ses_root", "ses_child"),
        ("SubagentStop", "ses_root", "ses_grandchild"),
        ("SessionStart", "ses_new", None),
        ("SessionEnd", "ses_new", None),
    ]


@pytest.mark.parametrize("fault", ["not there", "crashed", "killed"])
def test_writes_are_refused_without_a_governor(opencode: Opencode, fault: str):
    other = [WRITE[0], {**WRITE[1], "tool": "lab_put_file"}, WRITE[2]]
    if fault == "not there":
        opencode.hook.unlink()
    elif fault == "crashed":
        opencode.answer(PreToolUse=(1, "Traceback"))
    else:
        opencode.hook.write_text("#!/bin/sh\nkill -9 $$\n")
    done = opencode.play(WRITE, other, READ)

    write, unknown, read = done["results"]
    assert write["thrown"].startswith("flyball could not be asked, so write is refused: ")
    assert unknown["thrown"].startswith("flyball could not be asked, so lab_put_file is refused: ")
    assert read == {"output": READ[2]}
    assert [name for name, _ in done["calls"]] == ["log"] * 3


def test_answer_of_a_hook_that_reads_nothing_counts(opencode: Opencode):
    opencode.hook.write_text("#!/bin/sh\necho No. >&2\nexit 2\n")
    big = [WRITE[0], WRITE[1], {"args": {"content": "x" * 5_000_000}}]

    assert opencode.play(big)["results"] == [{"thrown": "No."}]


def test_the_path_of_the_hook_is_written_as_a_string():
    text = plugin.rendered('/odd "place"\\x/flyball-hook')

    assert 'const HOOK = "/odd \\"place\\"\\\\x/flyball-hook"\n' in text
    assert "@HOOK@" not in text
    assert plugin.is_plugin(text)
    assert not plugin.is_plugin("export const Other = 1\n")


def test_observing_plugin_refuses_nothing_without_a_governor(opencode: Opencode):
    opencode.answer(PreToolUse=(2, "No."))
    done = opencode.play(WRITE, level="observe")
    assert done["results"] == [{"output": WRITE[2]}]
    assert opencode.asked("observe")
    done = opencode.play(WRITE, hook=opencode.base / "nowhere", level="observe")
    assert done["results"] == [{"output": WRITE[2]}]
