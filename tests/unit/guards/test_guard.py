"""Each guard trips where the table says, and not before; which outcomes are the same."""

from __future__ import annotations

import msgspec
import pytest
from msgspec.structs import replace

from flyball.guards.fingerprint import fingerprint, plain_error, without_volatile_parts
from flyball.guards.guard import GUARDS, GuardLimits, Trip, TripLevel, time_trip
from flyball.guards.guard_memory import GuardStep, Kind, Memory, remember, trips
from flyball.terms.call import digest

LIMITS = GuardLimits()


def told(steps: list[GuardStep], limits: GuardLimits = LIMITS) -> list[tuple[int, str, str]]:
    """Every trip of a story: the step, the guard and the level."""
    memory, found = Memory(), []
    for number, step in enumerate(steps, 1):
        memory = remember(memory, step)
        found += [(number, trip.guard, trip.level.value) for trip in trips(memory, limits)]
    return found


def step(call: str = "c", outcome: str = "o", kind: Kind = "run", **more: object) -> GuardStep:
    return GuardStep(call, outcome, kind, **more)  # type: ignore[arg-type]


def edit(name: str, *, ok: bool = True, tree: str = "") -> GuardStep:
    return GuardStep(f"edit {name}", "applied", "mutate", ok=ok, tree=tree)


def red(tree: str, failing: str = "f", error: str = "e", outcome: str = "red") -> GuardStep:
    return GuardStep("test", outcome, "verify", False, tree, error, failing)


def test_the_same_call_with_the_same_outcome_is_a_repetition():
    assert told([step()] * 6) == [
        (3, "repetition", "soft"),
        (5, "repetition", "hard"),
        (6, "repetition", "hard"),
    ]


def test_a_changed_outcome_is_progress():
    assert told([step(outcome=str(n), kind="read") for n in range(100)]) == []


def test_waiting_with_sleeps_in_between_is_no_loop():
    story = [s for n in range(60) for s in (step("sleep"), step("tail log", str(n), "read"))]
    assert told(story) == []


def test_notes_do_not_hide_a_repetition():
    story = [s for n in range(5) for s in (step(), step(f"note {n}", kind="note"))]
    assert told(story) == [(5, "repetition", "soft"), (9, "repetition", "hard")]


def test_the_same_note_again_and_again_is_a_repetition():
    story = [step("note", kind="note")] * 5
    assert told(story) == [(3, "repetition", "soft"), (5, "repetition", "hard")]


@pytest.mark.parametrize("size", [2, 3, 4, 5])
def test_a_cycle_is_reported_once_softly_then_hard(size: int):
    story = [step(str(n % size)) for n in range(3 * size + 1)]
    assert told(story) == [
        (2 * size, "cycle", "soft"),
        (3 * size, "cycle", "hard"),
        (3 * size + 1, "cycle", "hard"),
    ]


def test_a_cycle_longer_than_the_limit_is_not_looked_for():
    assert told([step(str(n % 6)) for n in range(60)]) == []
    assert told([step(str(n % 5)) for n in range(60)], GuardLimits(cycle_max=4)) == []


def test_a_short_cycle_is_not_told_again_as_a_longer_one():
    limits = GuardLimits(cycle_hard=0)
    assert told([step(str(n % 2)) for n in range(40)], limits) == [(4, "cycle", "soft")]


def test_equal_steps_are_a_repetition_and_no_cycle():
    assert {guard for _, guard, _ in told([step()] * 30)} == {"repetition"}


def test_a_cycle_that_repeats_within_itself_is_a_cycle():
    assert told([step(c) for c in "aabaab"]) == [(6, "cycle", "soft")]


def test_a_cycle_of_notes_is_a_cycle():
    story = [step(c, kind="note") for c in "ababab"]
    assert told(story) == [(4, "cycle", "soft"), (6, "cycle", "hard")]


def test_edits_over_many_files_are_no_loop():
    edits = [edit(f"file{n}", tree=f"t{n}") for n in range(200)]
    runs = [step("test", str(n), "verify", tree=f"t{n}") for n in range(200)]
    story = [s for n in range(200) for s in (edits[n], runs[n])[: 1 + (n % 5 == 4)]]
    assert told(story) == []
    assert told([replace(each, reply=1) for each in edits]) == []


def test_edits_that_nobody_runs():
    story = [edit(f"file{n}", tree=f"t{n}") for n in range(12)]
    assert told(story) == [(6, "unrun-edits", "soft"), (12, "unrun-edits", "hard")]
    assert told([*story[:5], step("make", kind="run"), *story[5:10]]) == []


def test_the_same_edit_whatever_it_comes_to():
    story = [
        each
        for n in range(6)
        for each in (
            edit("x", ok=n % 2 == 0),
            step("read", str(n), "read"),
            step("test", str(n), "verify"),
        )
    ]
    assert told(story) == [(7, "same-edit", "soft"), (16, "same-edit", "hard")]
    others = [edit(str(n % 2), ok=n % 3 > 0) for n in range(5)]
    assert "same-edit" not in {guard for _, guard, _ in told(others)}


def test_steps_of_any_kind_that_fail_in_a_row():
    kinds: list[Kind] = ["read", "verify", "refused", "mutate"]
    story = [step(str(n), str(n), kinds[n % 4], ok=False) for n in range(12)]
    assert [t for t in told(story) if t[1] == "failing-steps"] == [
        (6, "failing-steps", "soft"),
        (12, "failing-steps", "hard"),
    ]
    noted = [*story[:5], step("n", kind="note"), story[5]]
    assert (7, "failing-steps", "soft") in told(noted)
    assert not any(t[1] == "failing-steps" for t in told([*story[:5], step(), *story[:5]]))


def reply(number: int, *steps: GuardStep) -> list[GuardStep]:
    """Calls that one reply asks for."""
    return [replace(each, reply=number) for each in steps]


def test_a_reply_is_one_step_whatever_its_calls_come_to():
    refused = [step(f"read {n}", "", "refused") for n in range(5)]
    assert told(reply(1, *refused)) == []
    again = [each for n in range(5) for each in reply(n + 1, *refused[n:], *refused[:n])]
    assert [t for t in told(again) if t[1] == "refused"] == [
        (11, "refused", "soft"),
        (21, "refused", "hard"),
    ]
    failed = [edit(str(n), ok=False) for n in range(20)]
    assert told(reply(1, *failed)) == []


def test_a_repeated_call_within_a_reply_does_not_stop_the_run():
    assert told(reply(1, *[step()] * 9)) == [(3, "repetition", "soft")]
    assert told([*reply(1, *[step()] * 9), *reply(2, step())]) == [
        (3, "repetition", "soft"),
        (10, "repetition", "hard"),
    ]


def test_replies_that_ask_for_the_same_calls_are_a_repetition_and_no_cycle():
    story = [each for n in range(5) for each in reply(n + 1, step("a"), step("b"), step("c"))]
    assert told(story) == [(9, "repetition", "soft"), (15, "repetition", "hard")]


def test_replies_that_take_turns_are_a_cycle():
    asked = [(step("a"), step("b")), (step("a"), step("c"))]
    story = [each for n in range(6) for each in reply(n + 1, *asked[n % 2])]
    assert told(story) == [(8, "cycle", "soft"), (12, "cycle", "hard")]


def test_a_row_that_began_in_an_earlier_reply_stops_in_the_middle_of_one():
    story = [*reply(1, step()), *reply(2, *[step()] * 4)]
    assert told(story) == [(3, "repetition", "soft"), (5, "repetition", "hard")]


def test_the_marks_of_a_reply_with_many_calls_stay_short():
    memory = Memory()
    for n in range(60):
        memory = remember(memory, replace(step(f"call {n}", digest(n)), reply=1))
    assert len(memory.work.tail[-1]) < 120


def test_going_back_to_an_earlier_tree_is_noticed_at_once():
    trees = ["a", "b", "a", "b", "a"]
    story = [edit(str(n), tree=tree) for n, tree in enumerate(trees)]
    assert told(story) == [
        (3, "revisited-tree", "soft"),
        (5, "revisited-tree", "hard"),
    ]


def test_a_tree_seen_by_reading_counts_as_seen():
    story = [step("read", kind="read", tree="base"), edit("x", tree="new"), edit("y", tree="base")]
    assert told(story) == [(3, "revisited-tree", "soft")]


def test_an_edit_that_changes_nothing_returns_to_nothing():
    story = [s for n in range(10) for s in (edit(str(n), tree="same"), step("run", str(n)))]
    assert told(story) == []


def test_a_tree_that_changes_under_a_verification_is_no_revisit():
    story = [edit("x", tree="a"), edit("y", tree="b"), step("t", kind="verify", tree="a")]
    assert told(story) == []


def test_long_hashes_are_shortened_and_the_oldest_forgotten():
    memory = Memory()
    for n in range(400):
        memory = remember(memory, edit(str(n), tree=f"{n:040d}"))
    assert len(memory.trees) == 256
    assert len(msgspec.json.encode(memory)) < 8_000


def test_the_same_failures_on_the_same_tree_are_no_progress():
    story = [red("t", outcome=str(n), error="") for n in range(4)]
    assert told(story) == [(2, "no-progress", "soft"), (4, "no-progress", "hard")]


def test_other_failures_or_another_tree_are_progress():
    story = [red(f"t{n}", error=f"e{n}", outcome=str(n)) for n in range(5)]
    assert told(story) == []
    assert told([red("t", failing=f"f{n}", error="", outcome=str(n)) for n in range(5)]) == []


def test_verifications_without_failures_or_tree_are_not_counted():
    assert told([step("t", str(n), "verify", tree="t") for n in range(8)]) == []
    assert told([step("t", str(n), "verify", failing="f") for n in range(8)]) == []


def test_the_same_error_after_different_edits_is_stagnation():
    story = [red("")]
    for n in range(5):
        story += [edit(str(n)), red("", failing="", outcome=str(n))]
    assert told(story) == [(7, "error-stagnation", "soft"), (11, "error-stagnation", "hard")]


def test_an_error_counts_from_the_edit_before_it():
    story = [s for n in range(3) for s in (edit(str(n)), red("", failing="", outcome=str(n)))]
    assert told(story) == [(6, "error-stagnation", "soft")]


def test_the_same_edit_again_is_not_a_different_one():
    story = [s for n in range(6) for s in (edit("x"), red("", failing="", outcome=str(n)))]
    assert {guard for _, guard, _ in told(story)} == {"same-edit"}


def test_another_check_with_the_same_words_is_another_error():
    story: list[GuardStep] = []
    for n in range(6):
        story += [edit(str(n)), replace(red("", failing="", outcome=str(n)), call=f"test {n}")]
    assert told(story) == []


def test_what_a_look_or_an_edit_says_is_no_check():
    story: list[GuardStep] = []
    for n in range(6):
        story += [edit(str(n)), step("cat", str(n), "read", error="e"), step("run", str(n))]
    assert told(story) == []


def test_seeing_the_same_error_without_editing_is_not_stagnation():
    story = [red("", failing="", outcome=str(n)) for n in range(20)]
    assert {guard for _, guard, _ in told(story)} == {"failing-steps"}


def test_another_error_starts_the_count_again():
    story = [
        s
        for n in range(8)
        for s in (edit(str(n)), red("", failing="", error=f"e{n // 2}", outcome=str(n)))
    ]
    assert told(story) == []


def test_only_the_failing_check_itself_clears_its_error():
    story: list[GuardStep] = []
    for n in range(3):
        story += [edit(str(n)), red("", failing="", outcome=str(n)), step("lint", str(n), "verify")]
    assert told(story) == [(8, "error-stagnation", "soft")]
    green = step("test", "green", "verify")
    mended = [*story[:5], green, *story[6:]]
    assert told(mended) == []


def test_a_failed_edit_is_not_an_edit_for_stagnation():
    story = [
        s for n in range(4) for s in (edit(str(n), ok=False), red("", failing="", outcome=str(n)))
    ]
    assert told(story) == [(5, "failed-edits", "soft"), (6, "failing-steps", "soft")]


def test_reading_on_without_a_checkpoint():
    story = [step(f"read {n}", kind="read") for n in range(28)]
    assert told(story) == [(12, "reading-on", "soft"), (28, "reading-on", "hard")]


@pytest.mark.parametrize("kind", ["checkpoint", "mutate", "verify", "run"])
def test_anything_but_reading_starts_the_count_again(kind: Kind):
    story = [step(f"read {n}", kind="read") for n in range(11)]
    assert told([*story, step("x", kind=kind), *story]) == []


def test_notes_and_refusals_do_not_end_reading_on():
    story: list[GuardStep] = []
    for n in range(6):
        story += [
            step(f"read {n}", kind="read"),
            step(f"note {n}", kind="note"),
            step(f"write {n}", "", "refused"),
        ]
    assert [t for t in told(story) if t[1] == "reading-on"] == [(17, "reading-on", "soft")]


def test_reading_the_same_thing_unchanged_is_reading_on():
    reads = [step(c, kind="read") for c in "abcdefabcdef"]
    assert told(reads) == [(12, "reading-on", "soft")]


def test_failed_edits_in_a_row_with_reads_between():
    story = [s for n in range(12) for s in (edit(str(n), ok=False), step("read", str(n), "read"))]
    assert told(story) == [(5, "failed-edits", "soft"), (23, "failed-edits", "hard")]


@pytest.mark.parametrize("between", [edit("good"), step("plan", kind="checkpoint")])
def test_an_applied_edit_or_a_checkpoint_ends_the_row(between: GuardStep):
    bad = [edit(str(n), ok=False) for n in range(2)]
    more = [edit(f"more {n}", ok=False) for n in range(2)]
    assert told([*bad, between, *more]) == []


def test_refused_calls_in_a_row():
    story = [step(f"write {n}", "", "refused") for n in range(5)]
    assert told(story) == [(3, "refused", "soft"), (5, "refused", "hard")]


def test_words_between_do_not_end_a_row_of_refusals_but_actions_do():
    refusals = [step(f"write {n}", "", "refused") for n in range(3)]
    words = [step("n", kind="note"), step("", "", "monologue")]
    assert (5, "refused", "soft") in told([*refusals[:2], *words, refusals[2]][:5])
    assert told([*refusals[:2], step("read", kind="read"), refusals[2]]) == []


def test_replies_with_neither_call_nor_stop():
    story = [step("", str(n), "monologue") for n in range(3)]
    assert told(story) == [(2, "monologue", "soft")]
    assert told([story[0], step(), story[1], step("d"), story[2]]) == []


def test_a_level_of_zero_is_off():
    off = GuardLimits(repetition_soft=0, repetition_hard=0)
    assert told([step()] * 50, off) == []


def test_trips_come_in_the_order_of_the_table():
    memory = Memory()
    for _ in range(5):
        memory = remember(memory, step("write", "", "refused"))
    guards = [trip.guard for trip in trips(memory, LIMITS)]
    assert guards == ["repetition", "refused"]
    assert guards == sorted(guards, key=GUARDS.index)


@pytest.mark.parametrize(
    ("parent", "elapsed", "level"),
    [
        ("plan", 79.0, None),
        ("plan", 80.0, TripLevel.SOFT),
        ("plan", 100.0, TripLevel.HARD),
        ("build", 159.0, None),
        ("build", 160.0, TripLevel.SOFT),
        ("build", 500.0, TripLevel.HARD),
        ("final", 10_000.0, None),
    ],
)
def test_wall_clock(parent: str, elapsed: float, level: TripLevel | None):
    trip = time_trip(parent, elapsed, GuardLimits(plan_seconds=100, build_seconds=200))
    assert (trip.level if trip else None) == level


def test_the_clock_is_off_by_default_and_says_what_it_measured():
    assert time_trip("plan", 1e9, LIMITS) is None
    trip = time_trip("build", 90.4, GuardLimits(build_seconds=100))
    assert trip == Trip("time", TripLevel.SOFT, "build has used 90 of its 100 seconds")


def test_limits_are_validated_where_they_are_read():
    with pytest.raises(msgspec.ValidationError):
        msgspec.json.decode(b'{"repetition_soft": -1}', type=GuardLimits)
    with pytest.raises(msgspec.ValidationError):
        msgspec.json.decode(b'{"repetition": 1}', type=GuardLimits)
    read = msgspec.json.decode(b'{"repetition_soft": 2}', type=GuardLimits)
    assert read == GuardLimits(repetition_soft=2)


def test_a_digest_does_not_depend_on_the_order_of_keys():
    assert digest({"a": 1, "b": [2]}) == digest({"b": [2], "a": 1})
    assert digest({"a": 1}) != digest({"a": 2})
    assert len(digest("x")) == 16


@pytest.mark.parametrize("value", ["\ud800", 2**70, {"k": "\udfff"}])
def test_a_digest_takes_whatever_json_can_hold(value: object):
    assert digest(value) == digest(value)


SAME = [
    ("ValueError: bad value 12", "ValueError: bad value 13"),
    ("error at 0x7f001", "error at 0x7fabc"),
    ("cannot open /home/ann/p/x.py", "cannot open /srv/ci/p/x.py"),
    ("cannot open /tmp/abc1/x: denied", "cannot open /tmp/zzz/y: denied"),
    ("2024-01-02T03:04:05Z error: no", "2025-11-12 13:14:15.123 error: no"),
    ("10:11:12 error: no", "23:59:59.5 error: no"),
    ("error in commit deadbee1", "error in commit 0a1b2c3d4e"),
    (
        "error: 123e4567-e89b-12d3-a456-426614174000",
        "error: 00000000-e89b-12d3-a456-426614174fff",
    ),
    ("\x1b[31merror: no\x1b[0m", "error: no"),
    (
        'Traceback (most recent call last):\n  File "/a.py", line 3, in f\nKeyError: 1',
        "KeyError: 2",
    ),
    (r"C:\Users\a\x.py: error", r"D:\b\x.py: error"),
    ("==== FAILED ====", "========= FAILED ========="),
]


@pytest.mark.parametrize(("one", "other"), SAME)
def test_a_fingerprint_survives_what_varies(one: str, other: str):
    assert fingerprint(one) == fingerprint(other)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("ValueError: bad", "TypeError: bad"),
        ("cannot open /a/x.py", "cannot open /a/y.py"),
        ("", "error"),
    ],
)
def test_different_errors_have_different_fingerprints(one: str, other: str):
    assert fingerprint(one) != fingerprint(other)


def test_a_text_that_names_no_error_is_known_by_its_end():
    lines = [f"line {c}" for c in "abcdefgh"]
    assert plain_error("\n".join(lines)) == "\n".join(lines[-5:])


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("3 passed in 0.12s", "3 passed in 4.5s"),
        ("built in 12 ms", "built in 9 ms"),
        ("at 2026-01-02T03:04:05Z", "at 2027-11-12T13:14:15Z"),
        ("[12:34:56] go", "[01:02:03.4] go"),
        ("<T object at 0x7f3a11>", "<T object at 0x55aa99>"),
        ("wrote /tmp/flyball-x1/out", "wrote /tmp/flyball-y2/out"),
        ("\x1b[31mred\x1b[0m", "red"),
        ('{"duration_ms": 3.25}', '{"duration_ms": 1.5}'),
        ("pid 123", "pid 4567"),
    ],
)
def test_what_varies_between_runs_does_not_count(one, other):
    assert without_volatile_parts(one) == without_volatile_parts(other)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("3 failed", "2 failed"),
        ("line 10 of log", "line 11 of log"),
        ("/src/a.py:3", "/src/a.py:4"),
        ("version 1.2.3", "version 1.2.4"),
        ("4 modules", "5 modules"),
    ],
)
def test_what_tells_progress_does_count(one, other):
    assert without_volatile_parts(one) != without_volatile_parts(other)
