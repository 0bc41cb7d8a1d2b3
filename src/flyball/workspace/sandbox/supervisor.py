"""The supervisor: a small process between Flyball and a command.

It confines a child, lets it become the command, adopts every orphan of the command, monitors memory
and the number of processes, and ends them all when the command ends, when a limit is exceeded, or
when Flyball closes the control socket or dies.

It starts once per command, so it imports nothing that is slow to load: no typing, contextlib,
signal or pathlib, and no package initialiser runs.
"""

# ruff: noqa: PTH101, PTH116, PTH208, SIM105

from __future__ import annotations

import errno
import marshal
import os
import resource
import select
import sys
import time

from flyball.workspace.sandbox import kernel, landlock, sockets

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, NoReturn

ABNORMAL = "abnormal"
"""The reason for a command that ended in a way the kernel does not name."""
_GLANCE = 0.1
_COARSE = 20_000_000
"""Nanoseconds by which the kernel's file clock may lag behind the other one."""
_LENT_RIGHTS = 0o6000
_HEADER = 8
_STOP, _KILL = 19 if sys.platform == "linux" else 17, 9


def main(control: int) -> NoReturn:
    """Read the orders from the control socket, carry them out, and answer on it."""
    size = int.from_bytes(_read_exactly(control, _HEADER), "big")
    orders: dict[str, Any] = marshal.loads(_read_exactly(control, size))
    # The command must not hold this socket: it would stay open after Flyball's death.
    os.set_inheritable(control, False)
    if sys.platform == "linux":
        kernel.adopt_orphans()
    answer = _supervise(control, orders)
    try:
        os.write(control, marshal.dumps(answer))
    except OSError:
        pass  # no receiver is left
    os._exit(0)


def hold(control: int) -> NoReturn:
    """Keep a network for the servers of one run until the control socket closes."""
    try:
        names = kernel.hold_network()
        os.write(control, marshal.dumps(names))
    except OSError as error:
        os.write(control, marshal.dumps(str(error)))
        os._exit(1)
    while os.read(control, _HEADER):
        pass  # nothing is sent here; only the end of the sender matters
    os._exit(0)


def inner(fd: int) -> NoReturn:
    """Confine and become the command, already inside bubblewrap's namespaces."""
    orders: dict[str, Any] = marshal.loads(_drain(fd))
    _become_command(orders, orders["report"])


def _supervise(control: int, orders: dict[str, Any]) -> dict[str, Any]:
    heard, report = os.pipe()
    begun = time.time_ns() - _COARSE
    if orders["mechanism"] == "namespaces":
        found = sockets.find([orders["root"]])
        orders["sockets"] = (found, sockets.bound_here() if found else frozenset())
        try:
            # Before the fork, since a process namespace applies only to children created after it.
            kernel.leave_machine(network=orders["network"], joins=orders["joins"])
        except OSError as error:
            return {"status": None, "over": "", "report": b"confine:0:" + str(error).encode()}
    child = os.fork()
    if child == 0:
        _become_command(orders, report)
    os.close(report)
    os.set_blocking(heard, False)
    status, over = _watch(control, child, orders)
    _end_all(child)
    began, _, exit_code = _drain(heard).partition(b"\0")
    if exit_code and status is not None:
        status, over = (int(exit_code), over) if _is_end(int(exit_code)) else (None, ABNORMAL)
    if orders.get("root") and not orders["read_only"]:
        _clear_setid_bits(orders["root"], begun)
    answer = {"status": status, "over": over, "report": began}
    if orders["mechanism"] == "namespaces" and not orders["network"] and not orders["joins"]:
        answer["unreachable"] = _count_unreachable()
    return answer


def _watch(control: int, child: int, orders: dict[str, Any]) -> tuple[int | None, str]:
    """Wait for the child; a status of None means it had to be ended."""
    exits = _ends_of(child)
    while True:
        # Woken immediately by an exit or by Flyball, and ten times a second for the limits, which
        # have no events.
        ready, _, _ = select.select([control, *exits], [], [], _GLANCE)
        pid, status = os.waitpid(child, os.WNOHANG)
        if pid == child:
            return (status, "") if _is_end(status) else (None, ABNORMAL)
        if control in ready:
            return None, ""
        _reap_orphans(child)
        if over := _exceeded_limit(orders):
            return None, over


def _is_end(status: int) -> bool:
    return os.WIFEXITED(status) or os.WIFSIGNALED(status)


def _clear_setid_bits(top: str, begun: int) -> None:
    """Remove setuid and setgid bits from files that a command set since it began.

    Other users who can reach such a file could become this user, even much later.
    """
    ahead = [top]
    while ahead:
        try:
            entries = os.scandir(ahead.pop())
        except OSError:
            continue
        with entries:
            for each in entries:
                if each.is_dir(follow_symlinks=False):
                    if not each.path.endswith("/.git/objects"):
                        ahead.append(each.path)
                elif each.is_file(follow_symlinks=False):
                    _clear_setid_bit(each, begun)


def _clear_setid_bit(entry: os.DirEntry[str], begun: int) -> None:
    try:
        found = entry.stat(follow_symlinks=False)
        if found.st_mode & _LENT_RIGHTS and found.st_ctime_ns >= begun:
            os.chmod(entry.path, found.st_mode & 0o1777)
    except OSError:
        pass  # it is gone, or another user's


def _ends_of(child: int) -> list[int]:
    """Return descriptors that are readable when a child has ended, if the kernel supports it."""
    if sys.platform != "linux":
        return []
    try:
        return [os.pidfd_open(child)]
    except OSError:
        return []


def _exceeded_limit(orders: dict[str, Any]) -> str:
    pids = _descendants()
    if len(pids) > orders["processes"]:
        return "processes"
    pages = sum(_read_number(f"/proc/{pid}/statm", 1) for pid in pids)
    used = pages * os.sysconf("SC_PAGE_SIZE") + _files_in_memory(pids)
    if orders["mechanism"] == "namespaces":
        used += _segments()
    return "memory" if used > orders["memory"] else ""


def _files_in_memory(pids: list[int]) -> int:
    """Return the size of the command's own /dev/shm, which no process's pages include."""
    for pid in pids:
        place = f"/proc/{pid}/root/dev/shm"
        try:
            # The command has no right to write to the machine's own.
            if os.stat(place).st_dev == os.stat("/dev/shm").st_dev:
                continue
            found = os.statvfs(place)
        except OSError:
            continue
        return (found.f_blocks - found.f_bfree) * found.f_frsize
    return 0


def _segments() -> int:
    """Return the pages of all shared memory segments in the command's namespace."""
    try:
        lines = _read_text("/proc/sysvipc/shm").splitlines()[1:]
        return sum(int(line.split()[14]) for line in lines)
    except (OSError, IndexError):
        return 0


def _end_all(child: int) -> None:
    """Stop, then kill, then collect every descendant, until none remains."""
    # All are stopped before one is killed, or running ones could fork meanwhile; and again until
    # none is left, because a fork may have been in progress. Orphans become our children
    # (`adopt_orphans`), so the list is complete in the end.
    _send(_KILL, -child)
    while True:
        pids = _descendants()
        for wanted in (_STOP, _KILL):
            for pid in pids:
                _send(wanted, pid)
        try:
            os.waitpid(-1, 0)
        except ChildProcessError:
            return


def _reap_orphans(child: int) -> None:
    """Collect adopted processes that ended, without collecting the child's own status."""
    for pid in _children(os.getpid()):
        if pid != child:
            try:
                os.waitpid(pid, os.WNOHANG)
            except ChildProcessError:
                continue


def _send(number: int, pid: int) -> None:
    try:
        os.kill(pid, number)
    except (ProcessLookupError, PermissionError):
        return


def _descendants() -> list[int]:
    found: list[int] = []
    ahead = [os.getpid()]
    while ahead:
        children = _children(ahead.pop())
        found += children
        ahead += children
    return found


def _children(parent: int) -> list[int]:
    found: list[int] = []
    try:
        for thread in os.listdir(f"/proc/{parent}/task"):
            found += map(int, _read_text(f"/proc/{parent}/task/{thread}/children").split())
    except OSError:
        return found
    return found


def _count_unreachable() -> int:
    """Return the number of packets without a route in the command's network namespace."""
    # Read after everything ended: the namespace still exists because this process is in it.
    names, values = (line.split() for line in _read_text("/proc/self/net/snmp").splitlines()[:2])
    count = int(values[names.index(b"OutNoRoutes")])
    for line in _read_text("/proc/self/net/snmp6").splitlines():
        if line.startswith(b"Ip6OutNoRoutes"):
            count += int(line.split()[1])
    return count


def _read_number(path: str, column: int) -> int:
    try:
        return int(_read_text(path).split()[column])
    except (OSError, IndexError):
        return 0


def _read_text(path: str) -> bytes:
    fd = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    try:
        return os.read(fd, 1 << 20)
    finally:
        os.close(fd)


def _become_command(orders: dict[str, Any], report: int) -> NoReturn:
    """Confine this process and turn it into the command; report the progress."""
    step = b"confine"
    try:
        if orders["mechanism"] == "bubblewrap":
            _enter_bubblewrap(orders, report)
        os.set_inheritable(report, False)
        os.setsid()
        if sys.platform == "linux":
            kernel.die_with_parent()
        _set_rlimits(orders)
        if orders["mechanism"] == "namespaces":
            _enter_namespace(orders, report)
        _confine(orders)
        step = b"directory"
        os.chdir(orders["cwd"])
        step = b"start"
        # Here and not in the supervisor, which must outlive a socket that Flyball closed.
        kernel.default_signals()
        # Reported before exec and withdrawn by an error after it: after a successful exec this code
        # is gone, and the pipe closes by itself.
        os.write(report, b"+")
        os.execvpe(orders["argv"][0], orders["argv"], orders["env"])
    except OSError as error:
        code = str(error.errno or errno.EPERM).encode()
        os.write(report, step + b":" + code + b":" + str(error).encode()[:2000])
    os._exit(127)


def _enter_namespace(orders: dict[str, Any], report: int) -> None:
    """Build the new root, then remain as the namespace's first process; the child continues."""
    found, outside = orders["sockets"]
    # The sockets of the run's own servers are in its own network, and stay reachable.
    foreign = sockets.foreign(found, outside, sockets.bound_here()) if found else []
    kernel.see_only(
        orders["stage"],
        orders["shown"],
        orders["writable"],
        orders["instead"],
        orders["fixed"],
        [*orders["hidden"], *foreign],
        orders["veiled"],
        orders["memory"],
        orders["layers"],
    )
    # The first process of a namespace has no default signal actions, must collect all orphans, and
    # ends all processes in it when it ends. No command expects any of that.
    child = os.fork()
    if child == 0:
        os.setsid()
        kernel.die_with_parent()
        return
    while True:
        pid, status = os.waitpid(-1, 0)
        # A stop is reported here only for a child that made us its tracer; it would never continue.
        if pid == child:
            os.write(report, b"\0" + str(status).encode())
            os._exit(0)


def _enter_bubblewrap(orders: dict[str, Any], report: int) -> NoReturn:
    """Let bubblewrap create the namespaces and start this module again inside them."""
    os.setsid()
    # Inherited memory: no path is visible on both sides of the new root, and arguments are limited.
    passed = os.memfd_create("orders", 0)
    os.write(passed, marshal.dumps({**orders, "mechanism": "inner", "report": report}))
    os.lseek(passed, 0, os.SEEK_SET)
    os.set_inheritable(passed, True)
    os.set_inheritable(report, True)
    argv = [*orders["bubblewrap"], *orders["inner"], str(passed)]
    os.execve(argv[0], argv, orders["env"])


def _set_rlimits(orders: dict[str, Any]) -> None:
    for name, value in orders["rlimits"]:
        number = getattr(resource, name, None)
        if number is None:
            continue
        # Hard as well as soft, or the command could raise it again; above the current hard limit is
        # an error except for root.
        _, hard = resource.getrlimit(number)
        ceiling = value if hard == resource.RLIM_INFINITY else min(value, hard)
        resource.setrlimit(number, (ceiling, ceiling))


def _confine(orders: dict[str, Any]) -> None:
    if orders["mechanism"] == "none":
        return
    # In this order: Landlock and the filter need no-new-privileges, and the filter, installed last,
    # need not allow the calls that the other two make.
    kernel.forgo_privileges()
    landlock.restrict(orders["grants"], network=orders["open_ports"])
    if orders["filter"]:
        kernel.filter_calls(orders["filter"])


def _read_exactly(fd: int, size: int) -> bytes:
    data = b""
    while len(data) < size:
        piece = os.read(fd, size - len(data))
        if not piece:
            os._exit(1)
        data += piece
    return data


def _drain(fd: int) -> bytes:
    data = b""
    try:
        while piece := os.read(fd, 65536):
            data += piece
    except BlockingIOError:
        return data
    return data
