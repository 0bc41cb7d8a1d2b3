"""A leave: the judge's word in advance, for what is sure to be allowed or refused.

A process that must load the judge for every call of somebody's agent takes half a second, most of
it for loading. So the judge says beforehand how many different reads pass without a word, and with
which words writes are refused before the checkpoint. Commands that only look pass as well, as long
as the tree shows before and after them what it showed the judge. A hook that finds such a leave and
no governor writes into it what it has answered, and whoever loads the judge next has that journaled
first. What the judge would answer without a word in the journal is not written down either: a stop
before anything was changed, the end of no call, and once more the call that it has just refused.
A prompt is only written down, and whoever let it pass has somebody take it up at once. So is what a
write or a command of the building phase has come to; it may begin if the judge has spoken of its
files or of that very command, and the tree shows what it showed. Nothing but the standard library
is loaded here.

Line one are the terms; each further line is a payload that was let pass. The file is locked while
it is read or written, and gone once everything in it is in the journal.
"""

from __future__ import annotations

import fcntl
import hashlib
import json
import os
import time

from flyball.app.hosts.leaves.terms import QUIET, AskedUnderLeave

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from flyball.app.hosts.leaves.terms import Eyes

MOST_BYTES = 1 << 20
"""A payload that is longer is left to the judge."""
SUFFIX = ".leave"
PATIENCE = 0.2
"""Seconds; the judge takes longer to load."""
LOOK_AGAIN = 0.01


def directory(top: str, environ: Mapping[str, str]) -> str:
    """Where the sessions of a project are kept, as `Home` and `Sessions` have it."""
    base = environ.get("XDG_STATE_HOME") or f"{environ.get('HOME', '/')}/.local/state"
    base = environ.get("FLYBALL_STATE_DIR") or f"{base}/flyball"
    name = hashlib.sha256(os.fsencode(top)).hexdigest()[:10]
    return f"{base}/projects/{os.path.basename(top) or 'root'}-{name}/hosts"


def file_name(host: str, session: str) -> str:
    """The name of a session's file, without its ending; a host must not choose a path."""
    digest = hashlib.sha256(session.encode("utf-8", "surrogateescape")).hexdigest()
    return f"{host}-{digest[:16]}"


def mark(environ: Mapping[str, str], files: Iterable[str]) -> list[object]:
    """What is different when anything was journaled, settled or switched since."""
    own = sorted((key, value) for key, value in environ.items() if key.startswith("FLYBALL_"))
    found: list[object] = [hashlib.sha256(repr(own).encode("utf-8", "replace")).hexdigest()]
    for file in files:
        try:
            status = os.stat(file)
            found.append([status.st_mtime_ns, status.st_size, status.st_ino])
        except OSError:
            found.append(None)
    return found


def write(file: str, terms: Mapping[str, object]) -> None:
    """Give a leave, in the place of one that was given before."""
    spare = f"{file}.{os.getpid()}"
    handle = os.open(spare, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC, 0o600)
    try:
        os.write(handle, json.dumps(terms).encode() + b"\n")
    finally:
        os.close(handle)
    os.replace(spare, file)


class OpenLeave:
    """A leave that nobody else reads or writes; raises `OSError` where there is none."""

    def __init__(self, file: str) -> None:
        self._file = file
        self._handle = os.open(file, os.O_RDWR | os.O_APPEND | os.O_CLOEXEC | os.O_NOFOLLOW)
        fcntl.flock(self._handle, fcntl.LOCK_EX)
        status = os.fstat(self._handle)
        data = os.pread(self._handle, status.st_size, 0)
        # Of a process that was killed over it there is half a line: nobody let that pass.
        self._whole = data.rfind(b"\n") + 1
        self.lines = data[: self._whole].splitlines()
        # Whoever waited for the lock may have waited for its end.
        self.is_there = status.st_nlink > 0 and bool(self.lines)

    def append(self, line: bytes) -> bool:
        """Write one more line, whole or not at all."""
        os.ftruncate(self._handle, self._whole)
        try:
            if os.write(self._handle, line) == len(line):
                return True
        except OSError:
            pass
        os.ftruncate(self._handle, self._whole)
        return False

    def end(self) -> None:
        """It holds no more: what was let pass is in the journal."""
        os.unlink(self._file)

    def close(self) -> None:
        os.close(self._handle)


def _opened(file: str) -> OpenLeave:
    """The leave, once nobody takes it up any more; raises `OSError` where there is none then."""
    until = time.monotonic() + PATIENCE
    leave = OpenLeave(file)
    while not leave.is_there:
        leave.close()
        # Whoever took it up gives the next one.
        while not os.path.exists(file) and time.monotonic() < until:
            time.sleep(LOOK_AGAIN)
        if time.monotonic() > until:
            raise FileNotFoundError(file)
        leave = OpenLeave(file)
    return leave


QUIET_STARTS = frozenset({"claude", "codex", "opencode"})
"""Hosts whose sessions begin without anything that would have to be seen before their prompt."""


def is_quiet_start(
    host: str,
    data: bytes,
    top_of: Callable[[str], str],
    environ: Mapping[str, str],
    eyes: Eyes,
) -> bool:
    """Whether a payload only tells that a session begins, in the process that is known for it."""
    payload = json.loads(data)
    is_start = payload["hook_event_name"] == "SessionStart" and host in QUIET_STARTS
    if not is_start or payload["source"] not in ("startup", "clear"):
        return False
    place = directory(top_of(payload["cwd"]), environ)
    known = _process_of(f"{place}/{file_name(host, payload['session_id'])}.json")
    return known is None or known == eyes.host()


def _process_of(file: str) -> str | None:
    """The process of a session, as `Sessions` has kept it; None of one that is not known."""
    try:
        with open(file, "rb") as handle:
            lines = handle.read().splitlines()
    except FileNotFoundError:
        return None
    return json.loads(lines[-1]).get("process", "")


def let_pass(
    host: str,
    data: bytes,
    top_of: Callable[[str], str],
    environ: Mapping[str, str],
    eyes: Eyes,
) -> tuple[str, str] | None:
    """What the judge has said of a payload beforehand, which is then written down in the leave.

    The words of its refusal, nothing where it passes; and if it waits to be taken up, the project
    in which it does. None where the judge must be asked.
    """
    if len(data) > MOST_BYTES:
        return None
    payload = json.loads(data)
    if payload["hook_event_name"] in QUIET:
        return "", ""
    top = top_of(payload["cwd"])
    file = f"{directory(top, environ)}/{file_name(host, payload['session_id'])}{SUFFIX}"
    leave = _opened(file)
    try:
        terms = json.loads(leave.lines[0])
        passed = [json.loads(line) for line in leave.lines[1:]]
        is_current = terms["session"] == payload["session_id"] and terms["top"] == top
        if not is_current or terms["mark"] != mark(environ, terms["files"]):
            return None
        answer = AskedUnderLeave(terms, passed, payload, eyes).answer()
        if answer is None:
            return None
        words, entry = answer
        if entry is None:
            return words, ""
        line = json.dumps({**entry, "host": host, "payload": payload})
        if not leave.append(line.encode() + b"\n"):
            return None
        return words, top if entry["waits"] else ""
    finally:
        leave.close()
