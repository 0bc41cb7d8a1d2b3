"""`flyball-hook HOST`: hands a payload to the resident governor, and prints what it answers.

It starts for every single call of somebody's agent, so it loads nothing but what the interpreter
has loaded already. Where no governor answers, this process decides by itself, and then becomes the
resident one. What has leave to pass, as the judge has said beforehand, it lets pass. With
`--observe` it says nothing and exits with 0, whatever anybody answers and whatever fails.
"""

from __future__ import annotations

import _socket  # The public module would load six others, for a tenth of the time we have.
import os
import sys
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
MOMENTS_OF_CALLS = (*CALLS, b"PostToolUse", b"AfterTool")


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
        place = address(os.getcwd(), os.environ)
        if ask(place, host + OBSERVE, data) is None:
            from flyball.surfaces.hooks import resident

            resident.decide(host + OBSERVE, data, os.getpid())
            resident.stay(place)
    finally:
        # Hosts would take anything else for a refusal, or show it to somebody.
        os._exit(0)


def answer(host: str, data: bytes) -> int:
    """Print the answer to a payload; the exit code comes back."""
    place = address(os.getcwd(), os.environ)
    found = ask(place, host, data)
    if found is not None:
        _print(*found[1:])
        return found[0]
    words = said_beforehand(host, data)
    if words is not None:
        _print(b"", f"{words}\n".encode("utf-8", "backslashreplace") if words else b"")
        return 2 if words else 0
    from flyball.surfaces.hooks import resident

    code, out, err = resident.decide(host, data, os.getpid())
    _print(out, err)
    resident.stay(place)
    return code


def said_beforehand(host: str, data: bytes) -> str | None:
    """What the judge has said of a payload beforehand: nothing where it passes, else why not.

    None where it has not; whatever is doubtful is left to it.
    """
    if not any(name in data for name in MOMENTS_OF_CALLS):
        return None
    try:
        from flyball.app.hosts.leave import let_pass

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

    def shown(self, top: str, apart: Iterable[str]) -> str:
        """What a directory looks like now, without some folders; nothing where nobody knows."""
        from flyball.workspace.trees.footprint import footprint

        found = footprint(top, frozenset(apart))
        return found.digest if found else ""


def _print(out: bytes, err: bytes) -> None:
    for stream, text in ((1, out), (2, err)):
        while text:
            text = text[os.write(stream, text) :]


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
    try:
        line = _socket.socket(_socket.AF_UNIX, _socket.SOCK_STREAM)
        line.connect(place)
        line.sendall(b"%s %d\n" % (host.encode(), len(data)) + data)
        line.shutdown(_socket.SHUT_WR)
        return parse(b"".join(iter(lambda: line.recv(1 << 16), b"")))
    except OSError:
        return None


def parse(answer: bytes) -> tuple[int, bytes, bytes] | None:
    """Exit code, output and errors, as they came over the line; None where they are not whole."""
    head, _, rest = answer.partition(b"\n")
    words = head.split()
    if len(words) != 3 or not all(word.isdigit() for word in words):
        return None
    code, out, err = map(int, words)
    return (code, rest[:out], rest[out:]) if len(rest) == out + err else None
