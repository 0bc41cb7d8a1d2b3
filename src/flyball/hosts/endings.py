"""Find the processes that a command would end, and check that the agent started them all.

`kill` and similar commands name processes by number, job, pattern, or the output of another
command. A pattern is resolved now, by the system's own program.
"""

from __future__ import annotations

import os
import re
import shlex
from collections.abc import Iterable, Sequence
from pathlib import Path

from flyball.errors import ToolError
from flyball.hosts.person import MARKS
from flyball.regex import regex
from flyball.shell import CommandEffect, findings_of
from flyball.workspace.process.process_identity import ancestors, environ_of
from flyball.workspace.process.spawn import run_sync

ENDERS = frozenset({"kill", "pkill", "killall", "fuser"})
_SECONDS = 5.0
_SIGNAL = regex(r"-(?:\d+|(?:SIG)?[A-Z][A-Z0-9]+|-signal=.*)")
_KILL = ("-k", "--kill")
_SAME_TO_PGREP = regex(r"-[fxnoPuUgGt]+|--(?:full|exact|newest|oldest)")
_NAME = regex(r"[\w.+-]{1,15}")
"""A program's name as the kernel stores it, truncated to this length."""
_NOTHING_FOUND = 1
_PRINTED = regex(r"\$\(([^()]+)\)|`([^`]+)`")
_PIPED = regex(r"([^;&\n]+?)\|\s*xargs\s+(?:-\S+\s+)*kill\b")
_VARIABLE = regex(r"\$\{?(\w+|!|\$)\}?")
_OWN_SHELL = ("!", "$")
"""Variables by which a shell names its last background process and itself."""


def ends_only_own_processes(part: str, command: str, host: str, root: str) -> bool:
    """Return whether one part of a command ends only processes that the host started."""
    if "…" in part:
        piped = _PIPED.search(command)
        return piped is not None and _are_own(_printed_by(piped[1], root), host, root)
    if printed := _PRINTED.search(part):
        part = _PRINTED.sub("", part)
        if not _are_own(_printed_by(printed[1] or printed[2], root), host, root):
            return False
    try:
        program, *given = shlex.split(part)
    except ValueError:
        return False
    rest = _without_signals(program, given)
    if given[:1] == ["-0"] or (program == "pkill" and rest[:2] == ["-P", "$$"]):
        # Signal 0 only asks, and the children of the command's own shell are the command's.
        return program in ("kill", "pkill")
    if program != "kill":
        return _are_own(_looked_up(program, rest, root), host, root)
    if not rest:
        return printed is not None
    return all(_is_own_word(word, command, host, root) for word in rest)


def ends_job(words: Sequence[str]) -> bool:
    """Return whether a `kill` names only jobs of its own shell or its last background process."""
    rest = _without_signals(words[0], words[1:])
    is_named = all(each.startswith("%") or _VARIABLE.fullmatch(each) for each in rest)
    return words[0] == "kill" and bool(rest) and is_named


def _is_own_word(word: str, command: str, host: str, root: str) -> bool:
    if word.startswith("%"):
        return True
    if variable := _VARIABLE.fullmatch(word):
        name = variable[1]
        return name in _OWN_SHELL or re.search(rf"\b{name}=\"?\$!", command) is not None
    return word.isdigit() and _is_own(int(word), host, root)


def _without_signals(program: str, given: Sequence[str]) -> list[str]:
    # `-s` has another meaning for `pkill` and `fuser`.
    named = ("-s", "--signal") if program in ("kill", "killall") else ("--signal",)
    rest: list[str] = []
    words = iter(given)
    for word in words:
        if word in named:
            next(words, None)
        elif word and not _SIGNAL.fullmatch(word):
            rest.append(word)
    return rest


def _looked_up(program: str, given: Sequence[str], root: str) -> list[int] | None:
    """Return the processes that a pattern matches now; None if unknown.

    Only options that are safe for the lookup program are passed on to it: with others, `fuser`
    would end the processes here.
    """
    rest = [each for each in given if each not in _KILL] if program == "fuser" else given
    options = [each for each in rest if each.startswith("-")]
    if program == "pkill" and all(map(_SAME_TO_PGREP.fullmatch, options)):
        return _numbers(["pgrep", *rest], root)
    if options or not rest:
        return None
    if program == "fuser":
        return _numbers(["fuser", *rest], root)
    is_name = len(rest) == 1 and _NAME.fullmatch(rest[0]) is not None
    return _numbers(["pgrep", "-x", *rest], root) if is_name else None


def _printed_by(command: str, root: str) -> list[int] | None:
    """Return the numbers that a command prints; None if the command does more than read."""
    found = findings_of(command.strip(), allow=(), root=root, fresh=False, secrets=())
    if not found or any(each.effect is not CommandEffect.READING for each in found):
        return None
    return _numbers(["bash", "-c", command], root)


def _numbers(argv: Sequence[str], root: str) -> list[int] | None:
    env = {"PATH": os.environ.get("PATH", os.defpath), "HOME": os.environ.get("HOME", "/")}
    try:
        answer = run_sync(tuple(argv), cwd=Path(root), env=env, seconds=_SECONDS)
    except ToolError:
        return None
    if answer.exit_code > _NOTHING_FOUND:
        return None
    words = answer.stdout.decode("utf-8", "replace").split()
    return [int(each) for each in words] if all(map(str.isdigit, words)) else None


def _are_own(found: Iterable[int] | None, host: str, root: str) -> bool:
    return found is not None and all(_is_own(each, host, root) for each in found)


def _is_own(pid: int, host: str, root: str) -> bool:
    """Return whether the host started a process, directly or through a process that has exited."""
    # The governor was started from the agent's hooks, and may not be ended by it.
    if not host or pid == os.getpid():
        return False
    if host in [each.process for each in ancestors(pid)]:
        return True
    try:
        place = Path(f"/proc/{pid}/cwd").readlink()
    except OSError:
        return _has_ended(pid)
    environ = environ_of(str(pid))
    return f"{place}/".startswith(f"{root}/") and any(environ.get(mark) for mark in MARKS)


def _has_ended(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except OSError as error:
        return isinstance(error, ProcessLookupError)
    return False
