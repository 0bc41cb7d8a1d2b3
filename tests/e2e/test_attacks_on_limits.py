"""Attacks on the limit of memory, and on the walls by namespaces of one's own, really run.

Each is tried by every means that works here. What must still work (threads, children, a little
shared memory) is tried beside them: a wall that breaks honest programs would be taken down.
"""

from __future__ import annotations

import asyncio
import os
import sys
from pathlib import Path

import pytest

from flyball.workspace.process import process
from flyball.workspace.process.levels import Mechanism, Sandbox
from flyball.workspace.process.process import CommandLimits
from flyball.workspace.process.spawn import Finished
from flyball.workspace.sandbox import environment

MEANS = [m for m in Mechanism if m is not Mechanism.NONE and process.works(m)]
LIMITS = CommandLimits(seconds=120, memory=300 << 20)

CALLS = """
import ctypes, os, platform, struct, sys
libc = ctypes.CDLL(None, use_errno=True)
big = platform.machine() == "x86_64"
CLONE, SHMGET, SHMAT, SHMDT = (56, 29, 30, 67) if big else (220, 194, 196, 197)
def tried(result):
    if result == 0 and os.getpid() != me: os._exit(0)
    print("refused" if result < 0 else "let through")
me = os.getpid()
"""
NAMESPACES = {
    **{
        f"clone with new {name}": f"tried(libc.syscall(CLONE, {flag:#x} | 17, 0, 0, 0, 0))"
        for name, flag in {
            "users": 0x10000000,
            "users and network": 0x50000000,
            "mounts": 0x20000,
            "processes": 0x20000000,
            "names": 0x4000000,
            "IPC": 0x8000000,
            "cgroups": 0x2000000,
            "users, by flags above 32 bits": 0x1_10000000,
        }.items()
    },
    "clone3": (
        "args = struct.pack('=8Q', 0x10000000, 0, 0, 0, 17, 0, 0, 0); "
        "tried(libc.syscall(435, args, 64))"
    ),
    "clone3 with a network": (
        "args = struct.pack('=11Q', 0x50000000, 0, 0, 0, 17, *[0] * 6); "
        "tried(libc.syscall(435, args, 88))"
    ),
    "unshare users": "tried(libc.unshare(0x10000000))",
    "unshare time": "tried(libc.unshare(0x80))",
    "setns": "tried(libc.setns(os.open('/proc/self/ns/net', 0), 0))",
    "setns by process": "tried(libc.syscall(308 if big else 268, os.pidfd_open(me), 0x40000000))",
    "the unshare program": (
        "import subprocess; tried(-subprocess.run(['unshare', '-Urn', 'true']).returncode)"
    ),
}

FULL = "print('filled', flush=True); import time; time.sleep(100)"
MIB = "b = bytes(1 << 20); "
MEMORY = {
    "one file in /dev/shm": (
        f"{MIB}f = open('/dev/shm/f', 'wb', 0); [f.write(b) for _ in range(900)]"
    ),
    "many files in /dev/shm": (
        f"{MIB}[open(f'/dev/shm/{{n}}', 'wb', 0).write(b) for n in range(900)]"
    ),
    "a removed file in /dev/shm": (
        f"{MIB}f = open('/dev/shm/f', 'wb', 0); os.unlink('/dev/shm/f'); "
        "[f.write(b) for _ in range(900)]"
    ),
    "allocated and never written": (
        "f = os.open('/dev/shm/f', os.O_RDWR | os.O_CREAT); os.posix_fallocate(f, 0, 900 << 20)"
    ),
    "shared memory of the standard library": (
        f"{MIB}from multiprocessing.shared_memory import SharedMemory as S\\n"
        "s = [S(create=True, size=300 << 20) for _ in range(3)]\\n"
        "for x in s:\\n    for n in range(300): x.buf[n << 20:(n + 1) << 20] = b"
    ),
    "a memfd": f"{MIB}f = os.memfd_create('f'); [os.write(f, b) for _ in range(900)]",
    "many memfds": f"{MIB}[os.write(os.memfd_create('f'), b) for n in range(900)]",
    "a secret memfd": (
        "f = libc.syscall(447, 0)\\nassert f >= 0\\nos.ftruncate(f, 900 << 20)\\n"
        "import mmap; m = mmap.mmap(f, 900 << 20)\\nfor n in range(900): m[n << 20] = 1"
    ),
    "detached segments": (
        "libc.syscall.restype = ctypes.c_long\\n"
        "for n in range(9):\\n"
        "    i = libc.syscall(SHMGET, 0, ctypes.c_size_t(100 << 20), 0o1600)\\n"
        "    assert i >= 0\\n"
        "    a = libc.syscall(SHMAT, i, None, 0)\\n"
        "    ctypes.memset(ctypes.c_void_p(a), 1, 100 << 20)\\n"
        "    libc.syscall(SHMDT, ctypes.c_void_p(a))"
    ),
    "plain pages": "x = bytearray(900 << 20)",
}


def run(code: str, root: Path, means: Mechanism, limits: CommandLimits = LIMITS) -> Finished:
    script = root / "attack.py"
    script.write_text(CALLS + code.replace("\\n", "\n") + "\n")
    env = environment.clean(os.environ, workspace=root)
    box = Sandbox(level=means.level, root=root, mechanism=means)
    command = f"{sys.executable} -I -S attack.py"
    return asyncio.run(process.run(command, cwd=root, env=env, sandbox=box, limits=limits))


@pytest.mark.exhaustive
@pytest.mark.parametrize("means", MEANS)
@pytest.mark.parametrize("code", NAMESPACES.values(), ids=list(NAMESPACES))
def test_no_namespace_of_its_own(tmp_path: Path, code: str, means: Mechanism):
    end = run(code, tmp_path, means)
    assert "let through" not in end.output, end.output
    assert "refused" in end.output, end.output


@pytest.mark.exhaustive
@pytest.mark.parametrize("means", MEANS)
@pytest.mark.parametrize("code", MEMORY.values(), ids=list(MEMORY))
def test_no_memory_past_the_limit(tmp_path: Path, code: str, means: Mechanism):
    end = run(f"{code}\n{FULL}", tmp_path, means)
    assert not end.timed_out
    assert end.over_limit == "memory" or "filled" not in end.output, end.output
    assert not end.ok


@pytest.mark.exhaustive
@pytest.mark.parametrize("means", MEANS)
def test_honest_programs_still_have_threads_and_children(tmp_path: Path, means: Mechanism):
    honest = (
        "import subprocess, threading, multiprocessing\n"
        "t = threading.Thread(target=print, args=('thread',)); t.start(); t.join()\n"
        "subprocess.run(['echo', 'child'], check=True)\n"
        "os.posix_spawn('/bin/echo', ['echo', 'spawned'], {}); os.wait()\n"
        "sys.stdout.flush()\n"
        "if os.fork() == 0: print('forked', flush=True); os._exit(0)\n"
        "os.wait()"
    )
    end = run(honest, tmp_path, means)
    assert end.ok, end.output
    assert {"thread", "child", "spawned", "forked"} <= set(end.output.split())


@pytest.mark.exhaustive
def test_a_little_shared_memory_is_there_in_namespaces(tmp_path: Path):
    code = f"{MIB}open('/dev/shm/f', 'wb', 0).write(b); print('fits')"
    end = run(code, tmp_path, MEANS[0])
    assert ("fits" in end.output) is (MEANS[0] is not Mechanism.LANDLOCK), end.output
