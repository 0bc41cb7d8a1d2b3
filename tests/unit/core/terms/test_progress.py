"""The progress of an operation, and of one whose parts go on side by side."""

from flyball.core.terms.progress import Parts, Progress, Stage, unwatched


def test_parts_side_by_side_are_one_report():
    parts = Parts("verdict", before=30.0)
    parts.note(Progress("old code", 2.0, done=3, of=10), 2.0)
    parts.note(Progress("new code", 2.0, done=4, of=12), 2.1)
    now = parts.at(4.0)
    assert (now.elapsed, now.before, now.done, now.of) == (4.0, 30.0, 7, 22)
    assert now.what == "verdict: old code and new code"


def test_a_whole_of_which_one_part_is_unknown_is_not_counted():
    parts = Parts("verdict")
    parts.note(Progress("old code", 2.0, done=3, of=10), 2.0)
    parts.note(Progress("new code", 2.0, done=4), 2.0)
    assert (parts.at(4.0).done, parts.at(4.0).of) == (7, 0)


def test_different_units_are_not_added():
    parts = Parts("verdict")
    parts.note(Progress("old code", 2.0, done=3, of=10), 2.0)
    parts.note(Progress("small changes", 2.0, done=4, of=5, unit="tried"), 2.0)
    assert (parts.at(4.0).done, parts.at(4.0).of) == (0, 0)


def test_a_part_that_reports_no_more_is_left_out_and_the_latest_stays():
    parts = Parts("verdict")
    assert parts.at(2.0).what == "verdict"
    parts.note(Progress("old code", 2.0), 2.0)
    parts.note(Progress("new code", 4.0), 4.0)
    assert parts.at(8.0).what == "verdict: new code"
    assert parts.at(60.0).what == "verdict: new code"


def test_a_line_of_telemetry_is_read_back():
    now = Progress("new code", 2.0, 30.0, done=3, of=10)
    assert Progress.of_line(now.line("step-1", "call-1")) == now
    assert unwatched(now) is None


def test_an_operation_of_steps_says_which_one_it_is_at():
    stage = Stage("opening", 3, before=8.0)
    assert stage.at(1.0) == Progress("opening", 1.0, 8.0, 0, 3, "steps")
    stage.next("submodules")
    assert stage.at(2.0) == Progress("opening: submodules", 2.0, 8.0, 1, 3, "steps")
