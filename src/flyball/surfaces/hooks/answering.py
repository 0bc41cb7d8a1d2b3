"""From a payload to what the hook process prints and its exit code.

Allowed is exit 0 with nothing on standard output; refused is exit 2 with the reason on standard
error and nothing on standard output. These two every host honours. Words for the model or the
person go along as JSON where the host takes them.
"""

from __future__ import annotations

import asyncio
import json
import os
from pathlib import Path
from typing import NamedTuple

from msgspec.structs import replace

from flyball.app.hosts.governor import HostGovernor
from flyball.app.hosts.kept import KeptWorkspaces
from flyball.app.hosts.observer import HostObserver
from flyball.app.hosts.person import host_of
from flyball.app.installing.json_hooks import OBSERVE
from flyball.app.project import Home, open_home, project_top
from flyball.core.host.event import HostAnswer, HostEvent, Moment
from flyball.core.host.tool import host_tool
from flyball.core.terms.call import Access
from flyball.errors import FlyballError, UsageError
from flyball.surfaces.hooks.payload import read_payload
from flyball.workspace.errors import disk_trouble

REFUSED = 2
FAILED = 1
NO_REASON = "Flyball refuses this."
"""Some hosts take a refusal without a reason for a yes."""
TELLS = frozenset({Moment.SESSION_STARTED, Moment.PROMPTED, Moment.AFTER_CALL})
"""Moments at which hosts take words for the model beside an allowance."""


class Printed(NamedTuple):
    """What a hook process leaves behind."""

    code: int = 0
    out: str = ""
    err: str = ""


def decide(
    host: str, data: bytes, process: int, kept: KeptWorkspaces | None = None
) -> tuple[int, bytes, bytes]:
    """The answer to what a hook process was given: exit code, output, errors."""
    is_alone = kept is None
    printed = answer(host, data, process, kept or KeptWorkspaces(), is_alone=is_alone)
    return printed.code, _bytes(printed.out), _bytes(printed.err)


def _bytes(text: str) -> bytes:
    return text.encode("utf-8", "backslashreplace")


def answer(
    host: str, data: bytes, process: int, kept: KeptWorkspaces, *, is_alone: bool = False
) -> Printed:
    """What to print for the payload that a process was given, whatever happens on the way."""
    if host.endswith(OBSERVE):
        return _observed(host.removesuffix(OBSERVE), data, process, kept)
    try:
        event = read_payload(host, data)
    except UsageError as error:
        # Nobody can know what was about to happen: a call that is not understood is not made.
        return Printed(REFUSED, err=f"Flyball: {error}\n")
    fails_open = False
    try:
        home = governed_at(Path(event.cwd) if event.cwd else Path.cwd())
        if home is None:
            return Printed()
        settings = home.effective.settings
        fails_open = settings.hooks_fail == "open" or settings.hooks_mode == "advisory"
        event = replace(event, process=host_of(process))
        governor = HostGovernor(home, kept, read=read_payload)
        return _printed(asyncio.run(governor.answer(event, is_alone=is_alone)), event)
    except FlyballError as error:
        return _failed(event, str(error), fails_open)
    except Exception as error:  # noqa: BLE001
        trouble = disk_trouble(error) if isinstance(error, OSError) else None
        why = str(trouble) if trouble else f"{type(error).__name__}: {error}."
        return _failed(event, why, fails_open)


def _observed(host: str, data: bytes, process: int, kept: KeptWorkspaces) -> Printed:
    """Nothing, once it is in the journal; a failure is told to nobody who could be kept by it."""
    try:
        event = read_payload(host, data)
        home = governed_at(Path(event.cwd) if event.cwd else Path.cwd())
        if home is not None:
            event = replace(event, process=host_of(process))
            asyncio.run(HostObserver(home, kept).answer(event))
    except Exception as error:  # noqa: BLE001
        return Printed(err=f"Flyball could not observe this: {error}\n")
    return Printed()


def governed_at(place: Path) -> Home | None:
    """The project of a directory, where it is one that we govern."""
    # Without git there is no cheap tree to compare, and a home directory is no project.
    if not place.is_dir() or not (project_top(place.resolve()) / ".git").exists():
        return None
    return open_home(place, os.environ, {})


def stays_at(place: str) -> Home | None:
    """The project whose governor may stay between hooks in a directory; None where none may."""
    try:
        home = governed_at(Path(place))
    except FlyballError:
        # Whoever is judged is told of it.
        return None
    return None if home is None or home.effective.settings.hooks_alone else home


def _failed(event: HostEvent, why: str, fails_open: bool) -> Printed:
    """Flyball itself failed: what may write is refused, everything else goes on and is told."""
    may_write = host_tool(event.tool).access is not Access.READ
    is_closed = event.moment is Moment.BEFORE_CALL and may_write and not fails_open
    text = f"Flyball could not judge this: {why} `flyball doctor` looks for the cause.\n"
    if is_closed or event.moment is Moment.CONFIG_CHANGED:
        return Printed(REFUSED, err=text)
    return Printed(FAILED, err=text)


def _printed(said: HostAnswer, event: HostEvent) -> Printed:
    if said.is_refused:
        return Printed(REFUSED, err=f"{said.text or NO_REASON}\n")
    told: dict[str, object] = {}
    if said.text and event.moment in TELLS:
        told["hookSpecificOutput"] = {"hookEventName": event.name, "additionalContext": said.text}
    if said.notice:
        told["systemMessage"] = said.notice
    return Printed(out=f"{json.dumps(told)}\n" if told else "")
