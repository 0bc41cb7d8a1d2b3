"""Track which run a host's session works on, and whether a person has turned the governor off."""

from __future__ import annotations

import hashlib
import json
import os
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import msgspec

from flyball.workspace.process.process_identity import is_running

HOSTED = "host:"
"""The driver name of a run that another program drives."""
WITHIN = "within"
"""The key in a run's log for the sessions in which its host was started, if any."""
MCP = "mcp"
"""The host name of a client that takes steps over MCP: it works in the tree of its run."""


class Session(msgspec.Struct, frozen=True, omit_defaults=True):
    """The state of a host's session between two hook events."""

    host: str
    session: str
    run: str = ""
    process: str = ""
    """The host's own process, to distinguish its children from processes that a person starts."""
    rejected: str = ""
    """The reason its last stop was refused; some hosts send it back as a person's words."""
    untold: str = ""
    """Text for the model at the next event at which hosts pass messages on."""
    unshown: str = ""
    """Text for the person at that event."""
    is_fresh: bool = False
    """Whether the run was begun by a slash command whose prompt has not arrived yet."""
    awaited: str = ""
    """The name of a run that will begin with the prompt; its workspace already exists."""
    tree: str = ""
    """The tree when that workspace was created."""
    began_clean: bool = False
    """Whether all uncommitted work in the checkout when the run began was the session's own."""


LONGEST = 64 << 10
"""Size in bytes above which earlier lines of a session's file are dropped."""


class Sessions:
    """The sessions of one project: a small file each, which refers to a run.

    Each update appends a line, and the last complete one counts: replacing the file would take the
    file system longer than everything else a call needs.
    """

    def __init__(self, state: Path) -> None:
        self._place = state / "hosts"

    def find(self, host: str, session: str) -> Session:
        """Return a session; an unknown one is new and empty."""
        return _last(self._file(host, session)) or Session(host, session)

    def known(self, host: str, session: str) -> Session | None:
        """Return a session that has not ended and whose host is alive."""
        found = _last(self._file(host, session))
        return found if found and not _has_died(found) else None

    def all(self) -> tuple[Session, ...]:
        """Return every session that has not ended and whose host is alive."""
        found = map(_last, sorted(self._place.glob("*.json")))
        return tuple(each for each in found if each and not _has_died(each))

    def in_checkout(self) -> tuple[Session, ...]:
        """Return the sessions that work in the person's own checkout."""
        return tuple(each for each in self.all() if each.host != MCP)

    def host_of(self, run: str) -> str:
        """Return the host in whose session a run is in progress, if any."""
        return next((each.host for each in self.all() if each.run == run), "")

    def keep(self, session: Session) -> None:
        """Store a session atomically."""
        self._place.mkdir(parents=True, exist_ok=True)
        file = self._file(session.host, session.session)
        # The leading line break ends an incomplete line of a process that was killed.
        line = b"\n" + msgspec.json.encode(session) + b"\n"
        with file.open("ab") as handle:
            if handle.tell() + len(line) <= LONGEST:
                handle.write(line)
                return
        spare = file.with_suffix(f".{os.getpid()}.new")
        spare.write_bytes(line)
        spare.replace(file)

    def end(self, session: Session) -> None:
        """Delete a session; its runs stay in the journal."""
        self._file(session.host, session.session).unlink(missing_ok=True)

    def _file(self, host: str, session: str) -> Path:
        # A host chooses the name of its session, which must not become a path.
        name = hashlib.sha256(session.encode("utf-8", "surrogateescape")).hexdigest()[:16]
        return self._place / f"{host}-{name}.json"


class Switch:
    """The switch by which a person turns the governor off for this project, with its end time."""

    def __init__(self, state: Path, clock: Callable[[], float] = time.time) -> None:
        self._file = state / "off.json"
        self._clock = clock

    def off_until(self) -> float:
        """Return the time at which the governor resumes; 0 if it is on."""
        try:
            until = msgspec.json.decode(self._file.read_bytes(), type=float)
        except (OSError, msgspec.MsgspecError):
            return 0.0
        return until if until > self._clock() else 0.0

    def turn_off(self, seconds: float) -> float:
        """Turn the governor off for some seconds; return the end time."""
        self._file.parent.mkdir(parents=True, exist_ok=True)
        until = self._clock() + seconds
        self._file.write_text(json.dumps(until))
        return until

    def turn_on(self) -> None:
        self._file.unlink(missing_ok=True)


def _has_died(session: Session) -> bool:
    """Return whether the host's process is known and dead: it could not report the end."""
    return bool(session.process) and not is_running(session.process)


def _last(file: Path) -> Session | None:
    """Return a file's session, or None if the file is missing or damaged."""
    with suppress(OSError):
        for line in reversed(file.read_bytes().splitlines()):
            with suppress(msgspec.MsgspecError):
                return msgspec.json.decode(line, type=Session)
    return None
