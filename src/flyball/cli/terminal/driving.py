"""Drive a run from a terminal: its view, Ctrl-C, next steps, and the exit code."""

from __future__ import annotations

import asyncio
import os
import shutil
import signal
import sys
from collections.abc import Awaitable, Callable
from functools import partial
from pathlib import Path
from typing import NamedTuple

from flyball.app.answering import NextStep, asked, next_steps, no, pending, yes
from flyball.app.driving import RunControl, RunResult, Watcher
from flyball.app.project import Home
from flyball.cli.terminal import exits
from flyball.cli.terminal.plain import View
from flyball.cli.terminal.story_words import StoryLine
from flyball.cli.terminal.view import make_view, tell_steps, user, with_repo
from flyball.drivers.relay.clipboard import PersonPort
from flyball.engine.telemetry import approval
from flyball.errors import Conflict, DriverError, NotAPerson, ToolError, UsageError
from flyball.hosts.person import require_person
from flyball.run.event import AnyEvent
from flyball.run.state import RunState
from flyball.workspace.process.spawn import run_sync

RunAction = Callable[[RunControl], Awaitable[RunResult]]


def drive(home: Home, action: RunAction, *, as_json: bool) -> int:
    """Perform an action on a run, show it, and print its ending."""
    return asyncio.run(_Driving(home, action, as_json=as_json).go())


class _Driving:
    def __init__(self, home: Home, action: RunAction, *, as_json: bool) -> None:
        self._home = home
        self._action: RunAction | None = action
        self._view = make_view(as_json=as_json)
        self._interrupts = 0

    async def go(self) -> int:
        """Return the exit code once the run rests or has ended and its result is printed.

        If it rests with a question, a keypress of the person at the terminal can continue it.
        """
        code = exits.SUCCEEDED
        while self._action:
            code = await self._perform(self._action)
        return code

    async def _perform(self, action: RunAction) -> int:
        view, self._action = self._view, None
        watcher = Watcher(view.telemetry, view.text, view.output)
        control = RunControl(self._home, watcher, terminal_port(view))
        with view:
            result = await self._listening(action, control)
        if result is None:
            view.say(StoryLine("warn", "Stopped at once; nothing is lost.", "!"))
            if control.run:
                steps = (NextStep(f"flyball runs resume {control.run}", "go on with it"),)
                tell_steps(view, steps, self._home.repo)
            return exits.INTERRUPTED
        if result.left_to:
            view.telemetry({"type": "left", "run": result.state.run, "to": result.left_to})
            return exits.SUCCEEDED
        self._tell_end(result, control.asked)
        if self._interrupts and result.status in ("paused", "running"):
            return exits.INTERRUPTED
        self._action = self._answer(result)
        return exits.BY_STATUS[result.status]

    def _answer(self, result: RunResult) -> RunAction | None:
        """Offer to answer a yes-or-no question with a key; return the effect of the answer."""
        state = result.state
        effects = {step.command.split()[1]: step.effect for step in _steps(result)}
        if not {"approve", "deny"} <= effects.keys() or not _is_person_here(self._home):
            return None
        offer = f"y: {effects['approve']} · n: {effects['deny']} · any other key: decide later"
        word = {"y": yes, "n": no}.get(self._view.key(offer))
        if word is None:
            return None
        question, by = asked(state).id, user()

        def answer(now: RunState) -> AnyEvent:
            if asked(now).id != question:
                raise Conflict(f"The question of run {now.run} was answered meanwhile.", SEE_RUN)
            return word(now, by)

        return lambda control: control.say(state.run, answer, by)

    async def _listening(self, action: RunAction, control: RunControl) -> RunResult | None:
        """Perform the action; the first Ctrl-C pauses it, the second stops it."""
        task = asyncio.ensure_future(action(control))
        loop = asyncio.get_running_loop()

        def interrupt() -> None:
            self._interrupts += 1
            if self._interrupts > 1:
                task.cancel()
                return
            control.pause(user())
            words = "Pausing after the current call. Ctrl-C again stops at once."
            self._view.say(StoryLine("warn", words, "!"))

        loop.add_signal_handler(signal.SIGINT, interrupt)
        try:
            return await task
        except asyncio.CancelledError:
            if self._interrupts < 2:
                raise
            return None
        finally:
            loop.remove_signal_handler(signal.SIGINT)

    def _tell_end(self, result: RunResult, asked: str) -> None:
        """Print the open question, the diff, the usage, and what to type next."""
        state, view = result.state, self._view
        waiting = pending(state)
        if waiting and waiting[0].question.id != asked:
            view.telemetry(approval(waiting[0].card, waiting[0].question) | {"seq": state.seq})
        if result.diff.strip():
            see = with_repo(f"flyball runs show {state.run} --diff", self._home.repo)
            view.diff(result.diff, see)
        used = f"{state.spend.calls} of {state.budget.limit} calls used"
        blocked = f", {state.spend.blocked} blocked" if state.spend.blocked else ""
        view.say(StoryLine("dim", used + blocked))
        tell_steps(view, _steps(result), self._home.repo)


SEE_RUN = "Look at it with `flyball runs show last`."


def _steps(result: RunResult) -> tuple[NextStep, ...]:
    """Return what a person can do next with a run."""
    state, status = result.state, result.status
    return next_steps(state, status, in_place=result.in_place, is_hosted=result.is_hosted)


def _is_person_here(home: Home) -> bool:
    """Return whether a person is at this terminal who may answer for the project."""
    try:
        require_person(home, os.environ)
    except NotAPerson:
        return False
    return sys.stdin.isatty()


def driver_of(driver: str, model: str) -> str:
    """Return the driver that the two options name together."""
    if driver and model and driver not in ("model", f"model:{model}"):
        raise UsageError(f"--driver {driver} and --model {model} cannot be combined.", "Give one.")
    return f"model:{model}" if model else driver


SECONDS = 5.0


class Clipboard(NamedTuple):
    """Two commands: one writes its input to the clipboard, the other prints the clipboard."""

    copy: tuple[str, ...]
    paste: tuple[str, ...]


CLIPBOARDS = (
    Clipboard(("pbcopy",), ("pbpaste",)),
    Clipboard(("wl-copy",), ("wl-paste", "--no-newline")),
    Clipboard(("xclip", "-selection", "clipboard"), ("xclip", "-selection", "clipboard", "-o")),
    Clipboard(("xsel", "--clipboard", "--input"), ("xsel", "--clipboard", "--output")),
)


def find_clipboard() -> Clipboard | None:
    """Return the first pair of commands available on this machine."""
    return next((each for each in CLIPBOARDS if shutil.which(each.copy[0])), None)


def terminal_port(view: View) -> PersonPort | None:
    """Return a port for prompts and answers, if there is a keyboard and a clipboard."""
    clipboard = find_clipboard()
    if clipboard is None or not sys.stdin.isatty():
        return None

    def show(text: str) -> None:
        view.say(StoryLine("ask", text, "→"))

    async def read() -> str:
        show("Press Enter when the answer is in the clipboard.")
        with view.hold_still():
            await _enter()
        return _run(clipboard.paste, None).decode("utf-8", "replace")

    return PersonPort(partial(copy, clipboard), show, read)


def copy(clipboard: Clipboard, text: str) -> None:
    """Copy a text to the clipboard."""
    # Such a program may stay in the background to serve the clipboard, with our pipes open.
    argv = ("sh", "-c", '"$@" >/dev/null 2>&1', "sh", *clipboard.copy)
    _run(argv, text.encode())


def _run(argv: tuple[str, ...], stdin: bytes | None) -> bytes:
    try:
        done = run_sync(argv, cwd=Path("/"), env=os.environ, seconds=SECONDS, stdin=stdin)
    except ToolError as error:
        raise DriverError(str(error)) from None
    if done.exit_code:
        said = done.stderr.decode("utf-8", "replace").strip()
        raise DriverError(f"The clipboard program failed: {said or argv[-1]}.", "Try relay:DIR.")
    return done.stdout


async def _enter() -> None:
    """Wait for a line without blocking the event loop."""
    loop = asyncio.get_running_loop()
    ready = loop.create_future()
    descriptor = sys.stdin.fileno()
    loop.add_reader(descriptor, lambda: ready.done() or ready.set_result(None))
    try:
        await ready
    finally:
        loop.remove_reader(descriptor)
    if not sys.stdin.readline():
        raise DriverError("There is no keyboard to answer with.", "Use --driver relay:DIR.")
