import subprocess
import sys
import time
from pathlib import Path

import pytest

from flyball.errors import ToolTimeout, ToolUnavailable
from flyball.workspace.process.spawn import Companion, run_sync


def test_own_tools_answer_with_both_streams_apart(tmp_path):
    env = {"PATH": "/usr/bin:/bin"}
    done = run_sync(["sh", "-c", "cat; echo e >&2; exit 4"], cwd=tmp_path, env=env, stdin=b"i")
    assert (done.exit_code, done.stdout, done.stderr) == (4, b"i", b"e\n")


def test_missing_or_slow_tools_are_reported(tmp_path):
    with pytest.raises(ToolUnavailable, match="no program 'git-of-nowhere'"):
        run_sync(["git-of-nowhere"], cwd=tmp_path, env={})
    began = time.monotonic()
    with pytest.raises(ToolTimeout, match="did not finish within"):
        run_sync(["/bin/sleep", "600"], cwd=tmp_path, env={}, seconds=0.2)
    assert time.monotonic() - began < 300


def test_a_companion_answers_line_by_line_until_it_is_gone(tmp_path: Path):
    asked = Companion(("/bin/sh", "-c", "read -r a; echo got $a"), cwd=tmp_path, env={})
    assert asked.ask(b"one") == b"got one\n"
    with pytest.raises(ToolUnavailable, match="has ended"):
        asked.ask(b"two")
    asked.close()
    with pytest.raises(ToolUnavailable, match="could not be started"):
        Companion(("/nowhere/at/all",), cwd=tmp_path, env={})


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
