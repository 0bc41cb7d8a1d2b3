"""Hooks that find no governor: one starts behind them, is killed, or may not stay."""

from __future__ import annotations

import json
import time
from pathlib import Path

import pytest
from tests.governed import CART, Shell, objects, shop
from tests.hosts.hooking import HostSession, kill_governor
from tests.hosts.test_hooks import RIGHT, WRONG

from flyball.app.hosts.leaves import leave
from flyball.surfaces.hooks import client
from flyball.workspace.process.holder import this_process

PATIENCE = 60.0


def kept(host: HostSession, ending: str) -> Path:
    """A file that is kept of a host's session."""
    place = leave.directory(str(host.repo), host.shell.env)
    return Path(place, f"{leave.file_name(host.host, host.session)}{ending}")


def await_file(file: Path) -> None:
    until = time.monotonic() + PATIENCE
    while not file.exists():
        assert time.monotonic() < until, f"{file} never came"
        time.sleep(0.05)


def is_governed(shell: Shell) -> bool:
    return Path(client.address(str(shell.cwd), shell.env)).exists()


def test_a_session_is_remembered_and_its_governor_started_behind_its_first_hook(
    host: HostSession,
):
    began = host.hook("SessionStart", source="startup")
    assert (began.code, began.out, began.err) == (0, "", "")
    await_file(kept(host, ".json"))
    known = json.loads(kept(host, ".json").read_text())
    assert known["process"] == this_process(), "who called the hook, and not who remembers it"
    await_file(Path(client.address(str(host.repo), host.shell.env)))
    assert host.hook("SessionStart", source="startup").is_allowed
    assert "flyball checkpoint" in host.prompt().told


@pytest.mark.exhaustive
def test_a_session_that_goes_on_elsewhere_is_judged_when_it_begins(host: HostSession):
    host.prompt()
    kill_governor(host.shell)
    kept(host, ".json").write_text(kept(host, ".json").read_text().replace("@", "@1"))
    host.hook("SessionStart", source="startup")
    last = kept(host, ".json").read_text().splitlines()[-1]
    assert json.loads(last)["process"] == this_process(), "by the time the hook has ended"


def test_governors_may_be_killed_before_every_hook(host: HostSession):
    host.prompt()
    kill_governor(host.shell)
    Path(client.address(str(host.repo), host.shell.env)).unlink()
    for n in range(4):
        assert host.before("Read", f"r{n}", file_path=f"{n}.py").is_allowed
        assert not is_governed(host.shell), "its first answer has said what passes"
    assert host.before("Bash", command="some-unknown-tool").is_refused
    assert is_governed(host.shell), "which nobody knew beforehand"
    (run,) = objects(host.shell("runs", "list", "--json").stdout)
    assert run["used"] == 4, "each of them is in the journal by then"


def alone(place: Path) -> HostSession:
    """A host in a shop where no governor may stay."""
    (place / "home").mkdir()
    return HostSession(Shell(shop(place / "shop"), place / "home", FLYBALL_HOOKS_ALONE="true"))


def await_taken_up(host: HostSession) -> None:
    """Think as long as somebody looks behind the hook at what came of a call."""
    until = time.monotonic() + PATIENCE
    while not (lines := _lines(kept(host, leave.SUFFIX))) or "waits" in lines[-1]:
        assert time.monotonic() < until, "nobody took it up"
        time.sleep(0.05)


def _lines(file: Path) -> list[dict[str, object]]:
    try:
        return objects(file.read_text())
    except FileNotFoundError:
        return []


def test_where_none_may_stay_a_fix_is_held_to_all_that_it_is_held_to_elsewhere(tmp_path: Path):
    host = alone(tmp_path)
    host.prompt()
    assert host.checkpoint().returncode == 0
    assert host.write("cart.py", WRONG).is_allowed
    await_taken_up(host)
    terms = _lines(kept(host, leave.SUFFIX))[0]
    assert terms["writable"] == ["cart.py"]
    held = host.stop()
    assert held.is_refused
    assert "test_three_pens" in held.err
    assert host.write("cart.py", RIGHT).is_allowed
    await_taken_up(host)
    ended = host.stop("The total counts every piece.", stop_hook_active=True)
    assert "red → green" in ended.notice
    (run,) = objects(host.shell("runs", "list", "--json").stdout)
    reverted = host.shell("card", "revert", str(run["run"]), "step-1", "--yes")
    assert reverted.returncode == 0, reverted.stderr
    assert (host.repo / "cart.py").read_text() == CART


@pytest.mark.exhaustive
def test_where_none_may_stay_a_session_is_remembered_all_the_same(tmp_path: Path):
    host = alone(tmp_path)
    assert host.hook("SessionStart", source="startup").is_allowed
    await_file(kept(host, leave.SUFFIX))
    assert host.prompt().is_allowed
    assert not is_governed(host.shell)
