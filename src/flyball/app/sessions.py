"""Which run a host's session is working on, and where a person has switched the governor off."""

from __future__ import annotations

import hashlib
import json
import os
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import msgspec

from flyball.workspace.process.holder import is_running

HOSTED = "host:"
"""How the driver of a run is named that another program drives."""
WITHIN = "within"
"""Under which name a run's log has the sessions in which its host was started, if in any."""
MCP = "mcp"
"""The name of whoever takes steps from us by MCP: it works in the tree of its run."""


class Session(msgspec.Struct, frozen=True, omit_defaults=True):
    """What must be known of a host's session between two of its moments."""

    host: str
    session: str
    run: str = ""
    process: str = ""
    """The host's own process, so that what it starts can be told from what a person starts."""
    rejected: str = ""
    """What its last stop was refused with; some hosts give that back as if a person had said it."""
    untold: str = ""
    """What the model is to hear at the next moment at which hosts pass words on."""
    unshown: str = ""
    """What the person is to see then."""
    is_fresh: bool = False
    """Whether the run was begun by a slash command whose prompt has not come yet."""
    awaited: str = ""
    """The name of a run that will begin with the prompt; its workspace is there already."""
    tree: str = ""
    """The tree as it was when that workspace was made."""


LONGEST = 64 << 10
"""Bytes of a session's file, above which what it said before is left out."""


class Sessions:
    """The sessions of one project: a small file each, which only points to a run.

    Each time it is kept, a line is added, and the last whole one holds: to put a new file in the
    place of the old one takes the file system longer than everything else that a call asks for.
    """

    def __init__(self, state: Path) -> None:
        self._place = state / "hosts"

    def find(self, host: str, session: str) -> Session:
        """What is known of a session; of a new one, nothing."""
        return _last(self._file(host, session)) or Session(host, session)

    def known(self, host: str, session: str) -> Session | None:
        """A session that was not ended, and whose host has not died."""
        found = _last(self._file(host, session))
        return found if found and not _has_died(found) else None

    def all(self) -> tuple[Session, ...]:
        """Every session that was not ended, and whose host has not died."""
        found = map(_last, sorted(self._place.glob("*.json")))
        return tuple(each for each in found if each and not _has_died(each))

    def in_checkout(self) -> tuple[Session, ...]:
        """Those of them that work in the person's own checkout."""
        return tuple(each for each in self.all() if each.host != MCP)

    def host_of(self, run: str) -> str:
        """The host in whose session a run is under way, if there is one."""
        return next((each.host for each in self.all() if each.run == run), "")

    def keep(self, session: Session) -> None:
        """Remember it, whole or not at all."""
        self._place.mkdir(parents=True, exist_ok=True)
        file = self._file(session.host, session.session)
        # The first end of a line is for half of one that somebody was killed over.
        line = b"\n" + msgspec.json.encode(session) + b"\n"
        with file.open("ab") as handle:
            if handle.tell() + len(line) <= LONGEST:
                handle.write(line)
                return
        spare = file.with_suffix(f".{os.getpid()}.new")
        spare.write_bytes(line)
        spare.replace(file)

    def end(self, session: Session) -> None:
        """Forget it; its runs stay in the journal."""
        self._file(session.host, session.session).unlink(missing_ok=True)

    def _file(self, host: str, session: str) -> Path:
        # A host chooses the name of its session, and it must not choose a path.
        name = hashlib.sha256(session.encode("utf-8", "surrogateescape")).hexdigest()[:16]
        return self._place / f"{host}-{name}.json"


class Switch:
    """Whether a person has switched the governor off for this project, and until when."""

    def __init__(self, state: Path, clock: Callable[[], float] = time.time) -> None:
        self._file = state / "off.json"
        self._clock = clock

    def off_until(self) -> float:
        """The moment at which it goes on again; 0 where it is on."""
        try:
            until = msgspec.json.decode(self._file.read_bytes(), type=float)
        except (OSError, msgspec.MsgspecError):
            return 0.0
        return until if until > self._clock() else 0.0

    def turn_off(self, seconds: float) -> float:
        """Switch it off for so long; when that ends comes back."""
        self._file.parent.mkdir(parents=True, exist_ok=True)
        until = self._clock() + seconds
        self._file.write_text(json.dumps(until))
        return until

    def turn_on(self) -> None:
        self._file.unlink(missing_ok=True)


def _has_died(session: Session) -> bool:
    """Whether the host's process is known, and gone: it could not say that the session ended."""
    return bool(session.process) and not is_running(session.process)


def _last(file: Path) -> Session | None:
    """What a file holds, or None where it is missing or damaged."""
    with suppress(OSError):
        for line in reversed(file.read_bytes().splitlines()):
            with suppress(msgspec.MsgspecError):
                return msgspec.json.decode(line, type=Session)
    return None
