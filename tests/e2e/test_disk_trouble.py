"""A full disk and a read-only directory, for real: a small file system of our own."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from tests.repos import put, repository

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

def attempt(action):
    try:
        action()
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


GOVERNED = """
import json, os, pathlib, subprocess, sys
shop, state = (pathlib.Path(each) for each in sys.argv[1:])
beside = pathlib.Path(sys.executable)
told = []

def hook(name, **fields):
    payload = {"session_id": "s", "transcript_path": "", "cwd": str(shop), "hook_event_name": name}
    done = subprocess.run(
        [beside.with_name("flyball-hook"), "claude"], capture_output=True, text=True,
        input=json.dumps({**payload, **fields}),
    )
    told.append([name, done.returncode, done.stdout, done.stderr])

def use(tool, **arguments):
    hook("PreToolUse", tool_name=tool, tool_use_id=f"t{len(told)}", tool_input=arguments)

def attempt(*words):
    done = subprocess.run(
        [beside.with_name("flyball"), *words], cwd=shop, capture_output=True, text=True
    )
    told.append([words[0], done.returncode, done.stdout, done.stderr])

with (state / "filler").open("wb", buffering=0) as filler:
    for size in (65536, 4096, 1):
        try:
            while filler.write(bytes(size)):
                pass
        except OSError:
            pass
hook("UserPromptSubmit", prompt="fix the failing test")
use("Read", file_path=str(shop / "a.py"))
use("Write", file_path=str(shop / "a.py"), content="x = 2")
attempt("run", "the tests fail, fix it")
(state / "filler").unlink()
hook("UserPromptSubmit", prompt="fix the failing test")
os.system(f"mount -t tmpfs -o ro none {state}")
attempt("run", "the tests fail, fix it")
print(json.dumps(told))
"""


@pytest.mark.exhaustive
@pytest.mark.skipif(
    detect_level() is not SandboxLevel.NAMESPACES,
    reason="a small disk of our own needs a mount namespace",
)
def test_hooks_and_commands_say_that_the_disk_is_full_and_go_on_when_it_is_not(tmp_path: Path):
    shop = repository(tmp_path / "shop", {"a.py": "x = 1\n", "test_a.py": "import a\n"})
    state = tmp_path / "state"
    (tmp_path / "home").mkdir()
    state.mkdir()
    make = f'mount -t tmpfs -o size=4m none {state} && exec "$0" "$@"'
    environ = {
        "PATH": os.environ["PATH"],
        "HOME": str(tmp_path / "home"),
        "FLYBALL_STATE_DIR": str(state),
        # Every hook decides by itself.
        "FLYBALL_HOOKS_ALONE": "1",
    }
    command = ["unshare", "-rm", "sh", "-c", make, sys.executable, "-c", GOVERNED]
    done = subprocess.run(
        [*command, str(shop), str(state)], capture_output=True, text=True, env=environ, timeout=600
    )
    assert done.returncode == 0, done.stderr
    prompt, read, write, run, again, unwritable = json.loads(done.stdout)
    for _, _, out, said in (prompt, write, run):
        assert (out, "is full; nothing was lost" in said) == ("", True), said
    assert read[2:] == ["", ""], "what only reads needs no journal"
    assert [each[1] for each in (prompt, read, write, run)] == [1, 0, 2, 1], "only writes are held"
    assert (again[1], "Phase recon" in again[2]) == (0, True)
    assert unwritable[1] == 1
    assert "error[not-writable]" in unwritable[3]


COMMITTED_LATE = """
import json, pathlib, subprocess, sys
shop, script = (pathlib.Path(each) for each in sys.argv[1:])
flyball = pathlib.Path(sys.executable).with_name("flyball")
told = []

def attempt(*words):
    done = subprocess.run([flyball, *words], cwd=shop, capture_output=True, text=True)
    told.append([done.returncode, done.stderr + done.stdout])

for command in ("init -q -b main", "add -A", "commit -qm one"):
    subprocess.run(["git", *command.split()], cwd=shop, check=True)
words = [flyball, "run", "--json", "--driver", f"scripted:{script}", "total is wrong, fix it"]
running = subprocess.Popen(words, cwd=shop, stdout=subprocess.PIPE, text=True)
for line in running.stdout:
    if json.loads(line).get("phase") == "verify":
        with (shop.parent / "filler").open("wb", buffering=0) as filler:
            try:
                while filler.write(bytes(4096)):
                    pass
            except OSError:
                pass
told.append([running.wait(), line])
attempt("runs", "merge", "last")
(shop.parent / "filler").unlink()
attempt("runs", "resume", "last")
attempt("runs", "merge", "last")
told.append((shop / "shop.py").read_text())
print(json.dumps(told))
"""


@pytest.mark.exhaustive
@pytest.mark.skipif(
    detect_level() is not SandboxLevel.NAMESPACES,
    reason="a small disk of our own needs a mount namespace",
)
def test_a_full_disk_of_the_project_at_the_commit_is_a_pause(tmp_path: Path):
    disk, files = tmp_path / "disk", tmp_path / "files"
    for place in (disk, files, tmp_path / "home"):
        place.mkdir()
    test = "from shop import total\n\ndef test_total():\n    assert total([1, 2]) == 3\n"
    put(files, {"shop.py": "def total(p):\n    return sum(p[1:])\n", "test_shop.py": test})
    diff = "--- a/shop.py\n+++ b/shop.py\n@@ -2 +2 @@\n-    return sum(p[1:])\n+    return sum(p)\n"
    plan = {"goal": "Total adds all", "findings": "It skips the first.", "files": ["shop.py"]}
    plan |= {"proposed_action": "Fix the slice.", "verify_with": ["test"]}
    calls = [{"tool": "checkpoint", "args": plan}, {"tool": "edit_diff", "args": {"diff": diff}}]
    replies = [*({"calls": [call]} for call in calls), {"text": "Fixed."}]
    script = tmp_path / "script.jsonl"
    script.write_text("".join(f"{json.dumps(reply)}\n" for reply in replies))
    make = f'mount -t tmpfs -o size=3m none {disk} && cp -r {files} {disk}/shop && exec "$0" "$@"'
    names = {f"GIT_{who}_NAME": "a" for who in ("AUTHOR", "COMMITTER")}
    names |= {f"GIT_{who}_EMAIL": "a" for who in ("AUTHOR", "COMMITTER")}
    command = ["unshare", "-rm", "sh", "-c", make, sys.executable, "-c", COMMITTED_LATE]
    done = subprocess.run(
        [*command, str(disk / "shop"), str(script)],
        capture_output=True,
        text=True,
        env={
            "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}",
            "HOME": str(tmp_path / "home"),
            "FLYBALL_STATE_DIR": str(tmp_path / "state"),
            **names,
        },
        timeout=600,
    )
    assert done.returncode == 0, done.stderr
    run, early, resumed, merged, content = json.loads(done.stdout)
    assert (run[0], f"holds {disk}/shop/.git/objects is full" in run[1]) == (1, True), run
    assert (early[0], "nothing-to-merge" in early[1], "runs resume" in early[1]) == (2, True, True)
    assert (resumed[0], merged[0]) == (0, 0), resumed[1]
    assert content.endswith("sum(p)\n")


LOOK = """
import asyncio, json, os, pathlib, sys
from flyball.doctor.examine import examine_state
from flyball.app.project import open_home

top = pathlib.Path(sys.argv[1])
home = open_home(top, {"HOME": str(top), "FLYBALL_STATE_DIR": str(top / "state")}, {})
told = [asyncio.run(examine_state(home))]
os.system(f"mount -o remount,ro {top}")
told.append(asyncio.run(examine_state(home)))
print(json.dumps(told))
"""


@pytest.mark.skipif(
    detect_level() is not SandboxLevel.NAMESPACES,
    reason="a small disk of our own needs a mount namespace",
)
def test_doctor_sees_a_disk_with_too_little_room_and_one_that_cannot_be_written(tmp_path):
    make = f'mount -t tmpfs -o size=2m none {tmp_path} && exec "$0" "$@"'
    done = subprocess.run(
        ["unshare", "-rm", "sh", "-c", make, sys.executable, "-c", LOOK, str(tmp_path)],
        capture_output=True,
        text=True,
        timeout=600,
    )
    assert done.returncode == 0, done.stderr
    full, read_only = ({row[0]: row for row in rows} for rows in json.loads(done.stdout))
    _, holds, seen, hint, blocks = full["disk of the state"]
    assert (holds, blocks) == (False, True)
    assert "2.1 MB free" in seen
    assert "too little for a run" in seen
    assert "flyball runs prune" in hint
    assert full["disk of the project"][4] is True
    assert full["state"][1] is True
    assert read_only["state"][4] is True
    assert "Read-only file system" in read_only["state"][2]


COMMITTED = """
import json, os, pathlib, sys
sys.path.insert(0, sys.argv[3])
from tests.repos import git, put, repository
from flyball.errors import FlyballError
from flyball.workspace.cards.use_cases import ProjectPlaces, merge
from flyball.workspace.run.opening import open_workspace

disk, state = pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2])
shop = repository(disk / "shop", {"a.txt": "one\\n"})
told = []
def attempt(action):
    try:
        action()
        told.append("")
    except FlyballError as error:
        told.append(f"{error.code}: {error}")

filler = disk / "filler"
with filler.open("wb", buffering=0) as file:
    try:
        while file.write(bytes(4096)) == 4096:
            pass
    except OSError:
        pass
attempt(lambda: open_workspace(shop, "r", state, in_place=False, home=state))
filler.unlink()
with open_workspace(shop, "r", state, in_place=False, home=state) as workspace:
    put(workspace.root, {"big.bin": os.urandom(2 << 20)})
    attempt(lambda: workspace.commit_card("r", "c1", "Big"))
    os.system(f"mount -o remount,size=32m {disk}")
    attempt(lambda: workspace.commit_card("r", "c1", "Big"))
attempt(lambda: merge(ProjectPlaces(shop, state, state), "r"))
told.append(git(shop, "status", "--porcelain") + git(shop, "log", "-1", "--format=%s").strip())
print(json.dumps(told))
"""


@pytest.mark.skipif(
    detect_level() is not SandboxLevel.NAMESPACES,
    reason="a small disk of our own needs a mount namespace",
)
def test_a_full_disk_of_the_project_is_named_and_the_commit_made_once_there_is_room(tmp_path: Path):
    disk, state = tmp_path / "disk", tmp_path / "state"
    disk.mkdir()
    state.mkdir()
    make = f'mount -t tmpfs -o size=1m none {disk} && exec "$0" "$@"'
    places = [os.fspath(each) for each in (disk, state, Path(__file__).parents[2])]
    done = subprocess.run(
        ["unshare", "-rm", "sh", "-c", make, sys.executable, "-c", COMMITTED, *places],
        capture_output=True,
        text=True,
        timeout=600,
    )
    assert done.returncode == 0, done.stderr
    begun, full, again, merged, end = json.loads(done.stdout)
    for told in (begun, full):
        assert told.startswith(f"disk-full: The disk that holds {disk}")
    assert (again, merged, end) == ("", "", "Big")
