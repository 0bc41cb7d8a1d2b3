"""Prove one host, with its program if it is installed."""

from __future__ import annotations

import os
import shutil
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path

from flyball.app.project import Home
from flyball.app.sessions import Switch
from flyball.errors import NotFound, ToolError
from flyball.hosts.install.targets import HOSTS, HostPlaces
from flyball.hosts.prove.installed import installation_notes, read_settings_files
from flyball.hosts.prove.launch import SEEN
from flyball.hosts.prove.lines import HostProof, ProofLine, ProofState
from flyball.hosts.prove.real import CLAIMS, RealProof
from flyball.hosts.prove.recorded import show_recorded
from flyball.settings import LEVELS
from flyball.workspace.process.spawn import run_sync

SECONDS = 240.0
"""Maximum seconds for one session of a host; the machine may be busy."""


async def prove_host(
    host: str,
    home: Home,
    program: str = "",
    seconds: float = SECONDS,
    tell: Callable[[str], None] = lambda _: None,
) -> HostProof:
    """Test every requirement for a host, with the hooks installed for it here."""
    places = HostPlaces(home.environ, home.repo)
    program = find_program(host, program, places)
    version = version_of(program, places) if program else ""
    title = HOSTS[host].title
    settings, hooks = read_settings_files(host, places)
    if not hooks:
        lines = _untried("there are no hooks to test", settings.next)
    elif program and host in SEEN:
        proof = RealProof(host, program, version, places, hooks, seconds, tell)
        lines = await proof.lines(settings)
    else:
        why = "it is not installed" if host in SEEN else "Flyball does not start it"
        lines = [*show_recorded(host, places, hooks), *_untried(f"{title} was not started: {why}")]
    notes = [*_notes(home), *(installation_notes(hooks[0], places) if hooks else ())]
    return HostProof(host, title, program, version, (settings, *lines), tuple(notes))


def _untried(why: str, next: str = "") -> list[ProofLine]:
    """Return the lines that need the real program, marked as untried."""
    return [ProofLine(name, each, ProofState.UNTRIED, why, next) for name, each in CLAIMS.items()]


def find_program(host: str, program: str, places: HostPlaces) -> str:
    """Return the host's executable: the named one, or the one on the PATH, or none."""
    found = shutil.which(program or host, path=places.environ.get("PATH") or os.defpath)
    if program and not found:
        raise NotFound("program", program, "Name an executable file.")
    return os.fspath(Path(found).absolute()) if found else ""


def version_of(program: str, places: HostPlaces) -> str:
    """Return the version that a program reports; empty if it reports none."""
    # In a temporary home: some hosts write files for any command.
    with tempfile.TemporaryDirectory(prefix="fb-", ignore_cleanup_errors=True) as place:
        env = {"PATH": places.environ.get("PATH") or os.defpath, "HOME": place}
        try:
            done = run_sync((program, "--version"), cwd=Path(place), env=env, seconds=30)
        except ToolError:
            return ""
    return done.stdout.decode(errors="replace").strip().partition("\n")[0][:80]


def _notes(home: Home) -> Iterator[str]:
    """Yield reasons why Flyball cannot govern this project although the hooks run."""
    level = home.effective.settings.hooks_level
    if level != "govern":
        yield f"hooks.level is {level} in {home.repo}: {LEVELS[level]}."
    if until := Switch(home.state, time.time).off_until():
        when = time.strftime("%H:%M", time.localtime(until))
        yield f"Flyball is off in {home.repo} until {when}; `flyball on` ends that."
