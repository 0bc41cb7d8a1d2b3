"""Run one third-party command confined, with its terminal, streams, signals and exit code.

`execute` is the entry point. The sandbox is that of a run's commands; the difference is that the
command is connected directly to its caller: no pipe, no session of its own, no limit. It must start
in milliseconds, so it imports only what the supervisor imports.

Four processes: this one waits and forwards signals; the second leaves the machine's users,
processes and network; the third is the first process of the new namespace, builds the root and
collects orphans; the fourth is the command.
"""

from __future__ import annotations

import marshal
import os

from flyball.secret_files import could_be_secret, holds_secret, is_secret_variable
from flyball.workspace.sandbox import kernel, landlock, places, seccomp, sockets, temporary

TYPE_CHECKING = False
if TYPE_CHECKING:
    import signal as _signal
    from collections.abc import Iterator, Mapping, Sequence
    from typing import Any, NoReturn
else:
    import _signal  # The public module would build its enumerations first.

_SCRATCH = ("/dev/shm", "/mnt", "/media", "/srv")
"""Directories of which one is covered by our own in-memory files; none of them is visible."""
_PASSED_ON = (1, 2, 3, 10, 12, 15, 28)
"""SIGHUP, SIGINT, SIGQUIT, SIGUSR1, SIGUSR2, SIGTERM, SIGWINCH."""
_CHILD = 17
_TOO_WIDE = "{} holds the whole home directory: go to a project's directory"
_MOST_NAMED = 5
_MOST_COMPARED = 1 << 20
"""Size in bytes from which a written file counts as changed."""
_TOO_MUCH = "what it wrote to /tmp was not kept: it is too much"
_BESIDE = frozenset(
    ("__pycache__", "node_modules", ".venv", "venv", ".tox", ".nox", "target", ".git", ".hg")
)
"""Directories that are not searched for secrets and whose written files are not reported."""
_CACHES = frozenset(
    (".pytest_cache", ".mypy_cache", ".ruff_cache", ".hypothesis", ".cache", ".coverage", ".eggs")
)
"""Caches that tools write by themselves, often with an ignore file of their own."""


class Scene:
    """The context of a command: its directory, its project, and the user's home.

    `more` are the user's patterns for secret files.
    """

    def __init__(
        self,
        argv: Sequence[str],
        environ: Mapping[str, str],
        *,
        read_only: bool,
        more: Sequence[str] = (),
    ) -> None:
        self.argv = argv
        self.more = more
        self.cwd = os.getcwd()
        self.top = project_top(self.cwd)
        self.home = os.path.realpath(environ.get("HOME") or "/")
        self.environ = environ
        self.read_only = read_only

    def at(self, top: str) -> Scene:
        """Return the scene of another directory."""
        other = object.__new__(Scene)
        other.__dict__.update(self.__dict__, top=top)
        return other

    @property
    def is_too_wide(self) -> bool:
        """Return whether the project contains the user's whole home, so that nothing can be
        hidden."""
        return self.top == "/" or f"{self.home}/".startswith(f"{self.top}/")


def execute(scene: Scene, protected: Sequence[str] = (), *, tells: bool = False) -> int:
    """Run a command confined to its end; return its exit code, or 128 plus the signal number.

    `protected` are names at the top of the project that stay read-only even with `--project`.
    `tells` prints on stderr if nothing confines it here. A signal ends this process the same way.
    """
    if scene.is_too_wide:
        _print_error(_TOO_WIDE.format(scene.top))
        return 126
    found = _attempt(scene, protected)
    if found[0] == "unconfined":
        if tells:
            _print_error(f"nothing confines this command here: {found[1]}")
        return _run_plain(scene.argv)
    if found[0] == "exec":
        _print_error(f"{scene.argv[0]}: {os.strerror(found[1])}")
        return 127 if found[1] == 2 else 126
    _report_writes(scene, found[2])
    if not found[3]:
        _print_error(_TOO_MUCH)
    return _end_alike(found[1])


def obstacle(environ: Mapping[str, str]) -> str:
    """Return why no command can be confined in this directory, or an empty string; it tries one."""
    scene = Scene(["true"], environ, read_only=True)
    if scene.is_too_wide:
        return _TOO_WIDE.format(scene.top)
    found = _attempt(scene, ())
    if found[0] == "ended" and os.waitstatus_to_exitcode(found[1]) == 0:
        return ""
    return str(found[1]) if found[0] == "unconfined" else "a command did not end"


def _attempt(scene: Scene, protected: Sequence[str]) -> tuple[Any, ...]:
    """Run the command; return its result, or the sandbox's failure."""
    hear, speak = os.pipe()
    blocked = _signal.pthread_sigmask(_signal.SIG_BLOCK, (*_PASSED_ON, _CHILD))
    child = os.fork()
    if child == 0:
        os.close(hear)
        _leave(scene, protected, speak, blocked)
    os.close(speak)
    _await(child)
    answer = _drain(hear)
    os.close(hear)
    _signal.pthread_sigmask(_signal.SIG_SETMASK, blocked)
    return marshal.loads(answer) if answer else ("ended", 9, [], True)


def _end_alike(status: int) -> int:
    if os.WIFEXITED(status):
        return os.WEXITSTATUS(status)
    number = os.WTERMSIG(status)
    # The caller must see exactly how the command ended.
    _signal.signal(number, _signal.SIG_DFL) if number not in (9, 19) else None
    _signal.pthread_sigmask(_signal.SIG_UNBLOCK, (number,))
    os.kill(os.getpid(), number)
    return 128 + number


def _run_plain(argv: Sequence[str]) -> int:
    kernel.default_signals()
    try:
        os.execvp(argv[0], list(argv))
    except OSError as error:
        _print_error(f"{argv[0]}: {error.strerror}")
        return 127 if isinstance(error, FileNotFoundError) else 126


def _await(child: int) -> None:
    """Wait for the first child; forward signals sent only to this process to the command."""
    while True:
        got = _signal.sigwaitinfo((*_PASSED_ON, _CHILD))
        if got.si_signo == _CHILD:
            if os.waitpid(child, os.WNOHANG)[0]:
                return
        # The kernel sends a terminal's signals to the command as well.
        elif got.si_code <= 0:
            _send(got.si_signo, child)


def _send(number: int, child: int) -> None:
    pid = child
    for _ in range(2):
        try:
            with open(f"/proc/{pid}/task/{pid}/children", "rb") as file:
                below = file.read().split()
        except OSError:
            return
        if not below:
            # Nothing has started yet that could receive it.
            number = 9
            break
        pid = int(below[0])
    try:
        os.kill(pid, number)
    except OSError:
        return


def _leave(scene: Scene, protected: Sequence[str], report: int, blocked: Any) -> NoReturn:
    """Leave the machine's users, processes and network, and wait for the process inside."""
    code = 0
    try:
        kernel.die_with_parent()
        orders = _orders(scene, protected)
        kernel.leave_machine(network=False)
        child = os.fork()
        if child == 0:
            _begin(scene, orders, report, blocked)
        os.waitpid(child, 0)
    except OSError as error:
        os.write(report, marshal.dumps(("unconfined", str(error))))
        code = 1
    os._exit(code)


def _orders(scene: Scene, protected: Sequence[str]) -> dict[str, Any]:
    """Return everything that must be read before the new root is built."""
    asked = named_at_home(scene)
    shown = [*shown_paths(scene), *asked]
    git = git_folder(scene.top)
    named = temporary.NamedFiles(scene.argv, [scene.top, scene.home, *git])
    folders, files = named.present()
    tops = [scene.top]
    live = [] if scene.read_only else sockets.find(tops)
    outside: sockets.Bound = sockets.bound_here() if live else frozenset()
    fixed = [os.path.join(scene.top, name) for name in protected]
    return {
        "shown": shown,
        "git": git,
        "named": named,
        "folders": folders,
        "files": [each for each in files if not holds_secret(each[1:], scene.more, shapes=True)],
        "layered": [f"{scene.home}/{each}" for each in places.LAYERED_IN_HOME],
        "hidden": [
            *secrets_below(scene),
            *secrets_in(scene, [*folders, *filter(os.path.isdir, asked)]),
            *sockets.foreign(live, outside, frozenset()),
        ],
        "fixed": [each for each in fixed if os.path.exists(each) and not os.path.islink(each)],
    }


def _begin(scene: Scene, orders: dict[str, Any], report: int, blocked: Any) -> NoReturn:
    """Build the root as the first process of the namespace, and remain as its init process."""
    try:
        kernel.die_with_parent()
        # The real directories, to which no path leads any more once the new root is in place.
        lower = os.open(scene.top, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        real = os.open(temporary.TOP, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        upper, layers = _build(scene, orders)
        child = os.fork()
        if child == 0:
            kernel.die_with_parent()
            _become(scene, orders["writable"], report, blocked)
        while True:
            pid, status = os.waitpid(-1, 0)
            if pid == child:
                break
        writes = list(_written(upper, lower)) if upper >= 0 else []
        kept = orders["named"].keep(real, layers)
        os.write(report, marshal.dumps(("ended", status, writes[: _MOST_NAMED + 200], kept)))
    except OSError as error:
        os.write(report, marshal.dumps(("unconfined", str(error))))
    os._exit(0)


def _build(scene: Scene, orders: dict[str, Any]) -> tuple[int, dict[str, str]]:
    """Build the root; return the directory of the project's discarded writes, if any.

    With it the directories of the writes to temporary ones, by name.
    """
    used = (scene.top, *orders["git"])
    base = next(
        each
        for each in _SCRATCH
        if os.path.isdir(each) and not any(f"{path}/".startswith(f"{each}/") for path in used)
    )
    kernel.own_mounts(base)
    for name in ("stage", "home", "tmp", "layers"):
        os.mkdir(f"{base}/{name}", 0o700)
    os.chmod(f"{base}/tmp", 0o1777)
    orders["named"].copy_in(orders["files"], f"{base}/tmp")
    kept = [] if scene.read_only else [scene.top]
    layered = [each for each in orders["layered"] if os.path.isdir(each)]
    layered += [scene.top, *orders["git"]] if scene.read_only else []
    layered += orders["folders"]
    layers = {path: f"{base}/layers/{number}" for number, path in enumerate(layered)}
    upper = -1
    if scene.read_only:
        upper = _opened(layers[scene.top])
    written = {os.path.basename(each): _opened(layers[each]) for each in orders["folders"]}
    kernel.see_only(
        f"{base}/stage",
        [*orders["shown"], *orders["git"], *layered],
        kept,
        [(f"{base}/tmp", "/tmp"), (f"{base}/home", scene.home)],
        orders["fixed"],
        orders["hidden"],
        orders["git"],
        os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") // 2,
        layers,
    )
    orders["writable"] = ["/tmp", "/dev/shm", scene.home, *kept, *layered]
    return upper, {name: f"/proc/self/fd/{fd}/." for name, fd in written.items()}


def _opened(layer: str) -> int:
    """Return the directory of a layer's writes; no path leads to it in the new root."""
    os.makedirs(f"{layer}/upper")
    return os.open(f"{layer}/upper", os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)


def _become(scene: Scene, writable: Sequence[str], report: int, blocked: Any) -> NoReturn:
    """Give up the remaining privileges, and become the command."""
    try:
        kernel.forgo_privileges()
        grants = [("/", landlock.READ), ("/dev", landlock.DEVICE | landlock.IOCTL_DEV)]
        landlock.restrict([*grants, *((path, landlock.WRITE) for path in writable)], network=True)
        families = (seccomp.NETLINK, seccomp.UNIX, seccomp.INET, seccomp.INET6)
        kernel.filter_calls(seccomp.program(families=families, metadata=True, truncate=True))
        os.chdir(scene.cwd)
        kernel.default_signals()
        _signal.pthread_sigmask(_signal.SIG_SETMASK, blocked)
    except OSError as error:
        os.write(report, marshal.dumps(("unconfined", str(error))))
        os._exit(126)
    try:
        os.execvpe(scene.argv[0], list(scene.argv), passed_environment(scene.environ))
    except OSError as error:
        os.write(report, marshal.dumps(("exec", error.errno)))
    os._exit(127)


def project_top(place: str) -> str:
    """Return the top of the project that contains a directory, or the directory."""
    top = os.path.realpath(place)
    while not os.path.lexists(f"{top}/.git"):
        above = os.path.dirname(top)
        if above == top:
            return os.path.realpath(place)
        top = above
    return top


def git_folder(top: str) -> list[str]:
    """Return git's own directory of a linked worktree, which is outside the worktree."""
    try:
        with open(f"{top}/.git", encoding="utf-8", errors="surrogateescape") as file:
            place = os.path.join(top, file.readline().removeprefix("gitdir:").strip())
        with open(f"{place}/commondir", encoding="utf-8", errors="surrogateescape") as file:
            return [os.path.realpath(os.path.join(place, file.readline().strip()))]
    except OSError:
        return []


def shown_paths(scene: Scene) -> list[str]:
    """Return the paths outside the project that the command may read."""
    found = list(places.SYSTEM)
    found += [f"{scene.home}/{each}" for each in places.IN_HOME]
    for name, below in places.TOOLCHAINS.items():
        if name != "CARGO_HOME":
            found.append(scene.environ.get(name) or f"{scene.home}/{below}")
    folders = scene.environ.get("PATH", os.defpath).split(":")
    found += folders
    # An environment is more than its programs, and may be named only by a path or a link to it.
    folders += [each.rpartition("/")[0] for each in _path_words(scene.argv)]
    around = [os.path.dirname(each) for each in folders if each.endswith("/bin")]
    around.append(scene.environ.get("VIRTUAL_ENV", ""))
    found += [each for each in around if os.path.lexists(f"{each}/pyvenv.cfg")]
    own = [f"{scene.top}/{each}" for each in os.listdir(scene.top)]
    found += [base for each in (*around, *own) if (base := _base_of(each))]
    linked = [f"{scene.top}/{each}" for each in (".venv", "venv", "node_modules")]
    found += [os.path.realpath(each) for each in linked if os.path.islink(each)]
    there = {each.rstrip("/") for each in found if each.startswith("/") and os.path.exists(each)}
    there |= {os.path.realpath(each) for each in there}
    kept = {each for each in there if not f"{scene.home}/".startswith(f"{each}/")}
    return [*kept, *_links_to(scene)]


def named_at_home(scene: Scene) -> list[str]:
    """Return the files and projects elsewhere in the home that the text of the command names.

    Without them it would be said that they do not exist. Hidden directories stay invisible, since
    programs keep their credentials there, and so do files of secrets.
    """
    found: set[str] = set()
    for word in _parts(scene.argv):
        path = os.path.normpath(os.path.join(scene.cwd, _expanded(word, scene.home)))
        below = path.removeprefix(f"{scene.home}/")
        is_hidden = any(part.startswith(".") for part in below.split("/"))
        if below == path or is_hidden or f"{path}/".startswith(f"{scene.top}/"):
            continue
        if os.path.realpath(path) != path or f"{scene.top}/".startswith(f"{path}/"):
            continue
        if os.path.isdir(path):
            found.update([path] if os.path.lexists(f"{project_top(path)}/.git") else [])
        elif os.path.isfile(path) and not holds_secret(below, scene.more, shapes=True):
            found.add(path)
    return sorted(found)


def _expanded(word: str, home: str) -> str:
    for start in ("~/", "$HOME/", "${HOME}/"):
        if word.startswith(start):
            return f"{home}/{word.removeprefix(start)}"
    return word


def _base_of(environment: str) -> str:
    """Return the installation that a Python virtual environment is based on, if it names one.

    Its interpreter is a link to that installation, wherever it is.
    """
    try:
        with open(f"{environment}/pyvenv.cfg", encoding="utf-8", errors="surrogateescape") as file:
            lines = [line.partition("=") for line in file]
    except OSError:
        return ""
    values = [value.strip() for name, _, value in lines if name.strip() == "home"]
    folder, _, last = values[0].rpartition("/") if values else ("", "", "")
    return folder if last == "bin" else ""


def _path_words(argv: Sequence[str]) -> Iterator[str]:
    """Yield possible program paths in a command line, or in a script in one."""
    return (word for word in _parts(argv) if word.startswith("/") and "/bin/" in word)


def _parts(argv: Sequence[str]) -> Iterator[str]:
    """Yield what may be a path in a command line, or in a script in one."""
    for each in argv:
        for mark in "\"'`=;|&()<>":
            each = each.replace(mark, " ")
        yield from each.split()


def _links_to(scene: Scene) -> list[str]:
    """Return the links by whose names the caller knows the command's directory."""
    path = scene.environ.get("PWD", "")
    found: list[str] = []
    if not path.startswith("/") or os.path.realpath(path) != os.path.realpath(scene.cwd):
        return found
    while path != "/":
        if os.path.islink(path):
            found.append(path)
        path = os.path.dirname(path)
    return found


def passed_environment(environ: Mapping[str, str]) -> dict[str, str]:
    """Return the variables that the command gets: all except those that look like secrets."""
    found = {name: value for name, value in environ.items() if not _is_secret(name, value)}
    if "TMPDIR" in found:
        # It has a directory of its own; the user's is not visible.
        found["TMPDIR"] = "/tmp"
    return found


def _is_secret(name: str, value: str) -> bool:
    if is_secret_variable(name):
        return True
    _, is_address, rest = value.partition("://")
    return bool(is_address) and ":" in rest.partition("@")[0] and "@" in rest


def secrets_below(scene: Scene) -> list[str]:
    """Return the files of the project that contain the user's secrets and are in no commit."""
    names = dict(_secrets(scene))
    if not names:
        return []
    words = ("ls-tree", "-r", "-z", "--name-only", "HEAD", "--", *names)
    committed = _named_by_git(scene, words, ())
    return [path for name, path in names.items() if name not in committed]


def secrets_in(scene: Scene, folders: Sequence[str]) -> Iterator[str]:
    """Yield the files of other directories that contain the user's secrets."""
    for folder in folders:
        yield from secrets_below(scene.at(folder))


def _secrets(scene: Scene) -> Iterator[tuple[str, str]]:
    """Yield the project's files with secret names: path from its top, and location."""
    ahead = [("", False)]
    while ahead:
        folder, is_below = ahead.pop()
        try:
            entries = os.scandir(f"{scene.top}/{folder}")
        except OSError:
            continue
        with entries:
            for each in entries:
                inside = f"{folder}{each.name}"
                is_folder = each.is_dir(follow_symlinks=False)
                is_asked = is_below or bool(scene.more) or could_be_secret(each.name)
                is_secret = is_asked and holds_secret(inside, scene.more, shapes=not is_folder)
                if is_folder and each.name not in _BESIDE:
                    ahead.append((f"{inside}/", is_below or is_secret))
                elif is_secret and each.is_file():
                    # A link is not hidden itself: its target is.
                    path = os.path.realpath(each.path)
                    if path.startswith(f"{scene.top}/"):
                        yield inside, path


def _named_by_git(scene: Scene, words: Sequence[str], names: Sequence[str]) -> set[str]:
    """Return which of some names git reports when they are passed on its input."""
    hear, speak = os.pipe()
    asked = os.memfd_create("names", os.MFD_CLOEXEC)
    os.write(asked, b"".join(os.fsencode(name) + b"\0" for name in names))
    os.lseek(asked, 0, os.SEEK_SET)
    child = os.fork()
    if child == 0:
        try:
            null = os.open(os.devnull, os.O_RDWR)
            for here, there in ((asked, 0), (speak, 1), (null, 2)):
                os.dup2(here, there)
            # Programs that the repository makes git start must not be started.
            argv = ["git", "-C", scene.top, "-c", "core.fsmonitor=false", *words]
            kernel.default_signals()
            os.execvpe("git", argv, {"PATH": scene.environ.get("PATH", os.defpath), "HOME": "/"})
        except OSError:
            pass
        os._exit(127)
    os.close(speak)
    os.close(asked)
    values = {os.fsdecode(each) for each in _drain(hear).split(b"\0") if each}
    os.close(hear)
    os.waitpid(child, 0)
    return values


def _is_same(path: str, upper: int, lower: int) -> bool:
    """Return whether a file has the same content in two directories."""
    texts: list[bytes] = []
    for folder in (upper, lower):
        try:
            flags = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
            file = os.open(path, flags, dir_fd=folder)
        except OSError:
            return False
        texts.append(os.read(file, _MOST_COMPARED))
        os.close(file)
    return texts[0] == texts[1] and len(texts[0]) < _MOST_COMPARED


def _written(upper: int, lower: int) -> Iterator[str]:
    """Yield the files of the project that were changed, from the overlay above it."""
    ahead: list[str] = [""]
    while ahead:
        folder = ahead.pop()
        try:
            here = os.open(folder or ".", os.O_RDONLY | os.O_DIRECTORY, dir_fd=upper)
        except OSError:
            continue
        with os.scandir(here) as entries:
            for each in entries:
                path = f"{folder}/{each.name}".lstrip("/")
                if each.name in _BESIDE or each.name in _CACHES:
                    continue
                if not each.is_dir(follow_symlinks=False):
                    if not _is_same(path, upper, lower):
                        yield path
                else:
                    ahead.append(path)
        os.close(here)


def _drain(fd: int) -> bytes:
    data = b""
    while piece := os.read(fd, 65536):
        data += piece
    return data


def _report_writes(scene: Scene, writes: Sequence[str]) -> None:
    if not writes:
        return
    ignored = _named_by_git(scene, ("check-ignore", "-z", "--stdin"), writes)
    names = sorted(set(writes) - ignored)
    if not names:
        return
    more = f" and {len(names) - _MOST_NAMED} more" if len(names) > _MOST_NAMED else ""
    listed = ", ".join(
        name.encode("unicode_escape", "replace").decode() for name in names[:_MOST_NAMED]
    )
    were = "which was" if len(names) == 1 else "which were"
    _print_error(f"wrote to {listed}{more}, {were} not kept: state a checkpoint first")


def _print_error(text: str) -> None:
    try:
        os.write(2, f"flyball: {text}\n".encode("utf-8", "backslashreplace"))
    except OSError:
        return
