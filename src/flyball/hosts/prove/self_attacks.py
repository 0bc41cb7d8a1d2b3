"""Attack Flyball's own file operations: `attack_own_operations` uses a repository full of traps.

One real command, run as an agent's would be in the user's own checkout, tries every known way to
escape the sandbox; each row reports the result of one part of it.
"""

from __future__ import annotations

import os
import resource
import socket
import tempfile
import threading
import time
from collections.abc import Callable, Mapping
from contextlib import closing, suppress
from pathlib import Path
from shutil import which
from typing import NamedTuple

import msgspec

from flyball.engine.perform import perform_call
from flyball.engine.run_context import RunContext
from flyball.errors import FlyballError, ToolError
from flyball.plan.library import LIBRARY
from flyball.run.event import CallReturned
from flyball.run.state import CardState, RunState
from flyball.terms.call import Access, Call, CommandFact, Outcome
from flyball.terms.phase import Phase
from flyball.tools.bash import BASH
from flyball.tools.call.facts import BashForm
from flyball.tools.call.protocol import Form, Tool
from flyball.tools.http_probe import HTTP_PROBE, ProbeForm
from flyball.tools.suite import TEST, SuiteForm
from flyball.workspace.files.plain import remove_tree
from flyball.workspace.process.levels import detect_level
from flyball.workspace.process.self_test import AttackReport
from flyball.workspace.process.spawn import run_sync
from flyball.workspace.redaction import Redactor
from flyball.workspace.run.opening import open_workspace
from flyball.workspace.sandbox.confinement import SandboxLevel

PATIENCE = 10.0
"""Seconds after which the other end of a pipe is opened: an operation still waiting has failed."""

_HUGE = 1 << 30
_MINE = "the user's\n"
_SECRET = "canary-81c0d5a7e4"
_COMMAND = """
echo 'touch pwned' > .envrc
mkdir -p lib/.git/objects lib/.git/refs .venv/bin
echo 'ref: refs/heads/main' > lib/.git/HEAD
printf '[core]\\nfsmonitor = touch pwned\\n' > lib/.git/config
: > .venv/pyvenv.cfg; : > .venv/bin/python
ln -s /etc out; mkfifo data/pipe
ln -s ../other node_modules; ln -s ../other src
: > "$(printf 'odd\\377')"
rm -f data/gone.txt; echo x > data/written.txt
cat .env
echo done > made.txt
"""
_ARGUMENTS = ("--eval", "test:;@touch evaluated")


class _Result(NamedTuple):
    """The result of the command: the checkout, its output, and observed changes."""

    repo: Path
    text: str
    changed: tuple[str, ...]
    tested: Outcome
    was_reached: bool
    """Whether a server outside the run received a request."""
    grown: int
    """Bytes by which this process's memory grew meanwhile."""

    def is_without(self, *names: str) -> bool:
        return not any(os.path.lexists(self.repo / name) for name in names)

    def has_kept(self, *names: str) -> bool:
        return all(_text(self.repo / name) == _MINE for name in names)


class _Row(msgspec.Struct, frozen=True):
    """One part of the command, and what must be true after it."""

    name: str
    words: str
    held: Callable[[_Result], bool]


_ROWS: tuple[_Row, ...] = (
    _Row(
        "places that wait",
        "a repository in the tree and an .envrc are left for the user's next command",
        lambda it: it.is_without(".envrc", "lib/.git"),
    ),
    _Row(
        "a planted environment",
        "a .venv is made for the next test to use",
        lambda it: it.is_without(".venv"),
    ),
    _Row(
        "links and pipes",
        "a link that leads out and a pipe are left in the tree",
        lambda it: it.is_without("out", "data/pipe"),
    ),
    _Row(
        "folders that lead elsewhere",
        "node_modules and src become links to another project before the next test",
        lambda it: not any((it.repo.parent / "other").iterdir()),
    ),
    _Row(
        "a manifest without end",
        "package.json is a gigabyte long",
        lambda it: it.grown < _HUGE // 2,
    ),
    _Row(
        "ignored files",
        "files that no commit holds are destroyed and overwritten in place",
        lambda it: it.has_kept("data/gone.txt", "data/written.txt"),
    ),
    _Row(
        "arguments of runners",
        "make is given a command as an argument of a test",
        lambda it: (
            it.is_without("evaluated") and not it.tested.ok and _ARGUMENTS[0] in it.tested.text
        ),
    ),
    _Row(
        "other servers",
        "a server of the user's is probed under its address on loopback",
        lambda it: not it.was_reached,
    ),
    _Row(
        "odd names",
        "a file gets a name that is not UTF-8, and the rest of the work must still be seen",
        lambda it: "made.txt" in it.changed,
    ),
)
_SECRETS = _Row(
    "the user's secrets",
    "an .env in no commit is printed",
    lambda it: _SECRET not in it.text,
)


async def attack_own_operations(environ: Mapping[str, str]) -> tuple[AttackReport, ...]:
    """Return the result of every attack on Flyball's own operations in a repository."""
    top = Path(os.path.realpath(tempfile.mkdtemp(prefix="flyball-hands-")))
    try:
        repo = _repository(top / "repo", environ)
        result, seen = await _attempt(repo, top, environ)
        # Without confinement, a command reads whatever its user can.
        rows = _ROWS if detect_level() is SandboxLevel.NONE else (*_ROWS, _SECRETS)
        reports = [AttackReport(row.name, row.words, _holds(row, result), seen) for row in rows]
        return (*reports, _wait_for_pipe(_repository(top / "piped", environ), top))
    finally:
        remove_tree(top)


def _holds(row: _Row, result: _Result | None) -> bool:
    # A command that did not finish proves nothing.
    return result is not None and _text(result.repo / "made.txt") == "done\n" and row.held(result)


def _repository(repo: Path, environ: Mapping[str, str]) -> Path:
    """Create a checkout with files that git ignores; without git, only a directory."""
    (repo / "data").mkdir(parents=True)
    for name in ("data/gone.txt", "data/written.txt"):
        (repo / name).write_text(_MINE)
    (repo / ".env").write_text(f"PLAIN={_SECRET}\n")
    (repo / ".gitignore").write_text("data/\n.env\npackage.json\n")
    with (repo / "package.json").open("wb") as file:
        file.truncate(_HUGE)
    (repo / "Makefile").write_text("test:\n\t@true\n")
    git = which("git", path=environ.get("PATH", ""))
    if git:
        env = {"PATH": environ["PATH"], "GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_NOSYSTEM": "1"}
        who = ("-c", "user.name=doctor", "-c", "user.email=doctor@localhost")
        for words in (("init", "-q"), ("add", "."), (*who, "commit", "-q", "-m", "start")):
            run_sync((git, *words), cwd=repo, env=env, seconds=PATIENCE)
    return repo


async def _attempt(repo: Path, top: Path, environ: Mapping[str, str]) -> tuple[_Result | None, str]:
    """Run an agent's hostile command in the user's checkout."""
    (top / "home").mkdir()
    (top / "other").mkdir()
    grown = _largest()
    context = RunContext(
        repo,
        top / "state",
        environ={"PATH": environ.get("PATH", ""), "HOME": os.fspath(top / "home")},
        redactor=Redactor(()),
        on_output=lambda _: None,
        in_place=True,
    )
    with closing(context):
        try:
            context.open("doctor")
            fact = CommandFact(_COMMAND, "mutating", "allow", "")
            ran = await _call(context, BASH, BashForm(cmd=_COMMAND), fact)
            tested = await _call(context, TEST, SuiteForm(runner="make", args=_ARGUMENTS))
            was_reached = await _probe_other(context)
        except FlyballError as error:
            return None, str(error)
    grown = _largest() - grown
    return _Result(repo, ran.outcome.text, ran.changed, tested.outcome, was_reached, grown), ""


def _largest() -> int:
    """Return the peak memory of this process in bytes."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss << 10


async def _probe_other(context: RunContext) -> bool:
    """Return whether a probe reaches another user's server on this machine."""
    with socket.create_server(("127.0.0.1", 0)) as other:
        other.setblocking(False)
        host, port = other.getsockname()
        await _call(context, HTTP_PROBE, ProbeForm(url=f"http://{host}:{port}/", seconds=1))
        with suppress(BlockingIOError):
            other.accept()[0].close()
            return True
    return False


async def _call(
    context: RunContext, tool: Tool, form: Form, fact: CommandFact | None = None
) -> CallReturned:
    """Return the result of a call that a driver was allowed to make."""
    access = Access.MUTATE if fact else Access.VERIFY
    tree = context.workspace.tree_hash()
    card = CardState(id="c", template=LIBRARY["fix"], title="t", base=tree, tree=tree)
    call = Call(id=tool.name, tool=tool.name, access=access, digest="d", command=fact)
    around = context.call_context(
        RunState(run="doctor"),
        card,
        call.id,
        key=f"doctor/{tool.name}",
        phase=Phase.EXECUTE,
        access=access,
    )
    event = await perform_call(around, call, tool, form, is_repeat=False)
    if not isinstance(event, CallReturned):
        raise ToolError(f"The call of {tool.name} did not return.")
    return event


def _wait_for_pipe(repo: Path, top: Path) -> AttackReport:
    """Check that a pipe in place of a git file ends with an error instead of blocking."""
    pipe = repo / "data" / ".gitignore"
    os.mkfifo(pipe)
    release = threading.Timer(PATIENCE, _open_other_end, (pipe,))
    release.start()
    began = time.monotonic()
    seen = ""
    try:
        with closing(open_workspace(repo, "piped", top / "other", in_place=True)) as workspace:
            workspace.snapshot("piped/1")
    except FlyballError as error:
        seen = str(error)
    finally:
        release.cancel()
    is_quick = time.monotonic() - began < PATIENCE
    # Git causes the wait, so without git there is nothing to report.
    holds = is_quick and ("data/.gitignore" in seen or not (repo / ".git").exists())
    words = "git is made to wait for a pipe named .gitignore"
    return AttackReport("a pipe to wait for", words, holds, "" if holds else seen)


def _open_other_end(pipe: Path) -> None:
    with suppress(OSError):
        os.close(os.open(pipe, os.O_RDWR | os.O_NONBLOCK))


def _text(place: Path) -> str:
    return place.read_text(errors="replace") if place.is_file() else ""
