"""One process at a time in a tree, and nobody while a git of a killed one is still at work."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

from flyball.workspace.run.lock import WorkspaceLock

HOLDER = """
import sys
from pathlib import Path
from flyball.workspace.run.lock import WorkspaceLock
from flyball.workspace.trees.git import Git

place = Path(sys.argv[1])
lock = WorkspaceLock(place / "lock", "the place")
Git(place, program=str(place / "slow-git"), door=lock).call("status")
"""
SLOW = f"""#!{sys.executable}
import os
from pathlib import Path

# In a session of its own, where it is not ended together with the process that began it.
if os.fork():
    os._exit(0)
os.setsid()
Path("begun").write_text("begun")
Path("go").read_text()
Path("ended").touch()
"""


def test_a_git_that_outlives_its_process_keeps_others_out(tmp_path: Path):
    program = tmp_path / "slow-git"
    program.write_text(SLOW)
    program.chmod(0o755)
    os.mkfifo(tmp_path / "go")
    os.mkfifo(tmp_path / "begun")
    holder = subprocess.Popen([sys.executable, "-c", HOLDER, str(tmp_path)])
    assert (tmp_path / "begun").read_text() == "begun"
    holder.send_signal(signal.SIGKILL)
    holder.wait()

    later = f"import time; time.sleep(0.5); open({str(tmp_path / 'go')!r}, 'w').write('on')"
    with subprocess.Popen([sys.executable, "-c", later]):
        lock = WorkspaceLock(tmp_path / "lock", "the place")
        assert (tmp_path / "ended").exists()
    lock.release()
