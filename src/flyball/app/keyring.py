"""Keys from the system's keyring, where the environment has none."""

from __future__ import annotations

import os
import shutil
from collections.abc import Mapping
from pathlib import Path

from flyball.errors import ToolError
from flyball.workspace.process.spawn import run_sync

SERVICE = "flyball"
SECONDS = 10.0
HEARD = ("PATH", "HOME", "USER", "LANG", "DISPLAY", "XDG_RUNTIME_DIR", "DBUS_SESSION_BUS_ADDRESS")
"""What a keyring's program needs to find the keyring."""

STORES = (
    ("secret-tool", "lookup", "service", SERVICE, "key", "{}"),
    ("security", "find-generic-password", "-s", SERVICE, "-a", "{}", "-w"),
)


def key_from_keyring(environ: Mapping[str, str], variable: str) -> str:
    """The key kept under a variable's name, or nothing."""
    for store in STORES:
        program = shutil.which(store[0], path=environ.get("PATH", os.defpath))
        if program is None:
            continue
        argv = (program, *(part.format(variable) for part in store[1:]))
        env = {name: environ[name] for name in HEARD if name in environ}
        try:
            found = run_sync(argv, cwd=Path("/"), env=env, seconds=SECONDS)
        except ToolError:
            continue
        if not found.exit_code and (key := found.stdout.decode("utf-8", "replace").strip()):
            return key
    return ""
