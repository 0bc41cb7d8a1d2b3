"""What an editor is shown of each piece of telemetry."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from flyball.acp.update import EditorUpdates, RunFiles, kind_of, modes
from flyball.app.project import Home, open_home
from flyball.cli.acp import in_words
from flyball.engine.telemetry import Telemetry
from flyball.patch.result import Change, ChangeType

RUN = {"type": "run", "run": "r1", "request": "fix it", "driver": "scripted:x"}


@pytest.fixture
def home(tmp_path: Path) -> Home:
    return open_home(tmp_path, {"HOME": str(tmp_path)}, {})


@pytest.fixture
def story(home: Home) -> EditorUpdates:
    made = EditorUpdates(RunFiles(home), in_words())
    list(made.tell(RUN))
    return made


def told(story: EditorUpdates, **line: Any) -> list[dict[str, Any]]:
    found: Telemetry = line
    return [plain(each) for each in story.tell(found)]


def plain(update: Any) -> dict[str, Any]:
    return update.model_dump(exclude_none=True)


def card(status: str, **more: Any) -> Telemetry:
    return {"type": "card", "card": "step-1", "title": "Mend it", "status": status, **more}


def entries(update: dict[str, Any]) -> list[tuple[str, str]]:
    return [(each["content"], each["status"]) for each in update["entries"]]


def call(state: str, **more: Any) -> Telemetry:
    line = {"type": "call", "card": "step-1", "call": "c1", "state": state, "tool": "edit_diff"}
    back = {"ok": True, "elapsed": 0.1, "bytes": 4, "summary": "Changed 1 file."}
    return {**line, "about": "cart.py", **(back if state != "started" else {}), **more}


def test_cards_are_the_plan_and_their_status_is_its(story: EditorUpdates):
    (first,) = told(story, **card("doing"))
    assert entries(first) == [("Mend it", "in_progress")]
    (final,) = told(story, **card("review", ending="verified"))
    assert entries(final) == [("Mend it", "in_progress")]
    (done,) = told(story, **card("done", ending="verified"))
    assert entries(done) == [("Mend it", "completed")]


@pytest.mark.parametrize(
    ("status", "ending"),
    [("failed", "gave-up"), ("review", "unverified"), ("reverted", "verified")],
)
def test_a_card_that_did_not_come_out_well_says_so(story: EditorUpdates, status: str, ending: str):
    (update,) = told(story, **card(status, ending=ending))
    assert entries(update) == [(f"Mend it ({status})", "completed")]


def test_steps_of_a_plan_wait_until_their_cards_begin(story: EditorUpdates):
    steps = [{"id": "step-1", "title": "Mend it"}, {"id": "b", "title": "Tell it"}]
    (plan,) = told(story, type="plan", goal="all", steps=steps)
    assert entries(plan) == [("Mend it", "pending"), ("Tell it", "pending")]
    (begun,) = told(story, **card("doing"))
    assert entries(begun) == [("Mend it", "in_progress"), ("Tell it", "pending")]


def test_phases_are_modes_and_an_ended_one_is_none(story: EditorUpdates):
    known = {each.id for each in modes().available_modes}
    assert known == {"recon", "checkpoint", "execute", "verify", "final", "paused"}
    (update,) = told(story, type="phase", phase="execute", label="Making Changes", card="step-1")
    assert update["current_mode_id"] == "execute"
    assert told(story, type="phase", phase="succeeded", label="Succeeded", card="step-1") == []


def test_a_call_begins_and_comes_back_under_one_name(story: EditorUpdates, home: Home):
    (start,) = told(story, **call("started"))
    assert start["tool_call_id"] == "r1/step-1/c1" and start["status"] == "in_progress"
    assert (start["kind"], start["title"]) == ("edit", "edit_diff cart.py")
    assert start["locations"] == [{"path": str(home.repo / "cart.py")}]
    (end,) = told(story, **call("returned", ok=False))
    assert end["tool_call_id"] == "r1/step-1/c1" and end["status"] == "failed"
    assert end["content"][0]["content"]["text"] == "Changed 1 file."


def test_the_change_of_a_past_call_is_shown_place_by_place(story: EditorUpdates, home: Home):
    told(story, **call("started"))
    told(story, **call("returned"))
    before, after = b"a\nb\nc\n", b"a\nB\nc"
    diff = Change("cart.py", ChangeType.MODIFY, before, after).diff
    line = {"type": "patch", "card": "step-1", "event": "PATCH_DIFF_APPLIED"}
    (update,) = told(story, **line, patch={"diff": diff})
    (shown,) = update["content"]
    assert shown["path"] == str(home.repo / "cart.py")
    assert (shown["old_text"], shown["new_text"]) == ("a\nb\nc\n", "a\nB\nc")
    assert update["locations"][0]["line"] == 1
    assert told(story, **{**line, "event": "PATCH_DIFF_REFUSED"}, patch={"diff": diff}) == []


def test_a_refused_call_failed_with_the_reason(story: EditorUpdates):
    line = {"type": "decision", "card": "step-1", "call": "c1", "tool": "edit_diff"}
    (update,) = told(story, **line, decision="deny", code="out_of_phase", reason="Not yet.")
    assert update["status"] == "failed"
    assert update["content"][0]["content"]["text"] == "Not yet."
    assert told(story, **line, decision="allow", code="", reason="") == []


def test_what_was_heard_while_it_was_said_is_not_said_again(story: EditorUpdates):
    text = {"type": "text", "card": "step-1", "role": "executor", "text": "Done."}
    (heard,) = map(plain, story.hear("Done."))
    assert heard["content"]["text"] == "Done."
    assert [each["content"]["text"] for each in told(story, **text)] == ["\n\n"]
    told(story, type="usage", card="step-1", model="m", input_tokens=1, output_tokens=1, money=0.0)
    assert [each["content"]["text"] for each in told(story, **text)] == ["Done.\n\n"]


def test_of_several_at_once_only_whole_replies_are_reported_and_no_forms(story: EditorUpdates):
    told(story, type="iteration", iteration=1, limit=3, stage="planning", text="Planning…")
    assert list(story.hear("Do")) == []
    said = {"type": "text", "card": "plan.1", "text": '{"steps": []}'}
    assert told(story, **said, role="planner") == []
    assert told(story, **{**said, "text": "Done."}, role="executor") != []


def test_every_tool_has_a_kind_and_a_strange_one_too():
    kinds = {tool: kind_of(tool) for tool in ("read", "checkpoint", "write_file", "test")}
    assert kinds == {"read": "read", "checkpoint": "think", "write_file": "edit", "test": "execute"}
    assert kind_of("web_search") == "other"


def test_what_has_no_shape_of_its_own_is_reported_in_words(story: EditorUpdates):
    (thought,) = told(story, type="undone", card="step-1", paths=["x.py"])
    assert thought["session_update"] == "agent_thought_chunk"
    assert "x.py" in thought["content"]["text"]
    (message,) = told(story, type="error", code="driver", card="step-1", message="No key.")
    assert message["session_update"] == "agent_message_chunk"
