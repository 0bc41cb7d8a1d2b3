"""Check how hooks find their governor, for `flyball doctor`."""

from __future__ import annotations

import os
import shutil
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from flyball.app.examining.symptom import Symptom
    from flyball.app.project import Home
    from flyball.workspace.process.self_test import AttackReport

_FORGER = """
import os, socket, sys, threading
place, user, mode = sys.argv[1], int(sys.argv[2]), int(sys.argv[3], 8)
heard = []
def answer(ear):
    line, _ = ear.accept()
    heard.append(line.recv(1 << 16))
    line.sendall(b"0 0 0\\n")
    line.close()
sys.stdin.readline()
if user != os.getuid():
    os.setgroups([])
    os.setgid(user)
    os.setuid(user)
os.mkdir(os.path.dirname(place), mode)
ear = socket.socket(socket.AF_UNIX)
ear.bind(place)
ear.listen()
threading.Thread(target=answer, args=(ear,), daemon=True).start()
print("ready", flush=True)
sys.stdin.readline()
print("heard" if any(heard) else "nothing", flush=True)
"""
_NOBODY = 65534


def attack_governor() -> AttackReport:
    """Listen as another user in place of the governor, and check that hooks reject the answer.

    Only root can switch to another user; others create a folder that anyone may enter.
    """
    from flyball.surfaces.hooks.client import ask
    from flyball.workspace.process.self_test import AttackReport
    from flyball.workspace.process.spawn import Companion

    is_root = os.geteuid() == 0
    # Where hooks search; `TMPDIR` may be too long for a socket, or closed to other users.
    top = Path(tempfile.mkdtemp(prefix="flyball-doctor-", dir="/tmp"))
    try:
        top.chmod(0o1777)
        place = str(top / "flyball" / "socket")
        user, mode = (_NOBODY, "700") if is_root else (os.getuid(), "755")
        argv = [sys.executable, "-I", "-c", _FORGER, place, str(user), mode]
        forger = Companion(argv, cwd=Path("/"), env={})
        try:
            forger.ask(b"begin")
            answered = ask(place, "claude", b"{}")
            heard = forger.ask(b"heard").strip() == b"heard"
        finally:
            forger.close()
    finally:
        shutil.rmtree(top, ignore_errors=True)
    how = "user nobody" if is_root else "simulated: a folder with the mode 0755"
    seen = "the payload was read" if heard else "an answer was taken" if answered else ""
    words = f"another user listens where hooks look for the governor ({how})"
    return AttackReport("a foreign governor", words, answered is None and not heard, seen)


def examine_socket(home: Home) -> list[Symptom]:
    """Return why hooks in this project cannot use a resident governor; empty if they can."""
    from flyball.app.examining.symptom import note
    from flyball.surfaces.hooks.client import address, doubt_about_folder, doubt_about_socket

    place = address(os.fspath(home.repo), home.environ)
    folder = os.fspath(Path(place).parent)
    if not os.path.lexists(folder):
        return []
    doubt = doubt_about_folder(folder)
    if not doubt and os.path.lexists(place):
        doubt = doubt_about_socket(place)
    if not doubt:
        return []
    hint = f"Hooks work without a governor, which is slower. Remove {folder}, or have it removed."
    return [note("governor", f"its socket is not used: {doubt}", hint)]
