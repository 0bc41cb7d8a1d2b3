"""A full disk and a read-only directory, for real: a small file system of our own."""

import json
import subprocess
import sys

import pytest

from flyball.workspace.process.levels import SandboxLevel, detect_level

SCRIPT = """
import asyncio, json, os, pathlib, sys
from flyball.errors import FlyballError
from flyball.workspace.process import process
from flyball.workspace.sandbox import environment
from flyball.workspace.sandbox.confinement import Sandbox, SandboxLevel
from flyball.workspace.files.paths import Root

top = pathlib.Path(sys.argv[1])
root = Root(top)
told = []

def attempt(deed):
    try:
        deed()
        told.append("no error")
    except FlyballError as error:
        told.append(f"{error.code}: {error}")

def command(log):
    sandbox = Sandbox(level=SandboxLevel.NONE, root=top)
    env = environment.clean(os.environ)
    asking = process.run("echo the result", cwd=top, env=env, sandbox=sandbox, log=log)
    return asyncio.run(asking)

root.write_bytes("kept", b"old")
attempt(lambda: root.write_bytes("kept", os.urandom(1 << 20)))
told.append(root.read_bytes("kept").decode())
told.append(sorted(root.walk()))
with (top / "filler").open("wb", buffering=0) as filler:
    try:
        while filler.write(os.urandom(4096)) == 4096:
            pass
    except OSError:
        pass
ended = command(top / "log")
told.append([ended.exit_code, ended.output])
os.environ["TMPDIR"] = str(top)
import tempfile
tempfile.tempdir = str(top)
os.system(f"mount -o remount,ro {top}")
attempt(lambda: root.write_bytes("kept", b"new"))
attempt(lambda: root.write_bytes("dir/new", b"new"))
attempt(lambda: root.delete("kept"))
attempt(lambda: command(None))
told.append(root.read_bytes("kept").decode())
print(json.dumps(told))
"""


@pytest.mark.skipif(
    detect_level() is not SandboxLevel.NAMESPACES,
    reason="a small disk of our own needs a mount namespace",
)
def test_a_full_or_read_only_disk_is_told_in_a_sentence_and_loses_nothing(tmp_path):
    make = f'mount -t tmpfs -o size=256k none {tmp_path} && exec "$0" "$@"'
    done = subprocess.run(
        ["unshare", "-rm", "sh", "-c", make, sys.executable, "-c", SCRIPT, str(tmp_path)],
        capture_output=True,
        text=True,
        timeout=600,
    )
    assert done.returncode == 0, done.stderr
    full, kept, files, ended, changed, made, deleted, started, still = json.loads(done.stdout)
    assert full == ("tool: Could not write kept: the disk is full. Free some space and try again.")
    assert (kept, files, still) == ("old", ["kept"], "old")
    assert ended[0] == 0
    assert ended[1].startswith("the result\n")
    assert "could not be kept: No space left on device" in ended[1]
    for sentence in (changed, made, deleted):
        assert "the file system is read-only" in sentence
        assert sentence.endswith(".")
    assert "needs a temporary directory" in started
    assert "Read-only file system" in started
