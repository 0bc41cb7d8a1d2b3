"""Which run a host's session is working on, and where a person has switched the governor off."""

from __future__ import annotations

import hashlib
import json
import os
import time
from collections.abc import Callable
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
    is_fresh: bool = False
    """Whether the run was begun by a slash command whose prompt has not come yet."""
    awaited: str = ""
    """The name of a run that will begin with the prompt; its workspace is there already."""
    tree: str = ""
    """The tree as it was when that workspace was made."""


class Sessions:
    """The sessions of one project: a small file each, which only points to a run."""

    def __init__(self, state: Path) -> None:
        self._place = state / "hosts"

    def find(self, host: str, session: str) -> Session:
        """What is known of a session; of a new one, nothing."""
        found = _read(self._file(host, session), Session)
        return found if isinstance(found, Session) else Session(host, session)

    def known(self, host: str, session: str) -> Session | None:
        """A session that was not ended, and whose host has not died."""
        found = _read(self._file(host, session), Session)
        return found if isinstance(found, Session) and not _has_died(found) else None

    def all(self) -> tuple[Session, ...]:
        """Every session that was not ended, and whose host has not died."""
        found = (_read(file, Session) for file in sorted(self._place.glob("*.json")))
        return tuple(each for each in found if isinstance(each, Session) and not _has_died(each))

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
        spare = file.with_suffix(f".{os.getpid()}.new")
        spare.write_bytes(msgspec.json.encode(session))
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
        until = _read(self._file, float)
        return until if isinstance(until, float) and until > self._clock() else 0.0

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


def _read(file: Path, kind: type[Session] | type[float]) -> Session | float | None:
    """What a file holds, or None where it is missing or damaged."""
    try:
        return msgspec.json.decode(file.read_bytes(), type=kind)
    except (OSError, msgspec.MsgspecError):
        return None
