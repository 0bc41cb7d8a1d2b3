"""Real hosts drive a flow over MCP, beside our hooks; only the model behind them is scripted."""

from __future__ import annotations

import json
import shlex
import subprocess
from pathlib import Path
from typing import Any

import pytest
from tests.governed import DROP, FIX, checkpoint
from tests.hosts.real.lab import program
from tests.hosts.real.test_real import (
    HOSTS,
    RIGHT,
    ROOT,
    RealHost,
    calls,
    modules,
    place,
    says,
)
from tests.mcp.serving import TWO_STEPS

__all__ = ["place"]

pytestmark = [pytest.mark.slow, pytest.mark.exhaustive]

SERVER = str(Path(__file__).with_name("step_server.py"))
POINT = checkpoint()["calls"][0]["args"]


def step(real: RealHost, name: str, **args: Any) -> dict[str, Any]:
    """A turn that calls one of our tools, by the name that the host gives it."""
    if real.host == "codex":
        return calls({"name": name, "namespace": "mcp__flyball", "input": args})
    prefix = "mcp_flyball_" if real.host == "gemini" else "mcp__flyball__"
    return calls({"name": prefix + name, "input": args})


def settled(real: RealHost) -> dict[str, Any]:
    """A look that takes its time: Codex does not wait for its servers before it asks the model."""
    return {**real.look(), "delay": 8 if real.host == "codex" else 0}


def shown(real: RealHost) -> dict[str, Any]:
    """The run that was driven over MCP, as the person is shown it."""
    (run,) = (each for each in real.runs if each["request"] == "small fix")
    return json.loads(real.shell("runs", "show", run["run"], "--json").stdout)


@pytest.mark.parametrize("host", HOSTS)
def test_a_real_host_drives_a_flow_of_two_steps(host: str, place: tuple[Path, str]):
    real = RealHost(host, *place)
    (real.repo / "two.yaml").write_text(TWO_STEPS)
    why = {"root_cause": "cart.py:4 ignores the quantity"}
    real.asks(
        settled(real),
        step(real, "start_run", flow="two.yaml"),
        step(real, "read", path="cart.py"),
        step(real, "submit_evidence", summary="The quantity is ignored."),
        step(real, "submit_evidence", summary="The quantity is ignored.", evidence=why),
        step(real, "edit_diff", diff=FIX),
        step(real, "checkpoint", **POINT),
        step(real, "edit_diff", diff=FIX),
        step(real, "test"),
        step(real, "submit_evidence", summary="Mended."),
        step(real, "submit_evidence", summary="Low risk: one line."),
        step(real, "next_step"),
        says("Both steps are done."),
        server=SERVER,
        server_name="flyball",
    )
    assert "`root_cause` is missing" in real.heard
    assert "State a checkpoint first" in real.heard
    assert "red → green" in real.heard
    told = shown(real)
    assert told["status"] == "success", told
    assert [card["status"] for card in told["cards"]] == ["done", "done"]
    assert told["driver"] == "host:mcp"
    assert (real.repo / "cart.py").read_text() != RIGHT, "it is on a branch of the run's own"


@pytest.mark.parametrize("host", HOSTS)
def test_a_checkpoint_over_mcp_opens_the_session_of_a_real_host(host: str, place: tuple[Path, str]):
    real = RealHost(host, *place)
    real.asks(
        settled(real),
        real.write(RIGHT),
        step(real, "checkpoint", **POINT),
        real.write(RIGHT),
        says("Finished."),
        server=SERVER,
        server_name="flyball",
    )
    assert "recon does not allow that" in real.heard
    assert "The checkpoint is recorded." in real.heard
    assert (real.repo / "cart.py").read_text() == RIGHT
    (run,) = real.runs
    assert run["status"] == "success"


@pytest.mark.parametrize("host", HOSTS)
def test_a_real_host_without_a_person_does_not_answer_for_one(host: str, place: tuple[Path, str]):
    """Nobody sits before it: what asks a person waits, whatever the host makes of a form."""
    real = RealHost(host, *place)
    real.asks(
        settled(real),
        step(real, "start_run", goal="fix the failing test"),
        step(real, "checkpoint", **{**POINT, "files": ["cart.py", "test_cart.py"]}),
        step(real, "edit_diff", diff=FIX),
        step(real, "edit_diff", diff=DROP),
        step(real, "test"),
        step(real, "submit_evidence", summary="Mended."),
        step(real, "request_approval"),
        step(real, "next_step"),
        says("It waits."),
        server=SERVER,
        server_name="flyball",
    )
    (run,) = (each for each in real.runs if each["request"] == "fix the failing test")
    told = json.loads(real.shell("runs", "show", run["run"], "--json").stdout)
    assert told["status"] == "paused"
    assert [each["kind"] for each in told["questions"]] == ["weakened-tests"]


@pytest.mark.parametrize("host", ["claude", "codex"])
def test_the_line_of_the_guide_sets_a_real_host_up(host: str, place: tuple[Path, str]):
    """The host itself writes its settings, and finds the server in them."""
    guide = (ROOT / "docs" / "guides" / "mcp.md").read_text()
    line = next(each for each in guide.splitlines() if each.startswith(f"{host} mcp add "))
    real = RealHost(host, *place)
    env = {**real.shell.env, "CODEX_HOME": str(real.home / ".codex"), "IS_SANDBOX": "1"}
    (real.home / ".codex").mkdir()
    argv = [*program(host, modules() / "node_modules"), *shlex.split(line)[1:]]
    done = subprocess.run(argv, cwd=real.repo, env=env, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    listed = subprocess.run(
        [*argv[:-6], "mcp", "list"], cwd=real.repo, env=env, capture_output=True, text=True
    )
    assert "flyball" in listed.stdout, listed.stderr
