"""Promises of the guards over random stories."""

from __future__ import annotations

import msgspec
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from flyball.guards.guard import GUARDS, GuardLimits, TripLevel
from flyball.guards.guard_memory import GuardStep, Memory, remember, trips

LIMITS = GuardLimits()
KINDS = ("read", "mutate", "verify", "run", "checkpoint", "note", "refused", "monologue")
few = st.sampled_from(["", "a", "b", "c"])


SAID_ALONE = ("monologue",)
"""A reply that is one of these makes no calls beside it."""


@st.composite
def any_step(draw: st.DrawFn, without: tuple[str, ...] = ()) -> GuardStep:
    return GuardStep(
        call=draw(st.sampled_from(["x", "y", "z"])),
        outcome=draw(few),
        kind=draw(st.sampled_from([kind for kind in KINDS if kind not in without])),
        ok=draw(st.booleans()),
        tree=draw(few),
        error=draw(few),
        failing=draw(few),
    )


stories = st.lists(any_step(), max_size=60)

relaxed = settings(deadline=None)


def fold(story: list[GuardStep]) -> Memory:
    memory = Memory()
    for step in story:
        memory = remember(memory, step)
    return memory


@relaxed
@given(stories)
def test_each_guard_speaks_at_most_once_and_in_order(story: list[GuardStep]):
    memory = Memory()
    for step in story:
        memory = remember(memory, step)
        guards = [trip.guard for trip in trips(memory, LIMITS)]
        assert guards == sorted(set(guards), key=GUARDS.index)


@relaxed
@given(stories)
def test_the_memory_is_a_value_that_survives_storage(story: list[GuardStep]):
    memory = fold(story)
    stored = msgspec.json.decode(msgspec.json.encode(memory), type=Memory)
    assert stored == memory
    assert trips(stored, LIMITS) == trips(memory, LIMITS)


@relaxed
@given(stories, any_step())
def test_five_equal_steps_are_always_stopped(before: list[GuardStep], step: GuardStep):
    assume(step.kind != "monologue")
    memory = fold(before)
    levels = []
    for _ in range(5):
        memory = remember(memory, step)
        levels += [trip.level for trip in trips(memory, LIMITS)]
    assert TripLevel.HARD in levels


@relaxed
@given(st.lists(st.sampled_from(["read", "run", "verify"]), min_size=1, max_size=11), st.data())
def test_a_poll_whose_output_changes_is_never_stopped(kinds: list[str], data: st.DataObject):
    # Twelve different looks in a row are reading on, whatever they show.
    rounds = data.draw(st.integers(1, 60))
    memory = Memory()
    for n in range(rounds):
        for which, kind in enumerate(kinds):
            memory = remember(memory, GuardStep(f"poll {which}", f"{n}", kind))  # type: ignore[arg-type]
            assert trips(memory, LIMITS) == ()


@relaxed
@given(st.lists(st.text(min_size=1), unique=True, min_size=1, max_size=80), st.booleans())
def test_edits_of_many_files_are_never_stopped(files: list[str], has_trees: bool):
    memory = Memory()
    for number, file in enumerate(files):
        tree = f"tree {number}" if has_trees else ""
        if number % 5 == 4:
            memory = remember(memory, GuardStep("test", f"green {number}", "verify", tree=tree))
        memory = remember(memory, GuardStep(f"edit {file}", "applied", "mutate", tree=tree))
        assert trips(memory, LIMITS) == ()


@relaxed
@given(stories, st.lists(any_step(SAID_ALONE), min_size=1, max_size=40))
def test_no_single_reply_stops_a_run_that_was_not_near_it(
    before: list[GuardStep], asked: list[GuardStep]
):
    memory = fold(before)
    calm = Memory(trees=memory.trees)
    memory = calm
    for step in asked:
        memory = remember(memory, msgspec.structs.replace(step, reply=1))
        assert all(trip.level is TripLevel.SOFT for trip in trips(memory, LIMITS))


@relaxed
@given(st.lists(st.sampled_from(["note", "refused", "monologue"]), min_size=80, max_size=80))
def test_words_without_actions_come_to_an_end(kinds: list[str]):
    """Neither costs budget, so the guards alone must end such a run."""
    memory, stopped = Memory(), False
    for number, kind in enumerate(kinds):
        memory = remember(memory, GuardStep(f"call {number}", "", kind))  # type: ignore[arg-type]
        stopped = stopped or any(t.level is TripLevel.HARD for t in trips(memory, LIMITS))
    assert stopped


@relaxed
@given(st.lists(any_step(), min_size=1, max_size=30))
def test_the_memory_stays_small(story: list[GuardStep]):
    long = [msgspec.structs.replace(s, tree=f"{n:040x}") for n, s in enumerate(story * 20)]
    assert len(msgspec.json.encode(fold(long))) < 8_000
