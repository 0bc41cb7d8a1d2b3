"""Landlock, the kernel's interface for a process to restrict itself, through three system calls.

This also runs in the bare interpreter between Flyball and each command, so it imports nothing that
is slow to load. See docs/decisions/0009-landlock-binding.md.
"""

from __future__ import annotations

import ctypes
import os
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

_CREATE_RULESET, _ADD_RULE, _RESTRICT_SELF = 444, 445, 446
_VERSION_FLAG = 1
_RULE_PATH = 1
_KIND, _DIRECTORY = 0o170000, 0o040000

EXECUTE, WRITE_FILE, READ_FILE, READ_DIR = 1 << 0, 1 << 1, 1 << 2, 1 << 3
REMOVE_DIR, REMOVE_FILE = 1 << 4, 1 << 5
MAKE_CHAR, MAKE_DIR, MAKE_REG, MAKE_SOCK = 1 << 6, 1 << 7, 1 << 8, 1 << 9
MAKE_FIFO, MAKE_BLOCK, MAKE_SYM = 1 << 10, 1 << 11, 1 << 12
REFER, TRUNCATE, IOCTL_DEV = 1 << 13, 1 << 14, 1 << 15

READ = EXECUTE | READ_FILE | READ_DIR
CHANGE = WRITE_FILE | REMOVE_DIR | REMOVE_FILE | MAKE_DIR | MAKE_REG | MAKE_SOCK
WRITE = READ | CHANGE | MAKE_FIFO | MAKE_SYM | REFER | TRUNCATE
"""Creating devices is excluded: one in the workspace would give a privileged user the disk."""
AROUND_HIDDEN = WRITE & ~(READ_FILE | EXECUTE)
"""For a directory that contains unreadable entries: a new entry can be written, but is readable
only after a later start, which finds it there.
"""
DEVICE = READ_FILE | WRITE_FILE | TRUNCATE
ON_A_FILE = EXECUTE | READ_FILE | WRITE_FILE | TRUNCATE | IOCTL_DEV

TCP = 0b11
SCOPES = 0b11


class _Ruleset(ctypes.Structure):
    _fields_ = (
        ("files", ctypes.c_uint64),
        ("ports", ctypes.c_uint64),
        ("scopes", ctypes.c_uint64),
    )


class _Beneath(ctypes.Structure):
    _pack_ = 1
    # The kernel packs this structure without padding; newer Pythons require the layout of packed
    # structures.
    _layout_ = "ms"
    _fields_ = (("access", ctypes.c_uint64), ("parent", ctypes.c_int32))


class LandlockError(OSError):
    """The kernel rejected the rules."""


def abi() -> int:
    """Return the kernel's Landlock version; 0 if unsupported."""
    if sys.platform != "linux":
        return 0
    try:
        libc = ctypes.CDLL(None, use_errno=True)
        return max(0, _call(libc, _CREATE_RULESET, None, 0, _VERSION_FLAG))
    except OSError:
        return 0


def handled_files(version: int) -> int:
    """Return every kind of file access that this version can refuse."""
    # A kernel refuses a ruleset with unknown rights, so only those of its own version are
    # requested.
    newest = {1: MAKE_SYM, 2: REFER, 3: TRUNCATE, 4: TRUNCATE}.get(version, IOCTL_DEV)
    return (newest << 1) - 1


def restrict(grants: Iterable[tuple[str, int]], *, network: bool) -> None:
    """Restrict this process and its children to these paths' file accesses."""
    version = abi()
    if not version:
        raise LandlockError("this kernel has no Landlock")
    files = handled_files(version)
    ports = TCP if version >= 4 and not network else 0
    rules = _Ruleset(files, ports, SCOPES if version >= 6 else 0)
    # The same for the structure: an older kernel accepts only the fields it knows.
    size = 24 if version >= 6 else 16 if version >= 4 else 8
    libc = ctypes.CDLL(None, use_errno=True)
    ruleset = _call(libc, _CREATE_RULESET, ctypes.byref(rules), size, 0)
    try:
        for path, access in grants:
            _grant(libc, ruleset, path, access & files)
        _call(libc, _RESTRICT_SELF, ruleset, 0)
    finally:
        os.close(ruleset)


def _grant(libc: ctypes.CDLL, ruleset: int, path: str, access: int) -> None:
    try:
        # O_PATH: a path can be granted that this process itself may not read.
        fd = os.open(path, os.O_PATH | os.O_CLOEXEC)
    except OSError:
        return  # a missing path needs no grant
    try:
        if os.fstat(fd).st_mode & _KIND != _DIRECTORY:
            # Rights for directories are an error on a file.
            access &= ON_A_FILE
        _call(libc, _ADD_RULE, ruleset, _RULE_PATH, ctypes.byref(_Beneath(access, fd)), 0)
    finally:
        os.close(fd)


def _call(libc: ctypes.CDLL, number: int, *arguments: object) -> int:
    result: int = libc.syscall(number, *arguments)
    if result < 0:
        code = ctypes.get_errno()
        raise LandlockError(code, f"Landlock call {number}: {os.strerror(code)}")
    return result
