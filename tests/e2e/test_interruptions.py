"""Two processes, Ctrl-C and kill -9: through the command, while a slow suite runs."""

from __future__ import annotations

import json
import signal
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.e2e.scenario import Stage

from flyball.run.event import CallInterrupted, CallReturned, PauseAsked

pytestmark = pytest.mark.slow


class Under:
    """A run under way in another process, whose test suite has begun and waits to be let go on."""

    def __init__(self, stage: Stage) -> None:
        self.stage = stage
        words = ("run", "the total is wrong", *stage.driven_by("slow_suite"))
        self.process = subprocess.Popen(
            stage.command(*words, "--intent", "small_fix"),
            env=stage.env,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        assert self.process.stdout is not None
        for text in self.process.stdout:
            line = json.loads(text)
            if line["type"] == "run":
                stage.run = line["run"]
            if line.get("state") == "started" and line.get("tool") == "test":
                break
        deadline = time.monotonic() + 600
        while not stage.has("__pycache__/begun"):
            assert time.monotonic() < deadline, "the suite was never started"
            time.sleep(0.01)

    def end(self, how: signal.Signals) -> int:
        self.process.send_signal(how)
        self.stage.put("__pycache__/go")
        self.process.communicate(timeout=600)
        return self.process.returncode


@pytest.fixture
def stage(tmp_path: Path) -> Stage:
    return Stage(tmp_path)


@pytest.fixture
def under(stage: Stage) -> Iterator[Under]:
    found = Under(stage)
    yield found
    found.process.kill()
    found.process.communicate()


@pytest.mark.exhaustive
def test_the_second_process_is_told_who_holds_the_run(stage: Stage, under: Under) -> None:
    told = stage.flyball("runs", "resume", stage.run)
    assert told.exit == 1
    assert f"Run {stage.run} is held by process {under.process.pid} on " in told.stderr
    assert under.end(signal.SIGINT) == 130


@pytest.mark.exhaustive
def test_ctrl_c_pauses_after_the_call_and_the_run_can_go_on(stage: Stage, under: Under) -> None:
    assert under.end(signal.SIGINT) == 130
    events = stage.events()
    assert [type(event) for event in events[-2:]] == [CallReturned, PauseAsked]
    told = stage.then("runs", "resume")
    assert told.exit == 0
    assert told.final["status"] == "success"


def test_a_killed_process_leaves_a_run_that_can_go_on(stage: Stage, under: Under) -> None:
    assert under.end(signal.SIGKILL) == -signal.SIGKILL
    told = stage.then("runs", "resume")
    assert told.exit == 0
    assert told.final["status"] == "success"
    interrupted = [event for event in stage.events() if isinstance(event, CallInterrupted)]
    assert len(interrupted) == 1


@pytest.mark.exhaustive
def test_a_run_can_be_cancelled_while_its_suite_runs(stage: Stage, under: Under) -> None:
    told = stage.then("runs", "cancel")
    assert told.exit == 0
    under.process.communicate(timeout=600)
    assert under.process.returncode == 1
    response = stage.state().response
    assert response is not None
    assert response.status.value == "cancelled"
    assert not any(isinstance(event, CallReturned) and event.evidence for event in stage.events())
