"""Recorded runs, ours and SWE-agent's, and everything that is neither."""

from __future__ import annotations

import json
from pathlib import Path

import msgspec
import pytest

from flyball.errors import UsageError
from flyball.guards.guard import GuardLimits
from flyball.record.recording import GuardReport, judge_recording
from flyball.run.codec import VERSION
from flyball.run.effect import (
    AnyEffect,
    Classify,
    CloseCard,
    OpenWorkspace,
    Perform,
    Publish,
    ResetThread,
    Think,
)
from flyball.run.event import (
    Answered,
    AnyEvent,
    CallReturned,
    CardClosed,
    DriverReplied,
    Finish,
    IntentRead,
    Messaged,
    RunStarted,
    ThreadReset,
    WorkspaceReady,
)
from flyball.run.machine import advance
from flyball.run.state import RunState
from flyball.terms.call import Access, Call, Outcome
from flyball.terms.intent import Intent


class Story:
    """Plays a run in which the driver makes the given reads, one per reply."""

    def __init__(self, reads: list[tuple[str, str]]) -> None:
        self.reads = list(reads)
        self.state = RunState()
        self.events: list[AnyEvent] = []
        self.put(RunStarted(run="r1", request="why is the page blank?"))

    def put(self, event: AnyEvent) -> None:
        self.state = advance(self.state, event).state
        self.events.append(event)

    def play(self) -> Story:
        while self.state.owed:
            owed = self.state.owed[0]
            self.put(msgspec.structs.replace(self.answer(owed.effect), effect=owed.n))
        return self

    def answer(self, effect: AnyEffect) -> AnyEvent:
        match effect:
            case Classify():
                return IntentRead(intent=Intent.AUTONOMOUS, budget=150)
            case OpenWorkspace():
                return WorkspaceReady(tree="t0")
            case Publish():
                return Messaged(message=effect.message)
            case Think():
                return self.reply(effect.card)
            case Perform():
                text = effect.call.args["seen"]
                outcome = Outcome(ok=True, text=str(text), digest=str(text))
                return CallReturned(
                    card=effect.card, call=effect.call.id, outcome=outcome, tree="t0"
                )
            case ResetThread():
                return ThreadReset(card=effect.card, reason=effect.reason, text="go on")
            case CloseCard():
                return CardClosed(card=effect.card)
            case _:
                raise AssertionError(effect)

    def reply(self, card: str) -> AnyEvent:
        if not self.reads:
            return DriverReplied(card=card, text="That is all.")
        what, seen = self.reads.pop(0)
        call = Call(
            id=f"c{len(self.events)}",
            tool="read",
            args={"path": what, "seen": seen},
            access=Access.READ,
            digest=what,
        )
        return DriverReplied(card=card, calls=(call,), finish=Finish.TOOL_CALLS)


def exported(events: list[AnyEvent]) -> bytes:
    lines = [{"flyball": "journal", "version": VERSION, "run": "r1"}]
    lines += [{"seq": n, "event": msgspec.to_builtins(e)} for n, e in enumerate(events, 1)]
    return "\n".join(map(json.dumps, lines)).encode() + b"\n"


def brief(judged: GuardReport) -> list[tuple[int, str, str]]:
    return [(trip.step, trip.guard, trip.level.value) for trip in judged.trips]


def test_our_own_journal_says_what_its_guards_said():
    story = Story([("a.py", "x")] * 5).play()
    judged = judge_recording(exported(story.events))
    assert judged.steps == 5
    assert brief(judged) == [(3, "repetition", "soft"), (5, "repetition", "hard")]
    assert judged.stopped_at == 5


def test_a_journal_goes_on_after_a_person_let_it():
    story = Story([*[("a.py", "x")] * 5, ("b.py", "y")]).play()
    question = story.state.cards[0].question
    assert question is not None
    story.put(Answered(question=question.id, granted=True, by="ann"))
    story.play()
    judged = judge_recording(exported(story.events))
    assert judged.steps == 6
    assert judged.stopped_at == 5


def test_a_journal_that_polls_is_never_stopped():
    story = Story([("build.log", str(n)) for n in range(60)]).play()
    judged = judge_recording(exported(story.events))
    assert judged == GuardReport(60)


def traj(*steps: tuple[str, str]) -> bytes:
    entries = [{"action": action, "observation": seen} for action, seen in steps]
    return json.dumps({"trajectory": entries}).encode()


def test_five_equal_steps_are_stopped_and_told_once_per_level():
    judged = judge_recording(traj(*[("ls", "a b")] * 9))
    assert judged.steps == 9
    assert brief(judged) == [(3, "repetition", "soft"), (5, "repetition", "hard")]
    assert judged.stopped_at == 5


def test_a_second_episode_is_reported_again():
    judged = judge_recording(traj(*[("ls", "a")] * 5, ("make", "ok"), *[("ls", "a")] * 5))
    hard = [trip.step for trip in judged.trips if trip.level.value == "hard"]
    assert hard == [5, 11]
    assert judged.stopped_at == 5


def test_other_limits_can_be_tried():
    judged = judge_recording(traj(*[("ls", "a")] * 3), GuardLimits(repetition_hard=2))
    assert judged.stopped_at == 2


def test_a_byte_order_mark_and_blank_lines_do_no_harm():
    assert judge_recording(b"\xef\xbb\xbf\n" + traj(("ls", "a"))).steps == 1
    assert judge_recording(exported(Story([]).play().events) + b"\n\n").steps == 0


GARBAGE = [
    (b"\x00\xff\xfe", "not a text file"),
    (b"", "empty"),
    (b" \n", "empty"),
    (b'{"trajectory": [{"action": "l', "not JSON"),
    (b"hello", "not JSON"),
    (b"{}", "none of"),
    (b'{"info": {}}', "none of"),
    (b"3", "not a list"),
    (b'"text"', "not a list"),
    (b"null", "not a list"),
    (b'{"trajectory": 3}', "not a list"),
    (b'{"trajectory": {"a": 1}}', "not a list"),
    (b'{"history": "x"}', "not a list"),
    (b"[1, 2]", "entry 1"),
    (b'{"trajectory": [{}, null]}', "entry 2"),
    (b'{"a":' + b"[" * 100_000, "too large or"),
    (b"[" * 100_000, "too large or"),
    (b'{"x": ' + b"9" * 10_000 + b"}", "too large or"),
    (b'{"flyball": "journal", "version": 99}\n', "version 99"),
    (b'{"flyball": "journal", "version": 1}\n{"seq": 1}\n', "line 2"),
    (b'{"flyball": "journal", "version": 1}\n{"seq": 1, "event": {"type": "x"}}', "line 2"),
    (b'{"flyball": "journal", "version": 1}\n\nnonsense', "line 3"),
    (
        b"""{"flyball": "journal", "version": 1}
        {"seq": 1, "event": {"type": "cancelled", "by": "me"}}""",
        "line 2 does not follow",
    ),
]


@pytest.mark.parametrize(("data", "said"), GARBAGE)
def test_garbage_is_named_in_a_sentence(data: bytes, said: str):
    with pytest.raises(UsageError) as caught:
        judge_recording(data)
    assert said in caught.value.message
    assert caught.value.hint


STORED = Path(__file__).parents[2] / "golden" / "stored" / "v2" / "guard.jsonl"


def test_a_journal_is_judged_by_its_own_limits_unless_others_are_meant_for_it() -> None:
    data = STORED.read_bytes()
    assert judge_recording(data).stopped_at == 5
    strict = GuardLimits(repetition_hard=4)
    assert judge_recording(data, strict).stopped_at == 5
    assert judge_recording(data, strict, for_journals=True).stopped_at == 4
