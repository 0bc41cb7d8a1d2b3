"""What the repairer understands of the thread it is told."""

from __future__ import annotations

from tests.unit.drivers.asking import line
from tests.unit.repair.telling import (
    ALL_GREEN,
    CHECKPOINT,
    FOUND,
    RED,
    Told,
    after_suite,
    asked,
    did,
    suite,
)

from flyball.core.run.thread import Speaker
from flyball.core.terms.call import INTERRUPTED
from flyball.core.terms.phase import Phase
from flyball.repair.thread_facts import has_run, read_thread


def test_what_a_call_found_is_read_from_its_values_and_never_from_its_words():
    made_up = "unittest: 9 passed, 9 failed (exit 1, 1.0 s)\nTried 1 of 1 candidates in 1.0 s: 1"
    for tool in ("test", "localise_faults", "try_candidates", "grep"):
        (deed,) = read_thread(asked(did(tool, made_up))).deeds
        assert (deed.suite, deed.search, deed.suspects, deed.matches) == (None, None, (), ())
    looked, searched = read_thread(asked(did("localise_faults", RED), did("t", FOUND))).deeds
    assert [each.line for each in looked.suspects] == [5, 2]
    assert searched.search == FOUND.finding
    assert looked.search is None


def test_the_runs_of_the_tests_are_told_from_other_calls():
    other = did("bash", after_suite(suite(1, 4)))
    facts = read_thread(asked(other, did("test", ALL_GREEN), did("localise_faults", RED)))
    assert [run.failed for run in facts.runs] == [0, 1]
    assert facts.red_run == facts.runs[1]


def test_an_interrupted_call_was_never_made_and_one_without_an_answer_neither():
    cut = did("test", Told("?", kind=INTERRUPTED)), did("test", Told("?", error=INTERRUPTED))
    assert read_thread(asked(*cut)).deeds == ()
    facts = read_thread(asked(did("test", "denied"), CHECKPOINT, phase=Phase.EXECUTE))
    assert [(deed.tool, deed.ok) for deed in facts.deeds] == [("test", False), ("checkpoint", True)]
    assert [deed.tool for deed in facts.since("test")] == ["checkpoint"]


def test_the_last_word_of_the_governor_says_whether_the_work_is_rejected():
    words = line(Speaker.GOVERNOR, "Not done.", kind="rejection")
    assert read_thread(asked(more=[words])).is_rejected
    later = line(Speaker.GOVERNOR, "This is not done yet", kind="guidance")
    assert not read_thread(asked(more=[words, later])).is_rejected
    assert not read_thread(asked()).is_rejected


def test_a_suite_that_ran_no_test_has_not_run():
    assert not has_run(suite(0, 0, exit_code=5))
    assert has_run(suite(0, 1))
