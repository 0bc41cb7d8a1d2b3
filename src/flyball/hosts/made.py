"""Find out whether the agent itself made what a command would destroy.

Whatever came about after its host started is taken for its own: branches, stashes, worktrees and
temporary files. So is what does not exist yet, as then the same command makes it.
"""

from __future__ import annotations

import math
import os
import time
from collections.abc import Iterator, Sequence
from itertools import islice
from pathlib import Path

from flyball.errors import ToolError
from flyball.workspace.process.spawn import run_sync

TEMPORARY = ("/tmp/", "/var/tmp/", "/dev/shm/")
REMOVERS = ("rm", "rmdir", "unlink")
_MOST = 2_000
"""Maximum number of files that are looked at."""
_SECONDS = 5.0


def created_by_host(words: Sequence[str], host: str, cwd: str) -> bool:
    """Return whether all that a command destroys was made since the host started."""
    match list(words):
        case ["git", "stash", "drop", *refs] if len(refs) < 2:
            return _is_new(("log", "-g", "-1", "--format=%ct", *(refs or ["stash@{0}"])), host, cwd)
        case ["git", "branch", "-D" | "-Df", *names] if names:
            reads = (("log", "-g", "--format=%ct", f"refs/heads/{name}") for name in names)
            return all(_is_new(read, host, cwd) for read in reads)
        case ["git", "tag", "-f" | "--force", name, *_]:
            return _git(("for-each-ref", f"refs/tags/{name}"), cwd) == ""
        case ["git", "worktree", "remove", *rest]:
            places = [each for each in rest if each not in ("-f", "--force")]
            return len(places) == 1 and _is_since(Path(cwd, places[0], ".git"), _start(host))
        case [program, *given] if program in REMOVERS:
            names = [each for each in given if not each.startswith("-")]
            is_below = names != [] and all(map(_is_below_temporary, names))
            return is_below and is_own_temporary(names, host)
        case _:
            return False


def is_temporary(words: Sequence[str]) -> bool:
    """Return whether a command deletes in directories for temporary files."""
    return words[:1] != [] and words[0] in REMOVERS and any(map(_is_below_temporary, words))


def is_own_temporary(words: Sequence[str], host: str) -> bool:
    """Return whether all temporary files that a command names were made since the host started."""
    return all(_is_own(name, host) for name in words if _is_below_temporary(name))


def _is_below_temporary(name: str) -> bool:
    return name.startswith(TEMPORARY) and name not in TEMPORARY and ".." not in name.split("/")


def _is_own(name: str, host: str) -> bool:
    start = _start(host)
    try:
        tops = list(Path("/").glob(name[1:]))
    except ValueError:
        return False
    files = list(islice((file for top in tops for file in _below(top)), _MOST + 1))
    return len(files) <= _MOST and all(_is_since(file, start) for file in files)


def _below(top: Path) -> Iterator[Path]:
    yield top
    if top.is_dir() and not top.is_symlink():
        for folder, folders, files in os.walk(top):
            yield from (Path(folder, name) for name in (*folders, *files))


def _is_since(file: Path, start: float) -> bool:
    try:
        return file.lstat().st_ctime >= start
    except FileNotFoundError:
        return True
    except OSError:
        return False


def _is_new(args: Sequence[str], host: str, cwd: str) -> bool:
    """Return whether git prints no time before the host's start; nobody can lose what is not there.

    A branch whose reflog has expired prints nothing: when it was made is not known.
    """
    times = _git(args, cwd)
    if times is None:
        return True
    start = _start(host)
    return times != "" and all(float(each) >= start for each in times.split() if each.isdigit())


def _git(args: Sequence[str], cwd: str) -> str | None:
    """Return what git prints; None if it does not know the name."""
    env = {"PATH": os.environ.get("PATH", os.defpath), "HOME": os.environ.get("HOME", "/")}
    try:
        answer = run_sync(("git", *args), cwd=Path(cwd), env=env, seconds=_SECONDS)
    except ToolError:
        return "0"
    return answer.stdout.decode("utf-8", "replace") if answer.exit_code == 0 else None


def _start(host: str) -> float:
    """Return when the host's process started; infinite where that is not known."""
    ticks = host.partition("@")[2]
    if not ticks.isdigit():
        return math.inf
    boot = time.time() - time.clock_gettime(time.CLOCK_BOOTTIME)
    # Clocks of files and processes differ by up to a tick.
    return boot + int(ticks) / os.sysconf("SC_CLK_TCK") - 1
