"""`python -m tests.bare PROGRAM ARG…`: a program, and all that it starts, on such a machine.

The kernel itself refuses, for good: what Flyball asks it for fails as it does on an old kernel or
in a strict container. Where neither is to be had (macOS, the BSDs), it is the same from the start.
"""

from __future__ import annotations

import ctypes
import errno
import os
import struct
import sys
from pathlib import Path

from flyball.workspace.sandbox import kernel, seccomp

_LOAD_NUMBER, _RETURN = (0x20, 0, 0, 0), 0x06
_ALLOW, _REFUSE = 0x7FFF0000, 0x00050000
_LANDLOCK, _PIDFD_OPEN = 444, 434
_NO_NEW_PRIVILEGES = 38


def main(argv: list[str]) -> None:
    """Become the program, with less."""
    if sys.platform == "linux":
        # Without privileges a filter is taken only from who can get none by a setuid program.
        ctypes.CDLL(None).prctl(_NO_NEW_PRIVILEGES, 1, 0, 0, 0)
        kernel.filter_calls(_without(_LANDLOCK, _PIDFD_OPEN))
        families = (seccomp.UNIX, seccomp.INET, seccomp.INET6, seccomp.NETLINK)
        if code := seccomp.program(families=families, metadata=True, truncate=True, segments=True):
            kernel.filter_calls(code)
    here = str(Path(__file__).parent)
    known = os.environ.get("PYTHONPATH", "")
    os.environ["PYTHONPATH"] = os.pathsep.join(filter(None, (here, known)))
    os.execvp(argv[0], argv)


def _without(*numbers: int) -> bytes:
    """A filter under which these calls are unknown to the kernel."""
    code = [_LOAD_NUMBER]
    for number in numbers:
        code += [(0x15, 0, 1, number), (_RETURN, 0, 0, _REFUSE | errno.ENOSYS)]
    code.append((_RETURN, 0, 0, _ALLOW))
    return b"".join(struct.pack("=HBBI", *each) for each in code)


if __name__ == "__main__":
    main(sys.argv[1:])
