"""Whether a process that holds something still lives."""

from __future__ import annotations

import os
import re
import socket
import subprocess
import sys

import pytest
from tests.toolchains import need

from flyball.workspace.process import ancestry, process_identity
from flyball.workspace.process.process_identity import (
    ancestors,
    environ_of,
    is_gone,
    is_running,
    may_live,
    name_this_process,
    this_process,
)

NAME = "from flyball.workspace.process.process_identity import name_this_process as n; print(n())"


def test_this_process_lives_under_its_name():
    name = name_this_process()
    assert name.startswith(f"process {os.getpid()} on {socket.gethostname()} since ")
    assert may_live(name)
    assert not is_gone(name)


def test_a_process_that_has_ended_is_gone():
    ended = subprocess.run([sys.executable, "-c", NAME], capture_output=True, text=True, check=True)
    assert is_gone(ended.stdout.strip())
    assert not may_live(ended.stdout.strip())


def test_a_zombie_is_gone_though_it_still_has_its_number():
    with subprocess.Popen([sys.executable, "-c", NAME], stdout=subprocess.PIPE, text=True) as child:
        assert child.stdout is not None
        name = child.stdout.read().strip()
        os.waitid(os.P_PID, child.pid, os.WEXITED | os.WNOWAIT)
        assert is_gone(name)


def test_reused_pid_is_another_process():
    assert is_gone(re.sub(r"since \d+", "since 1", name_this_process()))


def test_processes_of_other_machines_are_unknown():
    elsewhere = name_this_process().replace(f" on {socket.gethostname()} ", " on elsewhere ")
    assert may_live(elsewhere)
    assert may_live("ada")
    assert not may_live("")


@pytest.fixture
def told_by_ps(monkeypatch, tmp_path):
    """A system that has no files about processes, as macOS."""
    need("ps")
    for each in (ancestry, process_identity):
        monkeypatch.setattr(each, "PROC", tmp_path)


def test_where_the_system_has_no_files_about_processes_ps_is_asked(told_by_ps):
    name = name_this_process()
    assert re.search(r" since \w{3}_\w{3}_\d+_[\d:]+_\d{4}$", name)
    assert may_live(name)
    assert is_gone(re.sub(r"\d{4}$", "1999", name))
    assert is_running(this_process())
    assert environ_of(this_process()) == {}


def test_ps_reports_ended_processes_and_ancestors(told_by_ps):
    sleep = [sys.executable, "-c", "input()"]
    with subprocess.Popen(sleep, stdin=subprocess.PIPE, stdout=subprocess.DEVNULL) as child:
        above = ancestors(child.pid)
        assert above[0].process == this_process()
        held = f"{child.pid}@{process_identity._started(child.pid)}"
        assert is_running(held)
        child.kill()
    assert not is_running(held)


def test_holder_is_kept_without_process_data(monkeypatch, tmp_path):
    monkeypatch.setattr(ancestry, "PROC", tmp_path)
    monkeypatch.setattr(process_identity.os, "defpath", str(tmp_path))
    assert may_live(name_this_process())
    assert ancestors(os.getpid()) == ()
