"""What is written can be read back as it was, for every event, effect, state and line."""

from __future__ import annotations

import msgspec
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tests.property.shapes import values

from flyball.run import codec
from flyball.run.effect import EFFECTS, AnyEffect, Effect
from flyball.run.event import EVENTS, AnyEvent, DriverFailed, Event, name_of
from flyball.run.state import CardState, RunState
from flyball.run.thread import ThreadLine

quick = settings(
    max_examples=40,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.filter_too_much],
)


@pytest.mark.parametrize("kind", EVENTS, ids=name_of)
def test_every_event_comes_back_as_it_was(kind: type[Event]) -> None:
    @quick
    @given(values(kind))
    def check(event: AnyEvent) -> None:
        assert codec.decode_event(codec.encode(event)) == event

    check()


@pytest.mark.parametrize("kind", EFFECTS, ids=lambda kind: str(kind.__struct_config__.tag))
def test_every_effect_comes_back_as_it_was(kind: type[Effect]) -> None:
    @quick
    @given(values(kind))
    def check(effect: AnyEffect) -> None:
        body = msgspec.json.encode(effect)
        assert msgspec.json.decode(body, type=AnyEffect) == effect

    check()


@quick
@given(values(RunState))
def test_a_state_comes_back_as_it_was(state: RunState) -> None:
    assert codec.decode_state(codec.encode(state), codec.VERSION) == state


@quick
@given(values(CardState))
def test_a_card_comes_back_as_it_was(card: CardState) -> None:
    state = RunState(run="r", cards=(card,))
    assert codec.decode_state(codec.encode(state), codec.VERSION) == state


@quick
@given(values(ThreadLine))
def test_a_line_comes_back_as_it_was(line: ThreadLine) -> None:
    assert codec.decode_lines([codec.encode(line)]) == [line]


@pytest.mark.slow
@quick
@given(st.text(), st.binary())
def test_whatever_a_program_printed_can_be_stored(text: str, raw: bytes) -> None:
    said = text + raw.decode("utf-8", "surrogateescape")
    event = codec.storable(DriverFailed(card="c", error=said))
    assert codec.decode_event(codec.encode(event)) == event
    if not any("\ud800" <= each <= "\udfff" for each in said):
        assert event == DriverFailed(card="c", error=said)
