"""How a host's stop ends: after a verdict, at the latest after a few, and never by the clock."""

from __future__ import annotations

import subprocess
import time
from pathlib import Path
from threading import Thread

import pytest
from tests.governed import CART, Shell, objects
from tests.hosts.hooking import Heard, HostSession, kill_governor

from flyball.workspace.run.lock import WorkspaceLock

RIGHT = CART.replace("result += price", "result += price * quantity")
WRONG = CART.replace("result += price", "result -= price")
SLOWLY = "import time\ntime.sleep({seconds})\n"
"""The beginning of a suite that takes longer than a host would wait."""


def status(host: HostSession) -> object:
    (run,) = objects(host.shell("runs", "list", "--json").stdout)
    return run["status"]


def at_work(shell: Shell, text: str, *, seconds: float = 0.0, **variables: str) -> HostSession:
    """A session that has changed the cart, in a shop whose suite takes some time."""
    suite = shell.cwd / "test_cart.py"
    suite.write_text(SLOWLY.format(seconds=seconds) + suite.read_text())
    subprocess.run(["git", "commit", "-qam", "a slow suite"], cwd=shell.cwd, check=True)
    shell.env.update(variables)
    host = HostSession(shell)
    host.prompt()
    assert host.checkpoint().returncode == 0
    assert host.write("cart.py", text).is_allowed
    return host


def test_what_nobody_mends_is_said_twice_and_then_called_what_it_is(host: HostSession):
    host.prompt()
    host.checkpoint()
    host.write("cart.py", WRONG)
    answers = [host.stop() for _ in range(3)]
    assert [each.is_refused for each in answers] == [True, True, False]
    assert "unverified" in answers[-1].notice
    assert status(host) == "unverified"


@pytest.mark.exhaustive
def test_what_is_mended_wrongly_each_time_is_refused_a_few_times_more(host: HostSession):
    host.prompt()
    host.checkpoint()
    answers: list[Heard] = []
    for number in range(4):
        host.write("cart.py", f"{WRONG}\n# {number}\n")
        answers.append(host.stop())
    assert [each.is_refused for each in answers] == [True, True, True, False]
    assert status(host) == "unverified"


@pytest.mark.exhaustive
def test_verdict_longer_than_patience_goes_on_behind_the_stop(shell: Shell):
    host = at_work(shell, RIGHT, seconds=15, FLYBALL_HOOKS_PATIENCE="0.5")
    let_go = host.stop()
    assert let_go.is_allowed
    assert "continues in the background" in let_go.notice
    early = shell("wait", "--for", "0")
    assert early.returncode == 4, early.stdout
    waited = shell("wait")
    assert waited.returncode == 0, waited.stderr
    assert "red → green" in waited.stdout
    assert "red → green" in host.prompt("thanks").notice
    host.end()


@pytest.mark.exhaustive
def test_verdict_behind_a_stop_that_is_not_shown_is_heard_with_the_next_prompt(shell: Shell):
    host = at_work(shell, WRONG, seconds=15, FLYBALL_HOOKS_PATIENCE="0.2")
    assert host.stop().is_allowed
    assert "test_three_pens" in shell("wait").stdout
    told = host.prompt("go on")
    assert "test_three_pens" in told.told + told.notice
    host.end()


@pytest.mark.exhaustive
def test_a_person_who_speaks_into_a_verdict_is_heard_at_once(shell: Shell):
    host = at_work(shell, WRONG, seconds=15)
    found: list[Heard] = []
    stopping = Thread(target=lambda: found.append(host.stop()))
    stopping.start()
    while not [*Path(shell.env["HOME"]).glob("state/projects/*/hosts/*.verdict")]:
        time.sleep(0.05)
    assert host.prompt("and count the pens twice").is_allowed
    assert stopping.is_alive(), "nobody waited for the verdict"
    assert host.write("cart.py", RIGHT).is_allowed
    stopping.join()
    assert found[0].is_allowed, "a verdict on work that has gone on is nobody's"
    assert "red → green" in host.stop().notice
    host.end()


@pytest.mark.exhaustive
def test_a_governor_that_is_killed_in_a_verdict_is_not_missed(shell: Shell):
    host = at_work(shell, RIGHT, seconds=5)
    found: list[Heard] = []
    stopping = Thread(target=lambda: found.append(host.stop()))
    stopping.start()
    while not [*Path(shell.env["HOME"]).glob("state/projects/*/hosts/*.verdict")]:
        time.sleep(0.05)
    kill_governor(shell)
    stopping.join()
    # Whoever waited for its answer takes the verdict itself.
    assert "red → green" in found[0].notice, found
    assert host.stop().is_allowed
    assert status(host) == "success"
    host.end()


@pytest.mark.exhaustive
def test_a_hook_that_is_alone_lets_go_in_time_and_does_not_call_it_done(shell: Shell):
    host = at_work(
        shell, RIGHT, seconds=5, FLYBALL_HOOKS_PATIENCE="0.5", FLYBALL_HOOKS_ALONE="true"
    )
    let_go = host.stop()
    assert let_go.is_allowed
    assert "unverified" in let_go.notice
    assert status(host) == "cancelled"


@pytest.mark.exhaustive
def test_who_waits_is_not_told_half_of_what_is_being_written(shell: Shell):
    host = at_work(shell, RIGHT)
    assert host.stop().is_allowed
    (state,) = Path(shell.env["HOME"]).glob("state/projects/*/hosts.lock")
    writing = WorkspaceLock(state, "a test")
    heard: list[str] = []
    waiting = Thread(target=lambda: heard.append(shell("wait").stdout))
    waiting.start()
    waiting.join(timeout=2)
    assert waiting.is_alive(), "somebody was still at work on that session"
    writing.release()
    waiting.join()
    assert "red → green" in heard[0]


def test_what_is_taken_back_at_a_stop_is_said_with_the_way_to_get_it_back(host: HostSession):
    host.prompt("explain the cart")
    host.run("ls")
    (host.repo / "notes.md").write_text("an hour of somebody's\n")
    (host.repo / "cart.py").write_text(RIGHT)
    heard = host.stop()
    assert "cart.py, notes.md changed without an allowed call" in heard.notice
    assert "Flyball: answered" in heard.notice
    assert (host.repo / "cart.py").read_text() == CART
    assert "notes.md changed without an allowed call" in host.prompt("go on").told
    snapshot = heard.notice.partition("`flyball undo ")[2].partition("`")[0]
    assert host.shell("undo", snapshot).returncode == 0
    assert (host.repo / "notes.md").read_text() == "an hour of somebody's\n"
    assert (host.repo / "cart.py").read_text() == RIGHT


@pytest.mark.exhaustive
def test_a_write_that_never_came_back_is_no_ground_for_the_next_prompt(host: HostSession):
    host.prompt()
    host.checkpoint()
    assert host.before("Write", file_path=str(host.repo / "cart.py"), content=WRONG).is_allowed
    (host.repo / "cart.py").write_text(WRONG)
    host.prompt("go on")
    assert host.stop().is_refused
    host.write("cart.py", RIGHT)
    assert "red → green" in host.stop().notice


def test_what_a_look_that_never_came_back_has_left_is_taken_back_at_the_next_prompt(
    host: HostSession,
):
    host.prompt()
    assert host.before("Bash", command="ls").is_allowed
    (host.repo / "cart.py").write_text(WRONG)
    heard = host.prompt("go on")
    assert "cart.py changed without an allowed call" in heard.told
    assert heard.told.count("Flyball governs") == 1
    assert "cart.py changed" in heard.notice
    assert (host.repo / "cart.py").read_text() == CART


def test_what_a_person_edits_before_the_next_prompt_stays(host: HostSession):
    host.prompt()
    host.run("ls")
    host.stop("What do you mean?")
    (host.repo / "cart.py").write_text(WRONG)
    assert host.prompt("look again").notice == ""
    assert (host.repo / "cart.py").read_text() == WRONG
