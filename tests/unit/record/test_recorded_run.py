"""A recording as a run: what it tells, what its cards tell, what it cost."""

from __future__ import annotations

from pathlib import Path
from random import Random

import pytest
from tests.unit.run.stories import Story

from flyball.app.archive import read_export
from flyball.errors import UsageError
from flyball.plan.message import Status
from flyball.record.card_account import CardAccount, account_of
from flyball.record.costs import NOBODY, CostRow, CostTally, costs, is_spent
from flyball.record.recorded_run import NOT_SAID, recorded_run
from flyball.record.rejudging import rejudge
from flyball.run.event import AnyEvent, CallReturned, DriverReplied, Resumed, RunStarted
from flyball.run.machine import replay
from flyball.run.policy import Policy
from flyball.run.state import Ending
from flyball.terms.budget import Usage
from flyball.terms.call import Outcome
from flyball.terms.evidence import AnyEvidence, HttpReport, VisualReport

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


def test_a_recording_is_reported_from_request_to_last_words():
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


def test_calls_are_counted_by_tool_and_refusals_apart():
    story = Story().asks("read").returns().asks("edit_diff").checkpoints().asks("read", "grep")
    account = account_of(story.events, "step-1")
    assert account.calls == {"read": 2, "checkpoint": 1, "grep": 1}
    assert account.refused == 1
    assert account_of(story.events, "step-9") == CardAccount()


STORED = Path(__file__).parents[2] / "golden" / "stored" / "v2"


def rows(name: str) -> tuple[CostRow, ...]:
    return costs(read_export((STORED / f"{name}.jsonl").read_bytes()))


def test_every_turn_and_call_has_its_card_phase_and_role() -> None:
    found = rows("planned")
    seen = {(row.card, row.phase, row.role) for row in found if row.turns}
    assert ("plan.1", "recon", "planner") in seen
    assert ("one", "execute", "executor") in seen
    assert ("one", "verify", "reviewer") in seen
    assert ("verify.1", "recon", "verifier") in seen


def test_the_last_row_is_all_of_it() -> None:
    *parts, whole = rows("fix")
    assert (whole.card, whole.phase) == ("all", "")
    for name in ("turns", "calls", "blocked", "input_tokens", "own_seconds"):
        assert getattr(whole, name) == sum(getattr(row, name) for row in parts)
    assert whole.turns > 3
    assert whole.blocked > 0
    assert whole.own_seconds > 0


def test_what_no_card_did_has_no_author() -> None:
    first = rows("fix")[0]
    assert (first.card, first.turns) == (NOBODY, 0)


def test_a_log_without_events_costs_nothing() -> None:
    assert costs(()) == ()
    assert not is_spent(CostRow(card="a", phase="recon"))


def seen(n: int, **more: object) -> VisualReport:
    fields = {"url": "u", "expectation": "a hat", "ok": True, **more}
    return VisualReport(id=str(n), tree="t0", **fields)  # type: ignore[arg-type]


def test_a_model_that_saw_a_picture_is_a_reply_of_its_card_and_counts_in_the_budget() -> None:
    story = Story().asks("visual_qa")
    before = story.state
    found: tuple[AnyEvidence, ...] = (
        seen(1, judged_by="m", usage=Usage(900, 10, 0.5, 100)),
        seen(2),
        HttpReport(id="3", tree="t0", url="u", status=200),
    )
    id = story.card.in_flight[0].id
    event = CallReturned(
        card=story.card.id, call=id, outcome=Outcome(ok=True), tree="t0", evidence=found
    )
    story.answers(event)
    spend = story.state.spend
    assert (spend.input_tokens, spend.output_tokens, spend.money) == (900, 10, 0.5)
    tally = CostTally()
    tally.add(before, event, story.state)
    whole = tally.rows()[-1]
    assert (whole.turns, whole.input_tokens, whole.cached_tokens) == (1, 900, 100)
    assert (whole.output_tokens, whole.money) == (10, 0.5)
