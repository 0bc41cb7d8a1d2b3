"""Linux system calls that a process makes before it becomes a third-party command.

This runs in the bare interpreter of the supervisor, once per command, so it imports nothing that is
slow to load: no pathlib, no contextlib, no signal.
"""

# ruff: noqa: PTH101, PTH102, PTH103, PTH112, PTH114, PTH115, PTH116, PTH120, PTH211

from __future__ import annotations

import ctypes
import errno
import os
from os.path import dirname, isdir, islink, lexists, realpath

from flyball.workspace.sandbox import sockets

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

_SET_NO_NEW_PRIVILEGES, _SET_CHILD_SUBREAPER, _SET_PARENT_DEATH_SIGNAL = 38, 36, 1
_SET_SECCOMP, _FILTER = 22, 2
_DROP_FROM_BOUNDING_SET = 24

_NEW_MOUNTS, _NEW_IPC, _NEW_USERS = 0x20000, 0x8000000, 0x10000000
_NEW_PROCESSES, _NEW_NETWORK = 0x20000000, 0x40000000
_BIND, _RECURSIVE, _PRIVATE = 0x1000, 0x4000, 0x40000
_NO_SETUID, _NO_DEVICES, _NO_EXECUTION = 0x2, 0x4, 0x8
_MOUNT_SETATTR = 442
_AT_CWD, _AT_RECURSIVE = -100, 0x8000
_READ_ONLY = 0x1
_DETACH = 2
_CAPABILITIES_V3 = 0x20080522
_FILE_CAPABILITIES = 0b11011
"""chown, dac_override, fowner, fsetid: what a container's root needs for files.

dac_read_search is excluded: it opens files by number, bypassing every mount.
"""

_LIBC = ctypes.CDLL(None, use_errno=True)
"""Cached, since each instance creates a class, which takes longer than the call."""
_DEVICES = ("null", "zero", "full", "random", "urandom", "tty")


class _MountAttributes(ctypes.Structure):
    _fields_ = tuple((name, ctypes.c_uint64) for name in ("add", "drop", "propagation", "users"))


class _Filter(ctypes.Structure):
    _fields_ = (("length", ctypes.c_ushort), ("code", ctypes.c_char_p))


class _InterfaceFlags(ctypes.Structure):
    _fields_ = (
        ("name", ctypes.c_char * 16),
        ("flags", ctypes.c_short),
        ("rest", ctypes.c_char * 22),
    )


def default_signals() -> None:
    """Undo the interpreter's signal settings: SIGPIPE and SIGXFSZ end a program again."""
    # Python ignores both at start, and an ignored signal stays ignored across exec: `yes | head`
    # would never end.
    for number in (13, 25):
        _libc().signal(number, None)


def die_with_parent() -> None:
    """Make the kernel kill this process when the supervisor dies, however that happens."""
    _checked("parent's death", _libc().prctl(_SET_PARENT_DEATH_SIGNAL, 9, 0, 0, 0))


def adopt_orphans() -> None:
    """Become the parent of every descendant whose own parent dies."""
    _checked("subreaper", _libc().prctl(_SET_CHILD_SUBREAPER, 1, 0, 0, 0))


def forgo_privileges() -> None:
    """Permanently give up every capability except those over files, and setuid privileges."""
    libc = _libc()
    # The bounding set goes first: the right to change it is among those given up below. Up to 64
    # and unchecked, because newer kernels add capabilities and older ones do not know all of these.
    for capability in (2, *range(5, 64)):
        libc.prctl(_DROP_FROM_BOUNDING_SET, capability, 0, 0, 0)
    keep = _FILE_CAPABILITIES if os.geteuid() == 0 else 0
    header = (ctypes.c_uint32 * 2)(_CAPABILITIES_V3, 0)
    data = (ctypes.c_uint32 * 6)()
    libc.capget(header, data)
    for index in range(6):
        data[index] &= keep if index in (0, 1) else 0
    _checked("capabilities", libc.capset(header, data))
    # Without this, an unprivileged process can install neither Landlock nor a call filter, and a
    # setuid program would restore what was just given up.
    _checked("no-new-privileges", libc.prctl(_SET_NO_NEW_PRIVILEGES, 1, 0, 0, 0))


def filter_calls(code: bytes) -> None:
    """Make the kernel refuse the calls of this filter permanently, for all children as well."""
    program = _Filter(len(code) // 8, code)
    _checked("call filter", _libc().prctl(_SET_SECCOMP, _FILTER, ctypes.byref(program), 0, 0))


def leave_machine(*, network: bool, joins: Sequence[int] = ()) -> None:
    """Leave the machine's users, shared memory, processes and, unless allowed, its network.

    The next child is the first process of the new process namespace. `joins` are namespaces, opened
    by `hold_network` and in its order, that are entered instead of new ones.
    """
    spaces = _NEW_IPC | _NEW_PROCESSES | (0 if network or joins else _NEW_NETWORK)
    for fd in joins:
        _checked("joining", _libc().setns(fd, 0))
        # A command that held it could keep the network alive after the run.
        os.close(fd)
    if joins:
        _checked("namespaces", _libc().unshare(spaces))
        return
    _leave(spaces)
    if not network:
        _raise_loopback()


def hold_network() -> tuple[str, ...]:
    """Create a network with only its own loopback; return the names by which others may join it."""
    _leave(_NEW_NETWORK)
    _raise_loopback()
    # Its user namespace first: its members may then join the network that belongs to it.
    return ("net",) if os.geteuid() == 0 else ("user", "net")


def _leave(spaces: int) -> None:
    user, group = os.geteuid(), os.getegid()
    if user == 0:
        # Root needs no user namespace, and would lose its rights over other users' files in one.
        _checked("namespaces", _libc().unshare(spaces))
    else:
        _checked("namespaces", _libc().unshare(spaces | _NEW_USERS))
        # The kernel accepts an unprivileged gid_map only after setgroups was denied. Only the
        # user's own id is mapped, so files keep their owner.
        _write_text("/proc/self/setgroups", "deny")
        _write_text("/proc/self/uid_map", f"{user} {user} 1")
        _write_text("/proc/self/gid_map", f"{group} {group} 1")


def see_only(
    stage: str,
    shown: Iterable[str],
    writable: Iterable[str],
    instead: Iterable[tuple[str, str]],
    fixed: Iterable[str],
    hidden: Iterable[str],
    veiled: Iterable[str],
    shared: int,
    layers: Mapping[str, str] | None = None,
) -> None:
    """Set up a new root in which only these paths exist, and only some are writable.

    `instead` are directories mounted writable over others; `fixed` are read-only paths inside
    writable ones, `hidden` unreadable ones inside shown ones, `veiled` shown ones whose sockets
    cannot be reached; `shared` is the size limit of in-memory files in bytes. What is written to a
    directory in `layers` goes to the directory mapped to it.
    """
    _checked("namespaces", _libc().unshare(_NEW_MOUNTS))
    # systemd shares all mounts: without this, these mounts would appear on the whole machine.
    _mount("none", "/", "", _RECURSIVE | _PRIVATE)
    _mount("tmpfs", stage, "tmpfs", _NO_SETUID | _NO_DEVICES)
    open_to_change = set(writable)
    # The private home comes first, so that toolchains of the real home can still be shown inside
    # it.
    for source, path in instead:
        _show(stage, source, path, change=True)
    _make_devices(stage, shared)
    _make_processes(stage)
    apart = set(veiled) - open_to_change
    for path in sorted({*shown, *open_to_change}):
        if layers and path in layers:
            _layer(stage, path, layers[path])
        elif path in apart and isdir(path) and not islink(path):
            _veil(stage, path)
        elif path != "/proc" and lexists(path):
            _show(stage, path, path, change=path in open_to_change)
    # Last, on top of the writable directories that contain them: later mounts cover earlier ones.
    for path in fixed:
        if lexists(stage + path):
            _show(stage, path, path, change=False)
    for path in hidden:
        _hide(stage, path)
    _set_attributes(stage, add=_READ_ONLY)
    os.chdir(stage)
    # pivot_root and not chroot, which a process with the right capability can leave. The new root
    # is stacked on the old one, so that no directory for the old one is needed; it is then
    # detached.
    _checked("pivot", _libc().syscall(_pivot_root(), b".", b"."))
    _checked("detach", _libc().umount2(b".", _DETACH))
    os.chdir("/")


def _show(stage: str, source: str, path: str, *, change: bool) -> None:
    target = stage + path
    if islink(path) and source == path:
        if not lexists(target):
            os.makedirs(dirname(target), exist_ok=True)
            os.symlink(os.readlink(path), target)
        return
    if realpath(target) != target:
        return  # this is a link; its target is shown by its own name
    _make_place(target, directory=isdir(source))
    _mount(source, target, "", _BIND | _RECURSIVE)
    # A bind mount ignores the read-only flag at first; only a second call sets it, and this one
    # also for the mounts below it.
    if not change:
        _set_attributes(target, add=_READ_ONLY, recursive=True)


def _veil(stage: str, path: str) -> None:
    """Show a directory read-only and without its sockets, including those created later."""
    target, nothing = stage + path, f"{dirname(stage)}/nothing"
    if realpath(target) != target:
        return
    _make_place(target, directory=True)
    os.makedirs(nothing, exist_ok=True)
    layers = f"lowerdir={nothing}:{path},userxattr"
    try:
        # Files of an overlay differ from those below it, so its sockets have no listeners.
        if any(each in path for each in ":,\\"):
            raise OSError(errno.EINVAL, "overlay")
        _mount("overlay", target, "overlay", _READ_ONLY | _NO_SETUID | _NO_DEVICES, layers)
    except OSError:
        _show(stage, path, path, change=False)
        for each in sockets.find([path]):
            _hide(stage, each)


def _layer(stage: str, path: str, layer: str) -> None:
    """Show a directory as writable, with all writes going to an overlay above it."""
    target = stage + path
    if realpath(target) != target:
        return
    _make_place(target, directory=True)
    for each in ("upper", "work"):
        os.makedirs(f"{layer}/{each}", exist_ok=True)
    # A directory in the overlay must have the owner and mode of its lower one, or the owner could
    # not enter it.
    os.chmod(f"{layer}/upper", os.stat(path).st_mode & 0o7777)
    try:
        if any(each in path for each in ":,\\"):
            raise OSError(errno.EINVAL, "overlay")
        options = f"lowerdir={path},upperdir={layer}/upper,workdir={layer}/work,userxattr"
        _mount("overlay", target, "overlay", _NO_SETUID | _NO_DEVICES, options)
    except OSError:
        _veil(stage, path)


def own_mounts(scratch: str) -> None:
    """Create a mount namespace, and mount an empty in-memory directory at `scratch`."""
    _checked("namespaces", _libc().unshare(_NEW_MOUNTS))
    _mount("none", "/", "", _RECURSIVE | _PRIVATE)
    _mount("tmpfs", scratch, "tmpfs", _NO_SETUID | _NO_DEVICES)


def _make_place(target: str, *, directory: bool) -> None:
    os.makedirs(target if directory else dirname(target), exist_ok=True)
    if not directory and not lexists(target):
        os.close(os.open(target, os.O_CREAT | os.O_WRONLY | os.O_CLOEXEC, 0o644))


def _make_devices(stage: str, shared: int) -> None:
    os.makedirs(f"{stage}/dev/shm")
    for name in _DEVICES:
        _show(stage, f"/dev/{name}", f"/dev/{name}", change=False)
    for name, place in (("fd", ""), ("stdin", "/0"), ("stdout", "/1"), ("stderr", "/2")):
        os.symlink(f"/proc/self/fd{place}", f"{stage}/dev/{name}")
    flags = _NO_SETUID | _NO_DEVICES | _NO_EXECUTION
    _mount("tmpfs", f"{stage}/dev/shm", "tmpfs", flags, f"size={shared},nr_inodes=65536")
    os.mkdir(f"{stage}/dev/pts")
    # An instance of its own: in the machine's, a command could write to other terminals.
    _mount("devpts", f"{stage}/dev/pts", "devpts", _NO_SETUID, "newinstance,ptmxmode=0666")
    os.symlink("pts/ptmx", f"{stage}/dev/ptmx")


def _make_processes(stage: str) -> None:
    """Mount the processes of the new namespace, or all of them where a container forbids that."""
    os.mkdir(f"{stage}/proc")
    flags = _NO_SETUID | _NO_DEVICES | _NO_EXECUTION | _READ_ONLY
    try:
        _mount("proc", f"{stage}/proc", "proc", flags)
    except OSError:
        _show(stage, "/proc", "/proc", change=False)


def _hide(stage: str, path: str) -> None:
    target = stage + path
    if isdir(target):
        _mount("tmpfs", target, "tmpfs", _NO_SETUID | _NO_DEVICES, "mode=000")
    elif lexists(target):
        _mount("/dev/null", target, "", _BIND)
        _set_attributes(target, add=_READ_ONLY)


def _raise_loopback() -> None:
    """Bring up loopback, which is down in a new network namespace."""
    fd = _checked("socket", _libc().socket(2, 2, 0))
    try:
        request = _InterfaceFlags(b"lo", 0x1 | 0x40)
        _checked("loopback", _libc().ioctl(fd, 0x8914, ctypes.byref(request)))
    finally:
        os.close(fd)


def _set_attributes(path: str, *, add: int, recursive: bool = False) -> None:
    attributes = _MountAttributes(add, 0, 0, 0)
    result = _libc().syscall(
        _MOUNT_SETATTR,
        _AT_CWD,
        path.encode(),
        _AT_RECURSIVE if recursive else 0,
        ctypes.byref(attributes),
        ctypes.sizeof(attributes),
    )
    _checked(f"read-only {path}", result)


def _mount(source: str, target: str, kind: str, flags: int, data: str = "") -> None:
    result = _libc().mount(
        os.fsencode(source),
        os.fsencode(target),
        kind.encode() or None,
        ctypes.c_ulong(flags),
        data.encode() or None,
    )
    _checked(f"mount {target}", result)


def _write_text(path: str, text: str) -> None:
    fd = os.open(path, os.O_WRONLY | os.O_CLOEXEC)
    os.write(fd, text.encode())
    os.close(fd)


def _pivot_root() -> int:
    return 155 if os.uname().machine == "x86_64" else 41


def _libc() -> ctypes.CDLL:
    # With ctypes, because the standard library wraps none of these calls; see
    # docs/decisions/0009-landlock-binding.md.
    return _LIBC


def _checked(what: str, result: int) -> int:
    """Return the result of a call, or raise an error with the call and the reason."""
    if result < 0:
        code = ctypes.get_errno() or errno.EPERM
        raise OSError(code, f"{what}: {os.strerror(code)}")
    return result
