"""What a person is asked in an editor, and which question their choice answers."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.governed import FIX

from flyball.acp.turn import options, to_choose, tool_call, word
from flyball.acp.update import RunFiles
from flyball.app.answering import Pending
from flyball.app.project import open_home
from flyball.errors import Conflict
from flyball.plan.library import LIBRARY
from flyball.run.event import Answered
from flyball.run.state import Asking, CardState, Checkpoint, Question, RunState
from flyball.terms.call import Call, PathFact
from flyball.terms.phase import Phase

CALL = Call(id="c1", tool="edit_diff", args={"diff": FIX}, paths=(PathFact(path="cart.py"),))


def asking(question: Question, promise: Checkpoint | None = None) -> RunState:
    card = CardState(
        "step-1",
        LIBRARY["step"],
        "Mend it",
        "t0",
        "t0",
        phase=Phase.PAUSED,
        question=question,
        checkpoint=promise,
    )
    return RunState(run="r1", request="mend it", cards=(card,))


@pytest.fixture
def files(tmp_path: Path) -> RunFiles:
    return RunFiles(open_home(tmp_path, {"HOME": str(tmp_path)}, {}))


def chosen(state: RunState) -> Pending:
    found = to_choose(state)
    assert found is not None
    return found


def test_a_question_about_an_edit_shows_what_it_would_change(files: RunFiles):
    state = asking(Question("q1", Asking.CALL, "May it?", CALL))
    shown = tool_call("r1", chosen(state), files)
    assert shown.tool_call_id == "r1/step-1/c1" and shown.kind == "edit"
    assert shown.title == "edit_diff: May it?"
    (diff,) = shown.content or ()
    assert diff.type == "diff" and diff.path == files.path("cart.py")
    assert "result += price\n" in (diff.old_text or "")
    assert "result += price * quantity\n" in diff.new_text
    assert [each.path for each in shown.locations or ()] == [files.path("cart.py")]


def test_a_checkpoint_is_shown_whole(files: RunFiles):
    long = "because " * 100
    promise = Checkpoint("goal", long, "do it", ("cart.py",), ("test",))
    state = asking(Question("q1", Asking.CHECKPOINT, "Accept it?"), promise)
    (said,) = tool_call("r1", chosen(state), files).content or ()
    assert said.type == "content" and said.content.type == "text"
    assert long in said.content.text and "cart.py" in said.content.text


def test_what_words_answer_is_no_choice():
    assert to_choose(asking(Question("q1", Asking.DRIVER, "No key."))) is None
    assert to_choose(RunState()) is None


def test_yes_and_no_say_what_they_do_and_count_for_that_question_alone():
    state = asking(Question("q1", Asking.FAILURE, "Try again?"))
    yes, no = options(state)
    assert (yes.option_id, yes.kind, yes.name) == (
        "approve",
        "allow_once",
        "Approve: let it try again",
    )
    assert (no.option_id, no.kind, no.name) == ("deny", "reject_once", "Deny: let it fail")
    said = word(chosen(state), "approve", "ada")
    assert said(state) == Answered(question="q1", granted=True, by="ada")
    assert word(chosen(state), "whatever", "ada")(state) == Answered(
        question="q1", granted=False, by="ada"
    )
    with pytest.raises(Conflict, match="different question"):
        said(asking(Question("q2", Asking.FAILURE, "Try again?")))
