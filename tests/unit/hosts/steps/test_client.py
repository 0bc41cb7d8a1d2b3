"""Through whom a person can speak, and through whom only an agent would."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
from pathlib import Path

import pytest

from flyball.app.sessions import MCP, Session, Sessions
from flyball.errors import NotAPerson
from flyball.hosts.steps.client import (
    StepClient,
    client_above,
    client_at,
    clients_by_address,
    is_alive,
)
from flyball.hosts.steps.view import in_served_tools
from flyball.run.on_driver import CHANGE_IT
from flyball.workspace.process.process_identity import this_process

HERE = this_process()
RUN = "0101-000000-bcdf"


@pytest.fixture
def sessions(tmp_path: Path) -> Sessions:
    """A run that this very process drives."""
    found = Sessions(tmp_path)
    found.keep(Session(MCP, RUN, RUN, HERE))
    return found


def test_the_program_that_drives_a_run_has_its_person(sessions: Sessions):
    StepClient(HERE).require_person(sessions, RUN)


def test_who_joins_a_run_or_was_started_by_its_agent_has_none(sessions: Sessions):
    with pytest.raises(NotAPerson, match="Another program drives"):
        StepClient("1@0").require_person(sessions, RUN)
    with pytest.raises(NotAPerson, match="started by an agent"):
        StepClient("1@0", frozenset({HERE})).require_person(sessions, "another run")
    with pytest.raises(NotAPerson, match="CLAUDECODE is set"):
        StepClient(HERE, mark="CLAUDECODE").require_person(sessions, RUN)


def test_a_run_whose_driver_is_gone_can_be_taken_up(tmp_path: Path):
    sessions = Sessions(tmp_path)
    sessions.keep(Session(MCP, RUN, RUN, "999999999@1"))
    assert not is_alive("999999999@1") and not is_alive("") and is_alive(HERE)
    assert StepClient(HERE).may_take_up("999999999@1") and not StepClient("1@0").may_take_up(HERE)
    StepClient(HERE).require_person(sessions, RUN)
    left_behind = StepClient(HERE, client_mark="CLAUDECODE")
    assert left_behind.may_take_up("") and not left_behind.may_take_up("999999999@1")
    with pytest.raises(NotAPerson, match="CLAUDECODE is set"):
        left_behind.require_person(sessions, RUN)


def test_an_agent_that_works_on_flyball_itself_drives_its_own_run(sessions: Sessions):
    StepClient(HERE, client_mark="CLAUDECODE").require_person(sessions, RUN)


def test_remote_client_is_no_person_here(sessions: Sessions):
    server = clients_by_address({"CODEX_SANDBOX": "1"})
    assert (server.process, server.mark) == (HERE, "CODEX_SANDBOX")
    far = client_at(clients_by_address({}), ("203.0.113.9", 4321), ("192.0.2.1", 80))
    with pytest.raises(NotAPerson, match="cannot be identified"):
        far.require_person(sessions, RUN)


@pytest.mark.skipif(not Path("/proc/net/tcp").exists(), reason="needs the kernel's table")
@pytest.mark.parametrize("host", ["127.0.0.1", "::1"])
def test_a_client_at_an_address_is_the_program_at_the_other_end(sessions: Sessions, host: str):
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    with socket.create_server((host, 0), family=family) as server:
        ours = server.getsockname()[:2]
        with socket.create_connection(ours) as here:
            client_at(clients_by_address({}), here.getsockname()[:2], ours).require_person(
                sessions, RUN
            )
        other = subprocess.Popen(
            [sys.executable, "-c", f"import socket; socket.create_connection({ours!r}).recv(1)"]
        )
        server.accept()[0].close()
        connection, theirs = server.accept()
        joined = client_at(clients_by_address({}), theirs[:2], ours)
        assert joined.process.startswith(f"{other.pid}@")
        with pytest.raises(NotAPerson, match="started by an agent"):
            joined.require_person(sessions, RUN)
        connection.close()
        other.wait()


ABOVE = (
    "from flyball.hosts.steps.client import client_above\n"
    "found = client_above()\n"
    "print(found.process, found.client_mark)"
)


@pytest.mark.parametrize("mark", ["", "CLAUDECODE"])
def test_client_in_an_agents_shell_is_recognized(mark: str):
    """The one that is looked at is the program above, past any shell."""
    inner = "import subprocess, sys; subprocess.run(['sh', '-c', sys.argv[1], sys.argv[2]])"
    command = f"{sys.executable} -c '{ABOVE}'; true"
    env = {**os.environ, **({mark: "1"} if mark else {})}
    done = subprocess.run(
        [sys.executable, "-c", inner, command, "sh"], env=env, capture_output=True, text=True
    )
    process, *marks = done.stdout.split()
    assert process != client_above().process
    assert marks == ([mark] if mark else [])


@pytest.mark.parametrize(
    "text",
    [
        "Missing: the change itself. Call `edit_diff` or `write_file`; prose changes nothing.",
        "If it belongs to the work, write it with `write_file` or `edit_diff`.",
        "If it must change, name the file in `edit_diff`, `write_file` or `delete_file`.",
        "Prefer minimal diffs, by `edit_diff`; `write_file` is for new files.",
        CHANGE_IT,
    ],
)
def test_only_the_tool_that_is_served_is_named(text: str):
    told = in_served_tools(text)
    assert told.count("`edit_diff`") == 1
    assert "_file`" not in told


def test_other_words_stay():
    text = "Missing: a `checkpoint`; nothing can be changed before it."
    assert in_served_tools(text) == text
