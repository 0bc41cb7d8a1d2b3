"""Check the machine for `flyball doctor`: confinement, programs, pages, and how hooks find
Flyball."""

from __future__ import annotations

import os
import platform
import shutil
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from flyball.cli.terminal.edge import clean_console, say

if TYPE_CHECKING:
    from flyball.app.project import Home
    from flyball.doctor.symptom import Symptom
    from flyball.workspace.process.self_test import AttackReport

_MEANINGS = {
    "kernel+namespaces": "paths that are not granted do not exist, and the network is separate",
    "kernel": "the kernel refuses what is not granted; modes, owners and times of your own files "
    "outside the workspace can still be changed",
    "none": "commands are not confined; Flyball refuses unattended commands here",
}

_ESCAPES = "seen\x1b]0;t\x07\x1b]52;c;eA==\x1b\\\x9b31m\rover\x08\x7f\u202etxt\u200b"

_PROGRAMS = (
    ("git", ("git", "--version"), "branches, commits and cards"),
    ("rg", ("rg", "--version"), "the grep tool"),
    ("bash", ("bash", "--version"), "the bash tool"),
    ("bwrap", ("bwrap", "--version"), "namespaces where Flyball may not make its own (optional)"),
    ("node", ("node", "--version"), "projects in JavaScript and TypeScript"),
    ("go", ("go", "version"), "projects in Go"),
    ("make", ("make", "--version"), "projects with a Makefile"),
    ("cc", ("cc", "--version"), "projects in C"),
    ("cargo", ("cargo", "--version"), "projects in Rust"),
    ("java", ("java", "--version"), "projects in Java and Kotlin"),
)


async def examine_machine(places: Sequence[str] = ()) -> dict[str, Any]:
    """Return doctor's data as JSON-compatible values; `places` are paths the user made readable."""
    from flyball.cli.doctor_machine import attack_governor, attack_secret
    from flyball.hosts.prove.self_attacks import attack_own_operations
    from flyball.workspace.process import levels, self_test
    from flyball.workspace.process.process import works
    from flyball.workspace.sandbox import landlock

    means = levels.best_mechanism()
    confining = [each for each in levels.Mechanism if each is not levels.Mechanism.NONE]
    proofs = [*await self_test.run_attacks(means), *await attack_own_operations(os.environ)]
    proofs += [_attack_terminal(), attack_governor(), *attack_secret()]
    failed = [proof.name for proof in proofs if not proof.holds]
    return {
        "ok": not failed and means.level is not levels.SandboxLevel.NONE,
        "sandbox": {
            "level": str(means.level),
            "meaning": _MEANINGS[means.level],
            "by": str(means),
            "works": [str(each) for each in confining if works(each)],
            "landlock": landlock.abi(),
            "system": f"{platform.system()} {platform.release()} {platform.machine()}",
        },
        "proofs": [
            {"name": p.name, "attack": p.attack, "holds": p.holds, "seen": p.seen} for p in proofs
        ],
        "programs": [_program(*each, places) for each in _PROGRAMS],
        "python": {"version": platform.python_version(), "path": sys.executable},
    }


def _attack_terminal() -> AttackReport:
    """Check that control sequences in a text do not reach a terminal, by either output path."""
    import io
    from contextlib import redirect_stdout

    from rich.text import Text

    from flyball.workspace.process.self_test import AttackReport

    with redirect_stdout(io.StringIO()) as told:
        say(_ESCAPES)
        clean_console(file=told, force_terminal=False, width=200).print(Text(_ESCAPES))
    shown = told.getvalue()
    left = [each for each in _ESCAPES if not each.isprintable() and each in shown]
    return AttackReport(
        "terminal escapes",
        "title, clipboard, C1, carriage return and overrides of direction are printed",
        shown.count("seen") == 2 and not left,
        ascii("".join(left)) if left else "",
    )


def _program(name: str, argv: tuple[str, ...], use: str, places: Sequence[str]) -> dict[str, Any]:
    from flyball.errors import ToolError
    from flyball.workspace.process.spawn import run_sync

    beside = Path(sys.executable).parent
    path = shutil.which(name, path=os.pathsep.join((str(beside), os.environ.get("PATH", ""))))
    version = ""
    if path:
        try:
            env = {"PATH": os.environ.get("PATH", "")}
            answer = run_sync((path, *argv[1:]), cwd=Path("/"), env=env, seconds=10)
            version = answer.stdout.decode(errors="replace").partition("\n")[0]
        except ToolError as error:
            version = str(error)
    return {
        "name": name,
        "path": path,
        "version": version,
        "use": use,
        "granted": bool(path) and _is_granted(path, places),
    }


def _is_granted(path: str, places: Sequence[str]) -> bool:
    """Return whether commands may read a program at its real location."""
    from flyball.workspace.sandbox import environment
    from flyball.workspace.sandbox import places as paths

    home = Path(os.environ["HOME"]) if os.environ.get("HOME") else None
    granted = [*paths.readable_paths(environment.clean(os.environ), home)]
    granted += paths.granted_paths([Path(os.path.expanduser(place)) for place in places], home)
    return any(Path(os.path.realpath(path)).is_relative_to(place) for place in granted)


def pages_of(home: Home) -> dict[str, Any]:
    """Return whether servers can be started and pages opened, and if not, what to install."""
    from flyball.tools.pages.browser import find_browser, has_playwright
    from flyball.workspace.sandbox import environment
    from flyball.workspace.servers.network import can_serve

    browser = find_browser(environment.clean(home.environ, workspace=home.repo))
    install: list[str] = []
    if not has_playwright():
        install.append("pip install 'flyball[browser]'")
    if not browser:
        install.append("apt-get install chromium  (or: playwright install chromium)")
    return {
        "servers": can_serve(),
        "playwright": has_playwright(),
        "browser": browser,
        "install": install,
    }


def language_servers_of(home: Home) -> list[dict[str, str]]:
    """Return the language servers that `check` uses, their locations, and how to install them."""
    from flyball.tools.diagnose.servers import SERVERS

    beside = Path(sys.executable).parent
    path = os.pathsep.join((str(beside), home.environ.get("PATH", os.defpath)))
    return [
        {
            "name": each.argv[0],
            "languages": ", ".join(each.languages),
            "path": shutil.which(each.argv[0], path=path) or "",
            "install": each.install,
        }
        for each in SERVERS
    ]


_CANARY = "canary-of-the-doctor"
_COMPUTED = 'cat "$(printf .e)nv" "$(realpath .env)"; cat .e?v; echo read'


def examine_confined(home: Home) -> list[Symptom]:
    """Check whether other agents' commands can be confined in this project."""
    from flyball.doctor.symptom import fine, note
    from flyball.hosts.confining import why_unconfined

    if why := why_unconfined(home.repo):
        seen = f"`flyball confined` runs commands plain here: {why}"
        return [note("confined", seen, "Hooks judge commands by text and by effect instead.")]
    return [fine("confined", "commands of other agents can be confined")]


def attack_secret() -> list[AttackReport]:
    """Try to read a secret by a computed name, as another agent's command.

    Skip the attack where no command can be confined: `examine_confined` reports that.
    """
    from flyball.hosts.confining import why_unconfined
    from flyball.workspace.process.self_test import AttackReport
    from flyball.workspace.process.spawn import run_sync

    top = Path(os.path.realpath(tempfile.mkdtemp(prefix="flyball-doctor-")))
    try:
        (top / ".env").write_text(f"TOKEN={_CANARY}\n")
        if why_unconfined(top):
            return []
        program = Path(sys.executable).with_name("flyball")
        argv = (os.fspath(program), "confined", "--read-only", "--", "sh", "-c", _COMPUTED)
        env = {name: os.environ[name] for name in ("HOME", "PATH") if name in os.environ}
        end = run_sync(argv, cwd=top, env=env, seconds=60)
    finally:
        shutil.rmtree(top, ignore_errors=True)
    is_shown = _CANARY.encode() in end.stdout + end.stderr
    words = "a confined command reads .env by a computed name"
    seen = "the secret was read" if is_shown else "" if b"read" in end.stdout else "it did not run"
    return [AttackReport("a secret by a computed name", words, not seen, seen)]


if TYPE_CHECKING:
    from flyball.app.project import Home
    from flyball.doctor.symptom import Symptom
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
    from flyball.hosts.client import ask
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
    """Explain why hooks in this project cannot use a resident governor; empty if they can."""
    from flyball.doctor.symptom import note
    from flyball.hosts.client import address, objection_to_folder, objection_to_socket

    """Return why hooks in this project cannot use a resident governor; empty if they can."""

    place = address(os.fspath(home.repo), home.environ)
    folder = os.fspath(Path(place).parent)
    if not os.path.lexists(folder):
        return []
    doubt = objection_to_folder(folder)
    if not doubt and os.path.lexists(place):
        doubt = objection_to_socket(place)
    if not doubt:
        return []
    hint = f"Hooks work without a governor, which is slower. Remove {folder}, or have it removed."
    return [note("governor", f"its socket is not used: {doubt}", hint)]
