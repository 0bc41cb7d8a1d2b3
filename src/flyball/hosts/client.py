"""`flyball-hook HOST [LEVEL]`: send a payload to the resident governor, and print its answer.

It starts for every single call of an agent, so it imports nothing that the interpreter has not
loaded already. Without a governor it allows a call that only reads ordinary files; for any other it
starts a governor and asks it, or decides itself if no governor may stay. At level `observe` it
prints nothing and exits with 0, whatever the answer and whatever fails.
"""

from __future__ import annotations

import _socket  # The public module would import six others, which takes a tenth of the time budget.
import os
import sys
import time
from zlib import adler32, crc32

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import NoReturn

MOST = 8 << 20
"""Maximum payload size in bytes: pictures that hosts send after a call are under four megabytes."""
TOO_LARGE = (
    b"Flyball takes hooks of at most %d MB, and this is larger. Make the call smaller.\n"
    % (MOST >> 20)
)
LEVEL_VARIABLE = "FLYBALL_HOOKS_LEVEL"
CALLS = (b"PreToolUse", b"BeforeTool")
"""Texts that only a payload before a call contains."""
PATIENCE = 20.0
"""Seconds that a governor has to start; hosts allow their hooks a minute or more."""
ASK_AGAIN = 0.02
LOOK_AGAIN = 5.0
"""Seconds without an answer after which to check whether the governor was stopped."""
LONGEST_FOR_CALL = 40.0
NO_ANSWER = (
    b"Flyball's governor has not answered for 40 seconds, so this call is not made. Make it again; "
    b"`flyball doctor` helps to find the cause.\n"
)
NONE_CAME = b"none"
"""Written by a process that failed to start a governor, so that others do not wait for it."""


_KIND, _IS_FOLDER, _IS_LINK, _IS_SOCKET = 0o170000, 0o040000, 0o120000, 0o140000


def main() -> NoReturn:
    """Run `flyball-hook`."""
    data = b""
    host = "/".join(sys.argv[1:3])
    if sys.argv[2:]:
        # A governor that this process starts prepares runs for hooks like this one.
        os.environ[LEVEL_VARIABLE] = sys.argv[2]
    if sys.argv[2:] == ["observe"]:
        observe(host)
    try:
        data = sys.stdin.buffer.read(MOST + 1)
        if len(data) > MOST:
            # The kind of event may come after the part that was read: never a yes.
            _print(b"", TOO_LARGE)
            os._exit(2)
        code = answer(host, data)
    except Exception as error:  # noqa: BLE001
        # Hosts treat a crashed hook as a yes.
        _print(b"", f"Flyball failed: {type(error).__name__}: {error}\n".encode())
        code = 2 if any(name in data for name in CALLS) else 1
    # Nothing remains to do, and finalizing the interpreter would cost as much as the answer did.
    os._exit(code)


def observe(host: str) -> NoReturn:
    """Record a payload, without output."""
    try:
        data = sys.stdin.buffer.read(MOST)
        place = address(here(), os.environ)
        if ask(place, host, data) is None:
            start_governor_and_ask(place, host, data)
    finally:
        # Hosts would treat anything else as a refusal, or show it to the user.
        os._exit(0)


def answer(host: str, data: bytes) -> int:
    """Print the answer to a payload, and return the exit code."""
    place = address(here(), os.environ)
    found = ask(place, host, data)
    if found is None:
        if only_reads(data):
            return 0
        found = start_governor_and_ask(place, host, data)
    _print(*found[1:])
    return found[0]


def start_governor_and_ask(place: str, host: str, data: bytes) -> tuple[int, bytes, bytes]:
    """Start a governor and return its answer; decide in this process if none may stay.

    Importing the judge takes most of the time. So of several hooks without a governor only one
    imports it, and becomes the governor of the others.
    """
    lock = _starting(place)
    if lock >= 0 and not _is_ours(lock):
        found = _await_other(place, lock, host, data)
        if found is not None:
            return found
    from flyball.hosts import answering

    # If the governor died or never started, this process decides.
    found = ask(place, host, data) if _start(place, lock, starter()) else None
    return found or answering.decide(host, data, os.getpid())


def _start(place: str, lock: int, starter: str) -> bool:
    """Start a resident governor; return whether one may stay here."""
    from flyball.hosts import answering

    is_there = False
    home = answering.stays_at(here(), starter)
    if home is not None:
        from flyball.hosts import resident

        is_there = resident.stay(place, home, PATIENCE)
    if lock >= 0:
        _release_start_lock(lock, b"" if is_there else NONE_CAME)
    return home is not None


def _starting(place: str) -> int:
    """Return the lock file for starting a governor; -1 if it cannot be opened."""
    folder = os.path.dirname(place)
    try:
        if not os.path.lexists(folder):
            os.mkdir(folder, 0o700)
        if objection_to_folder(folder):
            return -1
        flags = os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW
        return os.open(f"{place}.start", flags, 0o600)
    except OSError:
        return -1


def _is_ours(lock: int) -> bool:
    """Take the start lock; return False if another process is starting a governor."""
    try:
        # Not inherited by forked processes, and released when this one ends.
        os.lockf(lock, os.F_TLOCK, 0)
    except OSError:
        return False
    return True


def _release_start_lock(lock: int, mark: bytes) -> None:
    """Release the start lock, and signal whether a governor is available."""
    try:
        os.ftruncate(lock, 0)
        os.pwrite(lock, mark, 0)
    except OSError:
        pass  # They wait for the next one in vain, but not for long.
    os.close(lock)


def _await_other(place: str, lock: int, host: str, data: bytes) -> tuple[int, bytes, bytes] | None:
    """Return the answer of a governor that another process starts; None if that fails."""
    until = time.monotonic() + PATIENCE
    while os.pread(lock, len(NONE_CAME), 0) != NONE_CAME and time.monotonic() < until:
        found = ask(place, host, data)
        # The process that released it has started a governor, or knows that none may stay.
        if found is not None or _is_ours(lock):
            return found
        time.sleep(ASK_AGAIN)
    return None


def detach() -> bool:
    """Fork a detached process; return True in it, and False in the parent."""
    try:
        child = os.fork()
    except OSError:
        # The process limit is reached.
        return False
    if child:
        return False
    # A session of its own: a host that ends its hooks' process group must not end it.
    os.setsid()
    try:
        child = os.fork()
    except OSError:
        os._exit(1)
    if child:
        os._exit(0)
    nowhere = os.open(os.devnull, os.O_RDWR)
    for stream in (0, 1, 2):
        os.dup2(nowhere, stream)
    return True


READERS = ("Read", "Grep", "Glob", "LS", "read_file", "list_directory", "glob", "read", "grep")
"""The most common reading tools of hosts' models; the judge knows the others."""
AROUND_CALLS = ("PreToolUse", "BeforeTool", "PostToolUse", "AfterTool")


def only_reads(data: bytes) -> bool:
    """Return whether a payload is about a call that only reads ordinary files."""
    import json

    from flyball.secret_files import may_hold_secret

    try:
        payload = json.loads(data)
        is_reading = payload["tool_name"] in READERS and payload["hook_event_name"] in AROUND_CALLS
        given = payload["tool_input"].values() if is_reading else ()
        named = [each for each in given if isinstance(each, str)]
        # Also through links.
        place = payload.get("cwd") or ""
        places = [*named, *(os.path.realpath(os.path.join(place, each)) for each in named)]
        return (
            is_reading
            and all(isinstance(each, (str, int, float, type(None))) for each in given)
            and not any(map(may_hold_secret, places))
        )
    except (ValueError, LookupError, TypeError, AttributeError, RecursionError):
        return False


def starter() -> str:
    """Return the process that started this hook."""
    from flyball.workspace.process.ancestry import has_files, starter_above

    if has_files():
        return starter_above(os.getpid())
    from flyball.workspace.process.process_identity import starter_of

    return starter_of(os.getpid())


def _print(out: bytes, err: bytes) -> None:
    for stream, text in ((1, out), (2, err)):
        while text:
            text = text[os.write(stream, text) :]


def here() -> str:
    """Return the current directory; the root if it was deleted."""
    try:
        return os.getcwd()
    except OSError:
        return "/"


def address(cwd: str, environ: Mapping[str, str]) -> str:
    """Return the socket path of a directory's governor: one per project and user.

    It is short, since the kernel allows only a hundred characters, and not secret: the directory's
    mode decides who may connect, and the payload names the session.
    """
    state = environ.get("FLYBALL_STATE_DIR") or environ.get("XDG_STATE_HOME") or ""
    key = f"{top_of(cwd)}\n{state}\n{environ.get('HOME', '')}".encode()
    base = environ.get("XDG_RUNTIME_DIR") or "/tmp"
    return f"{base}/flyball-{os.getuid()}/{crc32(key):08x}{adler32(key):08x}"


def top_of(place: str) -> str:
    """Return the top of the project that contains a directory, or the directory."""
    top = place
    while not os.path.lexists(f"{top}/.git"):
        above = os.path.dirname(top)
        if above == top:
            break
        top = above
    return os.path.realpath(top)


def objection_to_folder(folder: str) -> str:
    """Return why the folder of governors' sockets may not be used; empty if it is private.

    In /tmp any user can create a folder of that name first, or a link to their own.
    """
    user = os.getuid()
    path = folder
    while path != os.path.dirname(path):
        try:
            found = os.lstat(path)
        except OSError as error:
            return f"{path} cannot be inspected: {error.strerror}"
        kind = found.st_mode & _KIND
        if path == folder and kind != _IS_FOLDER:
            return f"{path} is not a directory"
        if path == folder and found.st_uid != user:
            return f"{path} belongs to user {found.st_uid}"
        if path == folder and found.st_mode & 0o777 != 0o700:
            return f"{path} has the mode {found.st_mode & 0o777:04o}, not 0700"
        if kind == _IS_LINK and found.st_uid not in (0, user):
            return f"{path} is a link of user {found.st_uid}"
        path = os.path.dirname(path)
    return ""


def objection_to_socket(place: str) -> str:
    """Return why a socket may not be used; empty if only this user can access it."""
    if doubt := objection_to_folder(os.path.dirname(place)):
        return doubt
    try:
        found = os.lstat(place)
    except OSError as error:
        return f"{place} cannot be inspected: {error.strerror}"
    if found.st_mode & _KIND != _IS_SOCKET:
        return f"{place} is not a socket"
    if found.st_uid != os.getuid():
        return f"{place} belongs to user {found.st_uid}"
    return f"others may write to {place}" if found.st_mode & 0o022 else ""


def is_same_user(line: _socket.socket) -> bool:
    """Return whether this user listens at the other end, according to the kernel if it can tell."""
    if not hasattr(_socket, "SO_PEERCRED"):
        return True
    found = line.getsockopt(_socket.SOL_SOCKET, _socket.SO_PEERCRED, 12)
    return int.from_bytes(found[4:8], sys.byteorder) == os.getuid()


def ask(place: str, host: str, data: bytes) -> tuple[int, bytes, bytes] | None:
    """Return the resident governor's answer; None if there is none, or it died meanwhile.

    A socket that another user may have created is ignored: that user would read the payload, and
    their "allow" would count as ours.
    """
    if objection_to_socket(place):
        return None
    line = _socket.socket(_socket.AF_UNIX, _socket.SOCK_STREAM)
    try:
        line.connect(place)
        # Checked again on the open connection: the path may have changed meanwhile.
        if not is_same_user(line):
            return None
        line.sendall(b"%s %d\n" % (host.encode(), len(data)) + data)
        line.shutdown(_socket.SHUT_WR)
        return _received(line, data)
    except OSError:
        return None
    finally:
        line.close()


def _received(line: _socket.socket, data: bytes) -> tuple[int, bytes, bytes] | None:
    """Return the governor's answer. End a suspended governor: a hook starts another.

    Hosts make the call if a hook takes too long, so a question about a call has a shorter timeout.
    """
    is_call = any(name in data for name in CALLS)
    until = time.monotonic() + LONGEST_FOR_CALL
    line.settimeout(LOOK_AGAIN)
    chunks: list[bytes] = []
    while True:
        try:
            chunk = line.recv(1 << 16)
        except TimeoutError:
            if _end_stopped(line):
                return None
            if not is_call or time.monotonic() < until:
                continue
            return (0, b"", b"") if only_reads(data) else (2, b"", NO_ANSWER)
        if not chunk:
            return parse(b"".join(chunks))
        chunks.append(chunk)


def _end_stopped(line: _socket.socket) -> bool:
    """End the process at the other end if it is suspended; return whether it was."""
    if not hasattr(_socket, "SO_PEERCRED"):
        return False
    found = line.getsockopt(_socket.SOL_SOCKET, _socket.SO_PEERCRED, 12)
    pid = int.from_bytes(found[:4], sys.byteorder)
    try:
        with open(f"/proc/{pid}/stat", "rb") as file:
            state = file.read().rpartition(b")")[2].split()[0]
    except (OSError, IndexError):
        return False
    if state not in (b"T", b"t"):
        return False
    os.kill(pid, 9)
    return True


def parse(answer: bytes) -> tuple[int, bytes, bytes] | None:
    """Parse exit code, output and errors from an answer; None if it is incomplete."""
    head, _, rest = answer.partition(b"\n")
    words = head.split()
    if len(words) != 3 or not all(word.isdigit() for word in words):
        return None
    code, out, err = map(int, words)
    return (code, rest[:out], rest[out:]) if len(rest) == out + err else None
