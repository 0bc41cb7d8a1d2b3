"""Hooks or state that disappear during a session, as the hook executable tells of it."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.governed import CART, objects
from tests.hosts.hooking import HostSession

RIGHT = CART.replace("result += price", "result += price * quantity")


def begun(host: HostSession) -> Path:
    """The user's settings with our hooks, and a mended cart."""
    assert host.shell("init", "--host", "claude", "--yes").returncode == 0
    host.prompt()
    host.checkpoint()
    assert host.write("cart.py", RIGHT).is_allowed
    return Path(host.shell.env["HOME"], ".claude/settings.json")


def test_a_script_that_empties_the_users_settings_verifies_nothing(host: HostSession):
    settings = begun(host)
    settings.write_text("{}")
    stopped = host.stop()
    assert str(settings) in stopped.notice
    (run,) = objects(host.shell("runs", "list", "--json").stdout)
    assert run["status"] == "unverified"
    told = host.prompt("thanks, now add a discount")
    assert str(settings) in told.told
    assert str(settings) in told.notice


@pytest.mark.parametrize("has_called", [False, True])
def test_deleted_state_is_noticed_at_the_stop(host: HostSession, *, has_called: bool):
    begun(host)
    # At once, as the governor may be preparing the next run there.
    state = Path(host.shell.env["FLYBALL_STATE_DIR"])
    state.rename(state.with_name("gone"))
    if has_called:
        host.checkpoint()
        host.write("cart.py", f"{RIGHT}# more\n")
    stopped = host.stop()
    assert "state of this session was deleted" in f"{stopped.err}{stopped.notice}"
    assert "success" not in stopped.notice
    assert "state of this session was deleted" in host.prompt().told


def test_an_ordinary_session_hears_nothing_of_it(host: HostSession):
    settings = begun(host)
    for said in (host.stop(), host.prompt("thanks"), host.end(), host.prompt(), host.end()):
        words = f"{said.told}{said.notice}{said.err}"
        assert str(settings) not in words
        assert "deleted" not in words
