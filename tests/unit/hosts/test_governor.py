"""What a host may do after its checkpoint, and files that change while a verdict is taken."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.governed import CART
from tests.unit.hosts.alone import AloneHost, alone_in

from flyball.agents.event import HostAnswer
from flyball.app.sessions import Session
from flyball.hosts.answering import read_payload
from flyball.hosts.calls import HostRules
from flyball.hosts.governor import HostGovernor
from flyball.hosts.kept import KeptWorkspaces
from flyball.hosts.opening import HostedRuns
from flyball.run.effect import Owed
from flyball.run.event import EvidenceTaken
from flyball.run.state import Checkpoint, RunState
from flyball.terms.phase import Phase

RIGHT = CART.replace("result += price", "result += price * quantity")
POINT = Checkpoint(
    goal="The total counts every piece.",
    findings="total() ignores the quantity.",
    proposed_action="Multiply by the quantity.",
    files=("cart.py",),
    verify_with=("python -m unittest",),
)


class MeddledRuns(HostedRuns):
    """Runs during whose verdicts somebody writes the next of some texts into the cart."""

    texts: Iterator[str] = iter(())

    async def inspected(self, session: Session, state: RunState, owed: Owed) -> EvidenceTaken:
        seen = await super().inspected(session, state, owed)
        if text := next(self.texts, ""):
            (self._home.repo / "cart.py").write_text(text)
        return seen


def meddled(host: AloneHost, *texts: str) -> HostGovernor:
    """A governor of a host that has mended the cart and stated why."""
    governor = host.governor
    runs = MeddledRuns(governor.home, governor.sessions, HostRules(), time.time, KeptWorkspaces())
    runs.texts = iter(texts)
    governor.runs = runs
    asyncio.run(governor.checkpoint(POINT))
    assert not host.judged(host.before("cart.py", "Write")).is_refused
    (host.repo / "cart.py").write_text(RIGHT)
    done = {"tool_name": "Write", "tool_input": {"file_path": "cart.py"}, "tool_use_id": "cart.py"}
    host.judged(host.data("PostToolUse", **done, tool_response="ok"))
    return governor


def stop(governor: HostGovernor, host: AloneHost) -> HostAnswer:
    event = read_payload("claude", host.data("Stop", last_assistant_message="It is done."))
    return asyncio.run(governor.answer(event))


def test_verdict_on_changed_files_does_not_end_a_run(tmp_path: Path):
    host = alone_in(tmp_path)
    governor = meddled(host, "broken(")
    said = stop(governor, host)
    assert said.is_refused
    assert "cart.py changed while Flyball took its verdict" in said.text
    # What is there now is judged at the next stop.
    said = stop(governor, host)
    assert said.is_refused
    assert "changed while" not in said.text
    (host.repo / "cart.py").write_text(RIGHT)
    assert "success" in stop(governor, host).notice


def test_files_that_never_rest_hold_a_stop_a_few_times_only(tmp_path: Path):
    host = alone_in(tmp_path)
    governor = meddled(host, *(f"{RIGHT}# {number}\n" for number in range(9)))
    answers = [stop(governor, host) for _ in range(4)]
    assert [each.is_refused for each in answers] == [True, True, True, False]
    assert "unverified" in answers[-1].notice


@pytest.mark.parametrize(
    "request_text",
    [
        "implement discounts in the cart",
        "please refactor the cart module",
        "do everything in TODO.md, then release",
        "why is the total wrong?",
        "hello",
    ],
)
def test_whatever_a_host_was_asked_it_may_build_after_its_checkpoint(
    tmp_path: Path, request_text: str
):
    host = alone_in(tmp_path)
    host.judged(host.data("UserPromptSubmit", prompt=request_text))
    assert host.state().request == request_text
    stating = host.look("flyball checkpoint --goal x --findings y --action z --file cart.py")
    assert not host.judged(stating).is_refused
    asyncio.run(host.governor.checkpoint(POINT))
    assert host.state().cards[-1].phase is Phase.EXECUTE
    assert not host.judged(host.before("cart.py", "Write")).is_refused


def test_a_host_reads_no_secret_by_any_tool(tmp_path: Path):
    host = alone_in(tmp_path)
    (host.repo / ".env").write_text("TOKEN=1\n")
    (host.repo / "notes.txt").symlink_to(".env")
    for args in (
        {"file_path": "notes.txt"},
        {"file_path": "~/.npmrc"},
        {"pattern": "x", "path": str(host.repo / ".env")},
        {"pattern": "x", "glob": ".env*"},
    ):
        tool = "Grep" if "pattern" in args else "Read"
        call = {"tool_name": tool, "tool_input": args, "tool_use_id": str(args)}
        assert host.judged(host.data("PreToolUse", **call)).is_refused, args
    assert not host.judged(host.before(".env.example")).is_refused
    assert not host.judged(host.before("~nobody-here/notes.txt")).is_refused
