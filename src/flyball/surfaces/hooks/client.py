"""`flyball-hook HOST`: hands a payload to the resident governor, and prints what it answers.

It starts for every single call of somebody's agent, so it loads nothing but what the interpreter
has loaded already. Where no governor answers, it starts one and asks that; where none may stay, it
decides by itself. What has leave to pass, as the judge has said beforehand, it lets pass. With
`--observe` it says nothing and exits with 0, whatever anybody answers and whatever fails.
"""

from __future__ import annotations

import _socket  # The public module would load six others, for a tenth of the time we have.
import os
import sys
import time
from zlib import adler32, crc32

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from typing import NoReturn

MOST = 64 << 20
"""Bytes of a payload that are read; no host sends so many."""
OBSERVE = "--observe"
CALLS = (b"PreToolUse", b"BeforeTool")
"""What only a payload has that asks whether a call may be made."""
ANSWERED_BEFOREHAND = (
    *CALLS,
    b"PostToolUse",
    b"AfterTool",
    b"PreCompact",
    b"PreCompress",
    b"PostToolBatch",
    b"Permission",
    b"Stop",
    b"AfterAgent",
    b"UserPromptSubmit",
    b"BeforeAgent",
)
"""What a payload has if the judge may have spoken of it already."""
PATIENCE = 10.0
"""Seconds that a governor has to start; hosts give their hooks a minute and more."""
ASK_AGAIN = 0.02
NONE_CAME = b"none"
"""Left by who last tried to start a governor, where none came of it: nobody waits for the next."""


def main() -> NoReturn:
    """The entry point of `flyball-hook`."""
    data = b""
    if sys.argv[2:] == [OBSERVE]:
        observe(sys.argv[1])
    try:
        data = sys.stdin.buffer.read(MOST)
        code = answer(sys.argv[1] if len(sys.argv) > 1 else "", data)
    except Exception as error:  # noqa: BLE001
        # Hosts take a hook that crashes for a yes.
        _print(b"", f"Flyball failed: {type(error).__name__}: {error}\n".encode())
        code = 2 if any(name in data for name in CALLS) else 1
    # Nothing is left to do, and tidying up the interpreter would cost as much as the answer did.
    os._exit(code)


def observe(host: str) -> NoReturn:
    """Have a payload written down, without a word."""
    try:
        data = sys.stdin.buffer.read(MOST)
        place = address(here(), os.environ)
        if ask(place, host + OBSERVE, data) is None:
            ask_anew(place, host + OBSERVE, data)
    finally:
        # Hosts would take anything else for a refusal, or show it to somebody.
        os._exit(0)


def answer(host: str, data: bytes) -> int:
    """Print the answer to a payload; the exit code comes back."""
    place = address(here(), os.environ)
    found = ask(place, host, data)
    if found is None:
        said = said_beforehand(host, data)
        if said is not None:
            words, waits_at = said
            _print(b"", f"{words}\n".encode("utf-8", "backslashreplace") if words else b"")
            if waits_at:
                take_up_behind(waits_at)
            return 2 if words else 0
        if opens_session(host, data):
            open_behind(place, host, data)
            return 0
        found = ask_anew(place, host, data)
    _print(*found[1:])
    return found[0]


def ask_anew(place: str, host: str, data: bytes) -> tuple[int, bytes, bytes]:
    """What a governor answers that starts now; this process by itself, where none may stay.

    Loading the judge takes most of the time, so of several hooks that find nobody only one does,
    and becomes the governor of the others.
    """
    lock = _starting(place)
    if lock >= 0 and not _is_ours(lock):
        found = _await_other(place, lock, host, data)
        if found is not None:
            return found
    from flyball.surfaces.hooks import answering

    # One that died over it, or never came, leaves it to this process.
    found = ask(place, host, data) if _start(place, lock, HookEyes().host()) else None
    return found or answering.decide(host, data, os.getpid())


def _start(place: str, lock: int, starter: str) -> bool:
    """Whether a governor may stay here; it is there by now, unless it died over that."""
    from flyball.surfaces.hooks import answering

    is_there = False
    home = answering.stays_at(here(), starter)
    if home is not None:
        from flyball.surfaces.hooks import resident

        is_there = resident.stay(place, home, PATIENCE)
    if lock >= 0:
        _let_go(lock, b"" if is_there else NONE_CAME)
    return home is not None


def _starting(place: str) -> int:
    """The file that is locked by whoever starts a governor; -1 where it cannot be had."""
    folder = os.path.dirname(place)
    try:
        if not os.path.isdir(folder):
            os.mkdir(folder, 0o700)
        flags = os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW
        return os.open(f"{place}.start", flags, 0o600)
    except OSError:
        return -1


def _is_ours(lock: int) -> bool:
    """Whether nobody else starts a governor; then that is up to this process."""
    try:
        # Not held by a process that this one forks, and gone with this one.
        os.lockf(lock, os.F_TLOCK, 0)
    except OSError:
        return False
    return True


def _let_go(lock: int, mark: bytes) -> None:
    """Let others go on, and tell them whether somebody is there to be asked."""
    try:
        os.ftruncate(lock, 0)
        os.pwrite(lock, mark, 0)
    except OSError:
        pass  # They wait for the next one in vain, and not for long.
    os.close(lock)


def _await_other(place: str, lock: int, host: str, data: bytes) -> tuple[int, bytes, bytes] | None:
    """What the governor answers that somebody else starts; None where none comes of it."""
    until = time.monotonic() + PATIENCE
    while os.pread(lock, len(NONE_CAME), 0) != NONE_CAME and time.monotonic() < until:
        found = ask(place, host, data)
        # Who has let go has started one, or knows that none may stay.
        if found is not None or _is_ours(lock):
            return found
        time.sleep(ASK_AGAIN)
    return None


def detach() -> bool:
    """Whether this is a new process, apart from whoever waits for its parent."""
    try:
        child = os.fork()
    except OSError:
        # No more processes may be started here.
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


def opens_session(host: str, data: bytes) -> bool:
    """Whether a payload only tells that a session begins: hosts are answered nothing to that."""
    if b"SessionStart" not in data:
        return False
    try:
        from flyball.app.hosts.leaves.leave import is_quiet_start

        return is_quiet_start(host, data, top_of, os.environ, HookEyes())
    except (OSError, ValueError, LookupError, TypeError, AttributeError):
        return False


def open_behind(place: str, host: str, data: bytes) -> None:
    """Have a process of its own remember a session, and start its governor where one may stay."""
    # Who is above this process can be seen only as long as it is there.
    starter = HookEyes().host()
    if not hasattr(os, "fork") or not detach():
        return
    try:
        lock = _starting(place)
        is_first = lock < 0 or _is_ours(lock)
        from flyball.surfaces.hooks import answering

        answering.open_session(host, data, starter)
        if is_first:
            _start(place, lock, starter)
    finally:
        os._exit(0)


def take_up_behind(top: str) -> None:
    """Have a process of its own open what a prompt begins, and end with that.

    A model thinks longer than that takes; whoever comes sooner does it, or waits for it.
    """
    if not hasattr(os, "fork") or not detach():
        return
    try:
        from flyball.surfaces.hooks import answering

        answering.catch_up(top)
    finally:
        os._exit(0)


def said_beforehand(host: str, data: bytes) -> tuple[str, str] | None:
    """What the judge has said of a payload beforehand: nothing where it passes, else why not.

    None where it has not; whatever is doubtful is left to it. Then the project in which a prompt
    waits to be taken up.
    """
    if not any(name in data for name in ANSWERED_BEFOREHAND):
        return None
    try:
        from flyball.app.hosts.leaves.leave import let_pass

        return let_pass(host, data, top_of, os.environ, HookEyes())
    except (OSError, ValueError, LookupError, TypeError, AttributeError):
        return None


class HookEyes:
    """The judge of commands and the look at a tree, without the judge of calls."""

    def only_looks(self, command: str, top: str) -> bool:
        """Whether a command is sure to change nothing, whatever its shell was told before."""
        from flyball.shellcheck import CommandKind, judge

        found = judge(command, phase="execute", root=top, fresh=False)
        return found.kind is CommandKind.READ_ONLY and found.decision == "allow"

    def shown(self, top: str, apart: Iterable[str], beside: Iterable[str]) -> str:
        """What a directory looks like now, without some folders and with some files beside it.

        Nothing where nobody knows.
        """
        from flyball.workspace.trees.footprint import footprint

        found = footprint(top, frozenset(apart), beside)
        return found.digest if found else ""

    def host(self) -> str:
        """The process that started this hook."""
        from flyball.workspace.process.ancestry import has_files, starter_above

        if has_files():
            return starter_above(os.getpid())
        from flyball.workspace.process.holder import starter_of

        return starter_of(os.getpid())


def _print(out: bytes, err: bytes) -> None:
    for stream, text in ((1, out), (2, err)):
        while text:
            text = text[os.write(stream, text) :]


def here() -> str:
    """Where this process is; the root, where its directory is gone."""
    try:
        return os.getcwd()
    except OSError:
        return "/"


def address(cwd: str, environ: Mapping[str, str]) -> str:
    """The socket of the governor for a directory: one per project and user.

    Short, since the kernel takes only a hundred characters, and not secret: who may connect is
    decided by the directory's mode, and whom an answer is about by the payload.
    """
    state = environ.get("FLYBALL_STATE_DIR") or environ.get("XDG_STATE_HOME") or ""
    key = f"{top_of(cwd)}\n{state}\n{environ.get('HOME', '')}".encode()
    base = environ.get("XDG_RUNTIME_DIR") or "/tmp"
    return f"{base}/flyball-{os.getuid()}/{crc32(key):08x}{adler32(key):08x}"


def top_of(place: str) -> str:
    """The top of the project that a directory is in, or the directory."""
    top = place
    while not os.path.lexists(f"{top}/.git"):
        above = os.path.dirname(top)
        if above == top:
            break
        top = above
    return os.path.realpath(top)


def ask(place: str, host: str, data: bytes) -> tuple[int, bytes, bytes] | None:
    """What the resident governor answers; None where there is none, or it died over it."""
    line = _socket.socket(_socket.AF_UNIX, _socket.SOCK_STREAM)
    try:
        line.connect(place)
        line.sendall(b"%s %d\n" % (host.encode(), len(data)) + data)
        line.shutdown(_socket.SHUT_WR)
        return parse(b"".join(iter(lambda: line.recv(1 << 16), b"")))
    except OSError:
        return None
    finally:
        line.close()


def parse(answer: bytes) -> tuple[int, bytes, bytes] | None:
    """Exit code, output and errors, as they came over the line; None where they are not whole."""
    head, _, rest = answer.partition(b"\n")
    words = head.split()
    if len(words) != 3 or not all(word.isdigit() for word in words):
        return None
    code, out, err = map(int, words)
    return (code, rest[:out], rest[out:]) if len(rest) == out + err else None
