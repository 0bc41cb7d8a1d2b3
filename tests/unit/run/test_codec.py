"""Events refuse to be built wrong; what every release wrote, every later one reads."""

from __future__ import annotations

import msgspec
import pytest
from tests.unit.run.stories import stated

from flyball.errors import Corrupt, SchemaTooNew
from flyball.run.codec import VERSION, decode_event, decode_lines, decode_state, storable
from flyball.run.event import (
    EVENTS,
    AnyEvent,
    CallReturned,
    DriverFailed,
    DriverReplied,
    Extended,
    RunStarted,
    name_of,
)
from flyball.run.policy import Policy
from flyball.run.thread import Speaker, ThreadLine
from flyball.terms.call import Call, Outcome


def test_an_event_of_a_later_release_is_refused() -> None:
    body = msgspec.json.encode(DriverFailed(card="c", error="e"))
    with pytest.raises(SchemaTooNew, match="later release"):
        decode_event(body, VERSION + 1)


@pytest.mark.parametrize("version", range(1, VERSION + 1))
@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"{}",
        b"null",
        b'{"type": "driver-failed"}',
        b'{"type": "flew-away"}',
        b"\xff\xfe",
        b'{"type": "run-started", "policy": 5}',
    ],
)
def test_what_is_no_event_is_corrupt(body: bytes, version: int) -> None:
    with pytest.raises(Corrupt, match="stored event"):
        decode_event(body, version)


def test_an_event_with_an_empty_promise_is_corrupt() -> None:
    with pytest.raises(Corrupt, match="request"):
        decode_event(b'{"type": "run-started", "run": "r", "request": " "}')


def test_fields_of_an_older_release_take_their_defaults() -> None:
    event = decode_event(b'{"type": "run-started", "run": "r", "request": "do it"}')
    assert event == RunStarted(run="r", request="do it")


def test_a_run_from_before_there_were_plans_is_not_planned() -> None:
    event = decode_event(b'{"type": "run-started", "run": "r", "request": "do it"}', 1)
    policy = Policy(plan_big_requests=False, edition=2)
    assert event == RunStarted(run="r", request="do it", policy=policy)


def test_a_state_of_another_version_is_not_trusted() -> None:
    assert decode_state(b"{}", VERSION + 1) is None
    assert decode_state(b"not json", VERSION) is None


def test_what_can_be_stored_is_left_as_it_is() -> None:
    event = DriverFailed(card="c", error="naïve \u2028 \x00 text")
    assert storable(event) == event


def test_what_no_text_can_hold_is_made_visible_wherever_it_stands() -> None:
    outcome = Outcome(ok=True, data={"\udcff": ["\ud800", 1]})
    event = storable(CallReturned(card="c", call="c1", outcome=outcome, tree="t"))
    assert isinstance(event, CallReturned)
    assert event.outcome.data == {"\\xff": ["\\ud800", 1]}


def test_what_stands_in_a_list_of_calls_is_made_visible_too() -> None:
    call = Call("1", "read", args={"path": "a\udcff.py"}, digest="d")
    event = storable(DriverReplied(card="c", calls=(call,)))
    assert isinstance(event, DriverReplied)
    assert event.calls[0].args == {"path": "a\\xff.py"}
    assert msgspec.json.encode(event)


def test_the_lines_of_a_thread_come_back_in_order() -> None:
    lines = [
        ThreadLine("c", 1, "executor", speaker, text=f"line {n}")
        for n, speaker in enumerate((Speaker.DRIVER, Speaker.TOOL, Speaker.GOVERNOR))
    ]
    assert decode_lines(map(msgspec.json.encode, lines)) == lines


def test_a_line_that_cannot_be_read_is_said_to_be_damaged() -> None:
    with pytest.raises(Corrupt, match="line of a thread"):
        decode_lines([b"{}"])


def test_a_run_needs_a_name_and_a_request():
    with pytest.raises(ValueError, match="`request` is empty"):
        RunStarted(run="r", request="  ")


def test_a_checkpoint_needs_all_its_parts():
    with pytest.raises(ValueError, match="`goal` is empty"):
        msgspec.structs.replace(stated(), goal="")
    with pytest.raises(ValueError, match="`files` is empty"):
        msgspec.structs.replace(stated(), files=())


def test_an_extension_says_who_why_and_at_least_one():
    with pytest.raises(ValueError, match="at least 1"):
        Extended(by="ann", calls=0, why="more")
    with pytest.raises(ValueError, match="`why` is empty"):
        Extended(by="ann", calls=1, why="")


def test_names_are_kebab_case_and_unique():
    names = [name_of(kind) for kind in EVENTS]
    assert len(set(names)) == len(names)
    assert all(name == name.lower() and "_" not in name for name in names)


def test_an_event_of_no_known_kind_is_refused():
    with pytest.raises(msgspec.ValidationError, match="Invalid value"):
        msgspec.json.decode(b'{"type": "nonsense"}', type=AnyEvent)
