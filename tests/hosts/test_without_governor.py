"""Hooks that find no governor: one starts, is killed, or may not stay."""

from __future__ import annotations

import os
import signal
from pathlib import Path

import pytest
from tests.governed import CART, Shell, objects, shop
from tests.hosts.hooking import HostSession, governor_of, kill_governor
from tests.hosts.test_hooks import RIGHT, WRONG

from flyball.hosts import client


def is_governed(shell: Shell) -> bool:
    return Path(client.address(str(shell.cwd), shell.env)).exists()


def test_governor_killed_before_each_hook_is_replaced_when_needed(host: HostSession):
    host.prompt()
    kill_governor(host.shell)
    Path(client.address(str(host.repo), host.shell.env)).unlink()
    assert host.before("Read", "r", file_path="cart.py").is_allowed
    assert not is_governed(host.shell), "an ordinary read needs no judge"
    assert host.before("Write", "w", file_path=str(host.repo / "cart.py")).is_refused
    assert is_governed(host.shell)


@pytest.mark.parametrize("name", [".env", "deploy/id_rsa", "notes.txt"])
def test_read_that_may_be_of_a_secret_is_left_to_the_judge(tmp_path: Path, name: str):
    (tmp_path / "notes.txt").symlink_to(".env")
    payload = (
        b'{"hook_event_name": "PreToolUse", "tool_name": "Read", "tool_input": {"file_path": "%s"}}'
    )
    assert client.only_reads(payload % b"/srv/cart.py")
    assert not client.only_reads(payload % str(tmp_path / name).encode())


@pytest.mark.exhaustive
def test_governor_that_was_stopped_is_ended_and_replaced(host: HostSession):
    host.prompt()
    os.kill(governor_of(host.shell), signal.SIGSTOP)
    refused = host.before("Write", "w", file_path=str(host.repo / "cart.py"))
    assert "recon does not allow" in refused.err, "another one has judged it"


def alone(place: Path) -> HostSession:
    """A host in a shop where no governor may stay."""
    (place / "home").mkdir()
    return HostSession(Shell(shop(place / "shop"), place / "home", FLYBALL_HOOKS_ALONE="true"))


@pytest.mark.exhaustive
def test_fix_is_held_to_the_same_rules_where_no_governor_may_stay(tmp_path: Path):
    host = alone(tmp_path)
    host.prompt()
    assert not is_governed(host.shell)
    assert host.write("cart.py", WRONG).is_refused
    assert host.checkpoint().returncode == 0
    assert host.write("cart.py", WRONG).is_allowed
    held = host.stop()
    assert held.is_refused
    assert "test_three_pens" in held.err
    assert host.write("cart.py", RIGHT).is_allowed
    ended = host.stop("The total counts every piece.", stop_hook_active=True)
    assert "red → green" in ended.notice
    (run,) = objects(host.shell("runs", "list", "--json").stdout)
    reverted = host.shell("card", "revert", str(run["run"]), "step-1", "--yes")
    assert reverted.returncode == 0, reverted.stderr
    assert (host.repo / "cart.py").read_text() == CART
