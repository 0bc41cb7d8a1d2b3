"""Hooks that find no governor: one starts behind them, is killed, or may not stay."""

from __future__ import annotations

import json
import time
from pathlib import Path

from tests.governed import Shell, objects, shop
from tests.hosts.hooking import HostSession, kill_governor

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


def test_where_none_may_stay_a_session_is_remembered_all_the_same(tmp_path: Path):
    (tmp_path / "home").mkdir()
    shell = Shell(shop(tmp_path / "shop"), tmp_path / "home", FLYBALL_HOOKS_ALONE="true")
    host = HostSession(shell)
    assert host.hook("SessionStart", source="startup").is_allowed
    await_file(kept(host, leave.SUFFIX))
    assert host.prompt().is_allowed
    assert not is_governed(shell)
