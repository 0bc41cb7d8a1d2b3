"""Flyball's own tools do not outlive it, however it ends."""

import subprocess
import sys
from pathlib import Path

import pytest

STARTER = """
import sys
from pathlib import Path
from flyball.workspace.process.spawn import run_sync
run_sync(["/bin/sleep", "600"], cwd=Path(sys.argv[1]), env={})
"""


def children(pid):
    return Path(f"/proc/{pid}/task/{pid}/children").read_text().split()


def is_alive(pid):
    try:
        return "State:\tZ" not in Path(f"/proc/{pid}/status").read_text()
    except OSError:
        return False


@pytest.mark.exhaustive
def test_a_tool_ends_when_flyball_is_killed(tmp_path):
    own = subprocess.Popen([sys.executable, "-c", STARTER, str(tmp_path)])
    # The second child is who ends the first when nobody is left.
    while len(found := children(own.pid)) < 2:
        assert own.poll() is None
    own.kill()
    own.wait()
    while is_alive(found[0]):
        pass
