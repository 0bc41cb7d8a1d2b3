"""Driving a run from a terminal: its view, Ctrl-C, what to type next, and the exit code."""

from __future__ import annotations

import asyncio
import signal
from collections.abc import Awaitable, Callable

from flyball.app.answering import NextStep, next_steps, pending
from flyball.app.driving import RunControl, RunResult, Watcher
from flyball.app.project import Home
from flyball.engine.telemetry import approval
from flyball.errors import UsageError
from flyball.surfaces.cli.terminal import exits
from flyball.surfaces.cli.terminal.clipboard import terminal_port
from flyball.surfaces.cli.terminal.story_words import StoryLine
from flyball.surfaces.cli.terminal.view import make_view, tell_steps, user, with_repo

Deed = Callable[[RunControl], Awaitable[RunResult]]


def drive(home: Home, deed: Deed, *, as_json: bool) -> int:
    """Do something with a run, show it, and say how it ended."""
    return asyncio.run(_Driving(home, deed, as_json=as_json).go())


class _Driving:
    def __init__(self, home: Home, deed: Deed, *, as_json: bool) -> None:
        self._home = home
        self._deed = deed
        self._view = make_view(as_json=as_json)
        self._interrupts = 0

    async def go(self) -> int:
        """The exit code, once the run rests or has ended and its end was told."""
        view = self._view
        watcher = Watcher(view.telemetry, view.text, view.output)
        control = RunControl(self._home, watcher, terminal_port(view))
        with view:
            result = await self._listening(control)
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
        was_paused = self._interrupts and result.status in ("paused", "running")
        return exits.INTERRUPTED if was_paused else exits.BY_STATUS[result.status]

    async def _listening(self, control: RunControl) -> RunResult | None:
        """Perform the deed; the first Ctrl-C pauses it, the second stops it."""
        task = asyncio.ensure_future(self._deed(control))
        loop = asyncio.get_running_loop()

        def interrupt() -> None:
            self._interrupts += 1
            if self._interrupts > 1:
                task.cancel()
                return
            control.pause(user())
            words = "Pausing when the present call is over. Ctrl-C again stops at once."
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
        """Tell what is asked, the diff, what was used, and what to type next."""
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
        steps = next_steps(
            state, result.status, in_place=result.in_place, is_hosted=result.is_hosted
        )
        tell_steps(view, steps, self._home.repo)


def driver_of(driver: str, model: str) -> str:
    """The driver that the two options mean together."""
    if driver and model and driver not in ("model", f"model:{model}"):
        raise UsageError(f"--driver {driver} and --model {model} exclude each other.", "Give one.")
    return f"model:{model}" if model else driver
