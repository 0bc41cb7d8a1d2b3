"""A machine that can confine nothing: no Landlock, no namespaces, no fork.

Every interpreter that finds this on its path is on such a machine, as far as it can tell.
"""

import ctypes
import os
import shutil

for name in ("fork", "forkpty", "unshare", "setns", "pidfd_open"):
    if hasattr(os, name):
        delattr(os, name)

_load = ctypes.CDLL
_which = shutil.which


def _without_libc(name: str | None = None, *args: object, **options: object) -> ctypes.CDLL:
    """Libraries as ever, but nothing of the kernel's own."""
    if name is None or str(name).startswith("libc"):
        raise OSError("there is no such kernel here")
    return _load(name, *args, **options)  # type: ignore[arg-type]


def _without_bwrap(cmd: str, *args: object, **options: object) -> str | None:
    return None if str(cmd).endswith("bwrap") else _which(cmd, *args, **options)


ctypes.CDLL = _without_libc  # type: ignore[assignment,misc]
shutil.which = _without_bwrap  # type: ignore[assignment]
