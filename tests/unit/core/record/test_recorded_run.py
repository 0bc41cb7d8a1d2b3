"""A recording as a run: everything in it is told, and nothing of it is believed."""

from __future__ import annotations

from random import Random

import pytest

from flyball.core.machine.machine import replay
from flyball.core.plan.message import Status
from flyball.core.record.recorded_run import NOT_SAID, recorded_run
from flyball.core.record.rejudging import rejudge
from flyball.core.run.event import AnyEvent, CallReturned, DriverReplied, Resumed, RunStarted
from flyball.core.run.policy import Policy
from flyball.core.run.state import Ending
from flyball.errors import UsageError

EDIT = 'str_replace_editor str_replace {"path": "/testbed/a.py", "old_str": "x", "new_str": "y"}'


def step(action: str, seen: str = "ok", thought: str = "") -> dict[str, object]:
    return {"action": action, "observation": seen, "thought": thought, "response": "words"}


def recording(*steps: dict[str, object], how: str | None = "submitted") -> dict[str, object]:
    """A file of SWE-agent 1.x."""
    return {
        "trajectory": list(steps),
        "history": [
            {"role": "system", "content": "You are an agent."},
            {"role": "user", "content": "a demonstration", "is_demo": True},
            {"role": "user", "content": [{"type": "text", "text": "Mend the total."}]},
        ],
        "info": {"exit_status": how, "submission": "diff --git"},
    }


WHOLE = recording(
    step("ls", "a.py", "First a look."),
    step(EDIT, "The file /testbed/a.py has been edited.", "I mend it."),
    step("", "You made no call.", "Hm."),
    step("python -m pytest", "3 passed"),
    step("sed -i s/a/b/ b.py", ""),
    step("submit", "diff --git", "It works."),
)


def told(document: object) -> list[AnyEvent]:
    return [*recorded_run(document, "recorded-1", lambda text: text.replace("hunter2", "***"))]


def outcomes(events: list[AnyEvent]) -> list[CallReturned]:
    return [event for event in events if isinstance(event, CallReturned)]


def test_a_recording_is_told_from_request_to_last_words():
    events = told(WHOLE)
    state = replay(events)
    assert state.request == "Mend the total."
    said = [event.text for event in events if isinstance(event, DriverReplied)]
    assert said == ["First a look.", "I mend it.", "", "Hm.", "", "It works."]
    assert [event.outcome.text for event in outcomes(events)] == [
        "a.py", "The file /testbed/a.py has been edited.", "3 passed", "",
    ]  # fmt: skip
    assert state.cards[0].answer == "It works." and state.cards[0].changed == ("/testbed/a.py",)


def test_nothing_in_it_is_evidence_and_it_never_succeeded():
    state = replay(told(WHOLE))
    assert state.response is not None and state.response.status is Status.CANCELLED
    (card,) = state.cards
    assert card.ending is Ending.CANCELLED and card.evidence == ()
    assert (card.has_changed, card.label) == (True, "unverified")
    assert "submitted" in card.ending_reason and "verified" in card.ending_reason


def test_a_write_before_a_checkpoint_is_refused_and_told_all_the_same():
    found = rejudge(told(WHOLE), Policy())
    assert [(call.now.call, call.now.answer) for call in found.calls] == [
        ("1", "allow"), ("2", "deny"), ("2-made", "allow"), ("4", "allow"), ("5", "allow"),
    ]  # fmt: skip
    assert found.differences == ()


def test_a_guard_that_would_have_stopped_it_did_not():
    events = told(recording(*[step("cat a.py", "same")] * 9, how=None))
    assert len(outcomes(events)) == 9
    assert any(isinstance(event, Resumed) for event in events)
    state = replay(events)
    assert "The recording ends. Nobody" in state.cards[0].ending_reason


def test_what_a_person_keeps_secret_is_not_kept_and_long_outcomes_are_cut():
    events = told(recording(step("cat key", "hunter2"), step("cat long", "x" * 9_000)))
    secret, long = outcomes(events)
    assert secret.outcome.text == "***"
    assert (len(long.outcome.text), long.outcome.cut) == (8_000, 1_000)


@pytest.mark.parametrize("document", [[step("ls")], {"trajectory": [step("ls")]}])
def test_a_recording_without_messages_does_not_say_what_was_asked(document: object):
    started = told(document)[0]
    assert isinstance(started, RunStarted) and started.request == NOT_SAID


def test_messages_alone_are_a_recording_too():
    talk = [
        {"role": "user", "content": "Mend it."},
        {"role": "assistant", "content": "```\nls\n```"},
        {"role": "user", "content": "a.py"},
    ]
    events = told({"messages": talk})
    assert replay(events).request == "Mend it." and outcomes(events)[0].outcome.text == "a.py"


def test_what_is_no_recording_is_said():
    with pytest.raises(UsageError, match="none of"):
        told({"a": 1})


ACTIONS = ("ls", "cat a.py", EDIT, "python t.py", "sed -i s/a/b/ a.py", "rm a.py", "unheard-of", "")
SEEN = ("ok", "Traceback (most recent call last)\nE", "No replacement was performed", "")


@pytest.mark.parametrize("seed", range(25))
def test_every_call_of_any_recording_comes_back_once(seed: int):
    rng = Random(seed)
    steps = [step(rng.choice(ACTIONS), rng.choice(SEEN), "so") for _ in range(rng.randint(1, 60))]
    events = told(recording(step("ls"), *steps))
    made = [str(n) for n, each in enumerate([step("ls"), *steps], 1) if each["action"]]
    assert [event.call.removesuffix("-made") for event in outcomes(events)] == made
    state = replay(events)
    assert state.response is not None and state.response.status is Status.CANCELLED
