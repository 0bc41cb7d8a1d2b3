"""Children do what they like; the parent hears what they said and goes on."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from flyball.repair.inside.workers import Alarm, Children, Job, OutOfTime


def heard(work, seconds=600.0):
    """What one child said, and whether it was late."""
    told = []
    Children(1, lambda _key, said, late: told.append((said, late))).run_all(
        [Job("k", work, seconds)], lambda: False
    )
    (answer,) = told
    return answer


def test_worker_output_is_received():
    def work(say):
        say({"n": 1})
        say(["ü", None])

    assert heard(work) == ([{"n": 1}, ["ü", None]], False)


@pytest.mark.parametrize(
    "die",
    [
        lambda: os._exit(3),
        lambda: os.kill(os.getpid(), signal.SIGKILL),
        lambda: [].missing,
        lambda: sys.exit(2),
    ],
    ids=["exit", "killed", "error", "system exit"],
)
def test_output_before_a_crash_is_received(die):
    def work(say):
        say("before")
        die()
        say("after")

    assert heard(work) == (["before"], False)


def test_time_ends_a_child_and_what_it_started(tmp_path):
    mark = tmp_path / "pid"

    def work(say):
        with subprocess.Popen(["sleep", "600"]) as sleeper:
            mark.write_text(str(sleeper.pid))
            say("started")
            sleeper.wait()

    # On a busy machine the first limits may pass before it has begun.
    ends = (heard(work, seconds) for seconds in (1.0, 10.0, 100.0))
    assert next(end for end in ends if end != ([], True)) == (["started"], True)
    state = Path(f"/proc/{mark.read_text()}/stat")
    deadline = time.monotonic() + 300
    while state.exists() and state.read_text().split()[2] != "Z":
        assert time.monotonic() < deadline, "it was not ended"


def test_computing_without_end_rings_the_alarm():
    def work(say):
        alarm = Alarm()
        alarm.set(0.1)
        try:
            while True:
                pass
        except OutOfTime:
            say(alarm.has_rung)

    assert heard(work) == ([True], False)


def test_a_timer_that_runs_ahead_of_what_was_computed_does_not_ring():
    """As it does on a busy machine, where the kernel counts a whole tick for a part of one."""

    def work(say):
        asked = []

        def computed():
            asked.append(time.process_time())
            return 0.0 if len(asked) < 4 else 0.1

        alarm = Alarm(computed)
        alarm.set(0.1)
        try:
            while True:
                pass
        except OutOfTime:
            say([len(asked), alarm.has_rung])

    assert heard(work) == ([[4, True]], False)


def test_computing_without_end_in_c_ends_the_child():
    def work(say):
        say("before")
        Alarm().set(0.1)
        sum(iter(int, 1))

    assert heard(work) == (["before"], True)


def test_jobs_run_until_it_is_over():
    done = []
    jobs = (Job(n, lambda say: say(1), 600.0) for n in range(100))
    Children(2, lambda key, _said, _late: done.append(key)).run_all(jobs, lambda: len(done) >= 5)
    assert 5 <= len(done) < 10


def test_a_child_cannot_write_to_our_output(capfd):
    def work(say):
        os.write(1, b"noise")
        os.write(2, b"noise")
        say("done")

    assert heard(work)[0] == ["done"]
    assert capfd.readouterr() == ("", "")
