"""Whether a process that holds something still lives."""

from __future__ import annotations

import os
import re
import socket
import subprocess
import sys

from flyball.workspace.process.holder import is_gone, may_live, name_this_process

NAME = "from flyball.workspace.process.holder import name_this_process as n; print(n())"


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


def test_a_number_that_was_given_out_again_is_not_the_same_process():
    assert is_gone(re.sub(r"since \d+", "since 1", name_this_process()))


def test_of_another_machine_or_an_unknown_name_nobody_can_tell():
    elsewhere = name_this_process().replace(f" on {socket.gethostname()} ", " on elsewhere ")
    assert may_live(elsewhere)
    assert may_live("ada")
    assert not may_live("")
