"""Find Unix sockets in a tree on which processes outside this run listen, such as databases.

A path to a socket is equivalent to a port, and no network namespace covers it. This runs in the
bare interpreter of the supervisor, so it imports nothing that is slow to load.
"""

from __future__ import annotations

import _socket  # The public module would import six others.
import os
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    Bound = frozenset[tuple[int, int, int]]
    """The sockets of a network that have a path: device (two numbers) and inode of each."""

_KIND, _SOCKET = 0o170000, 0o140000
_SOCK_DIAG, _ASK_ALL_BY_FAMILY, _DONE, _ERROR = 4, 20, 3, 2
_REQUEST_DUMP, _SHOW_FILE, _FILE = 0x301, 0x2, 1
_HEADER, _MESSAGE = 16, 16


def find(tops: Iterable[str]) -> list[str]:
    """Return the sockets below some directories."""
    found: list[str] = []
    ahead = list(tops)
    while ahead:
        try:
            entries = os.scandir(ahead.pop())
        except OSError:
            continue
        with entries:
            for each in entries:
                if each.is_dir(follow_symlinks=False):
                    # Git's own objects are many, and none of them is a socket.
                    if not each.path.endswith("/.git/objects"):
                        ahead.append(each.path)
                elif not each.is_file(follow_symlinks=False) and _is_socket(each.path):
                    found.append(each.path)
    return found


def foreign(paths: Iterable[str], outside: Bound, own: Bound) -> list[str]:
    """Return the sockets on which a process outside the run's own network listens.

    A socket without a listener is only a name, which a test may want to bind itself.
    """
    named = [(path, _key(path)) for path in paths]
    return [
        path for path, key in named if key not in own and (key in outside or _is_answered(path))
    ]


def bound_here() -> Bound:
    """Return the sockets with a path in the network of this process."""
    if sys.platform != "linux":
        return frozenset()
    line = _socket.socket(_socket.AF_NETLINK, _socket.SOCK_RAW, _SOCK_DIAG)
    try:
        body = bytes((1, 0, 0, 0)) + b"\xff\xff\xff\xff" + bytes(4) + _word(_SHOW_FILE) + bytes(8)
        head = _word(_HEADER + len(body)) + _half(_ASK_ALL_BY_FAMILY) + _half(_REQUEST_DUMP)
        line.send(head + bytes(8) + body)
        found: set[tuple[int, int, int]] = set()
        while True:
            data = line.recv(1 << 17)
            while data:
                size, kind = _number(data[:4]), _number(data[4:6])
                if kind in (_DONE, _ERROR) or size < _HEADER:
                    return frozenset(found)
                found.update(_files_in(data[_HEADER + _MESSAGE : size]))
                data = data[(size + 3) & ~3 :]
    except OSError:
        return frozenset()
    finally:
        line.close()


def _files_in(attributes: bytes) -> Iterator[tuple[int, int, int]]:
    while len(attributes) >= 4:
        size, kind = _number(attributes[:2]), _number(attributes[2:4])
        if size < 4:
            return
        if kind == _FILE:
            inode, device = _number(attributes[4:8]), _number(attributes[8:12])
            yield device >> 20, device & 0xFFFFF, inode
        attributes = attributes[(size + 3) & ~3 :]


def _key(path: str) -> tuple[int, int, int]:
    try:
        found = os.lstat(path)
    except OSError:
        return 0, 0, 0
    return os.major(found.st_dev), os.minor(found.st_dev), found.st_ino & 0xFFFFFFFF


def _is_socket(path: str) -> bool:
    try:
        return os.lstat(path).st_mode & _KIND == _SOCKET
    except OSError:
        return False


def _is_answered(path: str) -> bool:
    """Return whether a process in another network, such as a container, accepts a connection."""
    line = _socket.socket(_socket.AF_UNIX, _socket.SOCK_STREAM)
    try:
        line.setblocking(False)
        line.connect(path)
    except (ConnectionRefusedError, FileNotFoundError):
        return False
    except OSError:
        return True
    finally:
        line.close()
    return True


def _word(value: int) -> bytes:
    return value.to_bytes(4, sys.byteorder)


def _half(value: int) -> bytes:
    return value.to_bytes(2, sys.byteorder)


def _number(data: bytes) -> int:
    return int.from_bytes(data, sys.byteorder)
