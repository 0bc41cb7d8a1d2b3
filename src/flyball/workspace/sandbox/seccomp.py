"""A small system call filter for what Landlock does not cover.

It refuses sockets of families that leave the machine or reach its daemons, kernel administration,
new namespaces, being traced by the parent, memory that no limit counts, and, in read-only mode
without namespaces, changes to modes, owners and times.
"""

from __future__ import annotations

import errno
import os
import struct

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

_LOAD, _IF_EQUAL, _IF_AT_LEAST, _IF_ANY_BIT, _RETURN = 0x20, 0x15, 0x35, 0x45, 0x06
_NUMBER, _ARCH, _FIRST_ARGUMENT, _SECOND_ARGUMENT = 0, 4, 16, 24
_ALLOW, _REFUSE = 0x7FFF0000, 0x00050000
_FOREIGN_NUMBERS = 0x40000000

UNIX, INET, INET6, NETLINK = 1, 2, 10, 16

# Each with its numbers on x86-64 and aarch64. unshare and setns are here because a namespace of its
# own would give a command back the rights it gave up; io_uring because it makes calls that no
# filter sees; open_by_handle_at because it opens files by number, bypassing every mount.
_ADMINISTRATION = {
    "mount": (165, 40),
    "umount2": (166, 39),
    "pivot_root": (155, 41),
    "chroot": (161, 51),
    "unshare": (272, 97),
    "setns": (308, 268),
    "open_tree": (428, 428),
    "move_mount": (429, 429),
    "fsopen": (430, 430),
    "fsmount": (432, 432),
    "fspick": (433, 433),
    "mount_setattr": (442, 442),
    "open_by_handle_at": (304, 265),
    "bpf": (321, 280),
    "perf_event_open": (298, 241),
    "userfaultfd": (323, 282),
    "io_uring_setup": (425, 425),
    "io_uring_enter": (426, 426),
    "io_uring_register": (427, 427),
    "add_key": (248, 217),
    "request_key": (249, 218),
    "keyctl": (250, 219),
    "init_module": (175, 105),
    "finit_module": (313, 273),
    "delete_module": (176, 106),
    "kexec_load": (246, 104),
    "kexec_file_load": (320, 294),
    "reboot": (169, 142),
    "swapon": (167, 224),
    "swapoff": (168, 225),
    "acct": (163, 89),
    "quotactl": (179, 60),
    "sethostname": (170, 161),
    "setdomainname": (171, 162),
    "settimeofday": (164, 170),
    "adjtimex": (159, 171),
    "clock_settime": (227, 112),
}

_METADATA = {
    "chmod": (90, None),
    "fchmod": (91, 52),
    "fchmodat": (268, 53),
    "fchmodat2": (452, 452),
    "chown": (92, None),
    "lchown": (94, None),
    "fchown": (93, 55),
    "fchownat": (260, 54),
    "utime": (132, None),
    "utimes": (235, None),
    "futimesat": (261, None),
    "utimensat": (280, 88),
    "setxattr": (188, 5),
    "lsetxattr": (189, 6),
    "fsetxattr": (190, 7),
    "setxattrat": (463, 463),
    "removexattr": (197, 14),
    "lremovexattr": (198, 15),
    "fremovexattr": (199, 16),
    "removexattrat": (466, 466),
}

_TRUNCATE = (76, 45)
_PTRACE, _TRACE_ME = (101, 117), 0
_IOCTL, _TYPE_FOR_USER, _PASTE_FOR_USER = (16, 29), 0x5412, 0x541C
"""Calls that insert characters into a terminal as if its user had typed or pasted them."""
_SHARED_SEGMENT = (29, 194)

# Answered as an old kernel would, so that programs and C libraries use calls that can be judged:
# the flags of clone3 are in memory, which no filter reads, and a memfd's content is in no file and
# in no process's resident pages.
_TOO_NEW = {"clone3": (435, 435), "memfd_create": (319, 279), "memfd_secret": (447, 447)}

_NEW_NAMESPACES = 0x7E020000
"""The flags of clone for new mounts, cgroups, names, IPC, users, processes and networks."""


class Machine:
    """The processor-specific parts of the system call table."""

    __slots__ = ("arch", "clone", "column", "socket")

    def __init__(self, arch: int, column: int, socket: int, clone: int) -> None:
        self.arch = arch
        self.column = column
        self.socket = socket
        self.clone = clone


_MACHINES = {
    "x86_64": Machine(0xC000003E, 0, 41, 56),
    "aarch64": Machine(0xC00000B7, 1, 198, 220),
}


def program(
    *, families: Iterable[int], metadata: bool, truncate: bool, segments: bool = False
) -> bytes:
    """Return the filter for this processor; empty if its table is unknown.

    `families` are the socket families allowed; `metadata`, `truncate` and `segments` (of shared
    memory) allow those calls.
    """
    machine = _MACHINES.get(os.uname().machine)
    if machine is None:
        return b""
    calls = [numbers[machine.column] for numbers in _ADMINISTRATION.values()]
    if not metadata:
        calls += [numbers[machine.column] for numbers in _METADATA.values()]
    if not truncate:
        calls.append(_TRUNCATE[machine.column])
    if not segments:
        calls.append(_SHARED_SEGMENT[machine.column])
    refused = sorted({number for number in calls if number is not None})
    return _assemble(machine, refused, sorted(families))


def _assemble(machine: Machine, refused: list[int], families: list[int]) -> bytes:
    code = [
        # The architecture is checked first: on another one the same numbers mean other calls, and a
        # 32-bit program could make a refused call under an unlisted number. The same for the x32
        # numbers from 0x40000000 on.
        (_LOAD, 0, 0, _ARCH),
        (_IF_EQUAL, 1, 0, machine.arch),
        (_RETURN, 0, 0, _REFUSE | errno.ENOSYS),
        (_LOAD, 0, 0, _NUMBER),
        (_IF_AT_LEAST, 0, 1, _FOREIGN_NUMBERS),
        (_RETURN, 0, 0, _REFUSE | errno.ENOSYS),
    ]
    for numbers in _TOO_NEW.values():
        code.append((_IF_EQUAL, 0, 1, numbers[machine.column]))
        code.append((_RETURN, 0, 0, _REFUSE | errno.ENOSYS))
    code += [
        # Only being traced by the parent, which may be ours. Programs of the run may still trace
        # each other, as LeakSanitizer does; they cannot reach others.
        (_IF_EQUAL, 0, 4, _PTRACE[machine.column]),
        (_LOAD, 0, 0, _FIRST_ARGUMENT),
        (_IF_EQUAL, 0, 1, _TRACE_ME),
        (_RETURN, 0, 0, _REFUSE | errno.EPERM),
        (_RETURN, 0, 0, _ALLOW),
        (_IF_EQUAL, 0, 5, _IOCTL[machine.column]),
        (_LOAD, 0, 0, _SECOND_ARGUMENT),
        (_IF_EQUAL, 1, 0, _TYPE_FOR_USER),
        (_IF_EQUAL, 0, 1, _PASTE_FOR_USER),
        (_RETURN, 0, 0, _REFUSE | errno.EPERM),
        (_RETURN, 0, 0, _ALLOW),
        (_IF_EQUAL, 0, 4, machine.clone),
        (_LOAD, 0, 0, _FIRST_ARGUMENT),
        (_IF_ANY_BIT, 0, 1, _NEW_NAMESPACES),
        (_RETURN, 0, 0, _REFUSE | errno.EPERM),
        (_RETURN, 0, 0, _ALLOW),
        (_IF_EQUAL, 0, len(families) + 2, machine.socket),
        (_LOAD, 0, 0, _FIRST_ARGUMENT),
    ]
    for index, family in enumerate(families):
        code.append((_IF_EQUAL, len(families) - index + len(refused), 0, family))
    code.append((_RETURN, 0, 0, _REFUSE | errno.EACCES))
    for index, number in enumerate(refused):
        code.append((_IF_EQUAL, len(refused) - index, 0, number))
    # A deny list: an allow list breaks programs with each new C library.
    code.append((_RETURN, 0, 0, _ALLOW))
    code.append((_RETURN, 0, 0, _REFUSE | errno.EPERM))
    return b"".join(struct.pack("=HBBI", *instruction) for instruction in code)
