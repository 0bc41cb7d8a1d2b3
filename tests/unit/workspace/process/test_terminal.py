"""Terminals of persons, and terminals that an agent opened for itself."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

import pytest

from flyball.workspace.process.terminal import has_terminal, objection_to_terminal

SCOPE = "/user.slice/user-1000.slice/session-2.scope"
AGENT = 300


class Fake(NamedTuple):
    """A process: its program, the one above it, its session, when it began, and its unit."""

    program: str
    parent: int
    session: int
    began: int
    unit: str = SCOPE
    terminal: int = 34816
    foreground: int = 0
    user: int = 1000


@pytest.fixture
def proc(tmp_path: Path) -> Path:
    return tmp_path


def build(proc: Path, **more: Fake) -> int:
    """A machine on which an agent runs in an old terminal; the last process is who speaks."""
    known = {
        "p1": Fake("systemd", 0, 1, 1, "/init.scope", 0),
        "p100": Fake("sshd", 1, 100, 10),
        "p200": Fake("bash", 100, 200, 200),
        f"p{AGENT}": Fake("claude", 200, 200, 1000),
        **more,
    }
    for name, each in known.items():
        pid = int(name[1:])
        place = proc / str(pid)
        place.mkdir()
        group = pid
        fields = ["S", each.parent, group, each.session, each.terminal, each.foreground or group]
        fields += [0] * 13 + [each.began]
        (place / "stat").write_text(f"{pid} ({each.program}) {' '.join(map(str, fields))}\n")
        (place / "status").write_text(f"Name:\t{each.program}\nUid:\t{each.user}\t0\n")
        (place / "cgroup").write_text(f"0::{each.unit}\n")
    return int([*known][-1][1:])


PERSONS = {
    "a shell that was there before": {"p400": Fake("flyball", 200, 200, 2000)},
    "a new login by ssh": {
        "p500": Fake("sshd", 100, 500, 1900, "/user.slice/session-9.scope"),
        "p501": Fake("bash", 500, 501, 1901, "/user.slice/session-9.scope"),
        "p502": Fake("flyball", 501, 501, 2000, "/user.slice/session-9.scope"),
    },
    "a window of an old terminal emulator or editor": {
        "p150": Fake("code", 1, 150, 50, terminal=0),
        "p501": Fake("zsh", 150, 501, 1901),
        "p502": Fake("flyball", 501, 501, 2000),
    },
    "a new tmux in a new login": {
        "p510": Fake("tmux: server", 1, 510, 1905, "/user.slice/session-9.scope", 0),
        "p511": Fake("bash", 510, 511, 1906, "/user.slice/session-9.scope"),
        "p512": Fake("flyball", 511, 511, 2000, "/user.slice/session-9.scope"),
    },
    "a terminal that the desktop has just started": {
        "p600": Fake("systemd", 1, 600, 20, "/user.slice/init.scope", 0),
        "p601": Fake("gnome-terminal-", 600, 601, 1900, "/app.slice/app-gnome-1.scope", 0),
        "p602": Fake("bash", 601, 602, 1901, "/app.slice/vte-spawn-7.scope"),
        "p603": Fake("flyball", 602, 602, 2000, "/app.slice/vte-spawn-7.scope"),
    },
    "what another user has opened": {
        "p400": Fake("SessionLeader", 1, 400, 1500, user=0),
        "p401": Fake("bash", 400, 401, 1501),
        "p402": Fake("flyball", 401, 401, 2000),
    },
    "somebody who came into a container from outside": {
        "p700": Fake("bash", 0, 700, 1900),
        "p701": Fake("flyball", 700, 700, 2000),
    },
}


@pytest.mark.parametrize("name", PERSONS)
def test_terminal_of_a_person_is_accepted(name: str, proc: Path):
    assert objection_to_terminal(build(proc, **PERSONS[name]), [AGENT], proc) == ""


AGENTS = {
    "script, left behind in a session of its own": (
        {"p400": Fake("script", 1, 400, 1500), "p401": Fake("flyball", 400, 401, 1501)},
        "began after the agent",
    ),
    "the same, adopted by the user's own systemd": (
        {
            "p350": Fake("systemd", 1, 350, 20, "/user.slice/init.scope", 0),
            "p400": Fake("script", 350, 400, 1500),
            "p401": Fake("sh", 400, 401, 1501),
            "p402": Fake("flyball", 401, 401, 1502),
        },
        "began after the agent",
    ),
    "a process of nobody's at the agent's terminal": (
        {"p400": Fake("flyball", 1, 200, 1500)},
        "the shell of its terminal did not start it",
    ),
    "a background job": (
        {"p400": Fake("flyball", 200, 200, 1500, foreground=AGENT)},
        "in the background",
    ),
    "a daemon with an open terminal": (
        {"p400": Fake("flyball", 1, 400, 1500, terminal=0)},
        "no terminal of its own",
    ),
    "a job for the clock": (
        {
            "p90": Fake("cron", 1, 90, 5, "/system.slice/cron.service", 0),
            "p400": Fake("script", 90, 400, 1500, "/system.slice/cron.service"),
            "p401": Fake("flyball", 400, 401, 1501, "/system.slice/cron.service"),
        },
        "cron started it",
    ),
    "a unit of its own": (
        {"p401": Fake("flyball", 1, 401, 1501, "/user.slice/app.slice/run-u12.service")},
        "a unit that anybody can start",
    ),
}


@pytest.mark.parametrize("name", AGENTS)
def test_terminal_of_an_agent_is_refused(name: str, proc: Path):
    processes, why = AGENTS[name]
    assert why in objection_to_terminal(build(proc, **processes), [AGENT], proc)


@pytest.mark.parametrize(
    ("stdin", "attended"), [("/dev/pts/3", True), ("/dev/null", False), ("pipe:[77]", False)]
)
def test_a_person_can_type_only_into_a_terminal(proc: Path, stdin: str, attended: bool):
    (proc / "300/fd").mkdir(parents=True)
    (proc / "300/fd/0").symlink_to(stdin)
    assert has_terminal("300@1000", proc) is attended
    assert has_terminal("301@1000", proc), "where it is not told, one can"


def test_terminal_is_accepted_without_process_data(proc: Path):
    assert objection_to_terminal(7, [AGENT], proc) == ""
