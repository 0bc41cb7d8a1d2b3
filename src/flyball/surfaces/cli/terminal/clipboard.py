"""The clipboard and the keyboard, for a run whose model is somebody's chat window."""

from __future__ import annotations

import asyncio
import os
import shutil
import sys
from functools import partial
from pathlib import Path
from typing import NamedTuple

from flyball.drivers.relay.clipboard import PersonPort
from flyball.errors import DriverError, ToolError
from flyball.surfaces.cli.terminal.plain import View
from flyball.surfaces.cli.terminal.story_words import StoryLine
from flyball.workspace.process.spawn import run_sync

SECONDS = 5.0


class Clipboard(NamedTuple):
    """Two commands: one that fills the clipboard from its input, one that prints it."""

    copy: tuple[str, ...]
    paste: tuple[str, ...]


CLIPBOARDS = (
    Clipboard(("pbcopy",), ("pbpaste",)),
    Clipboard(("wl-copy",), ("wl-paste", "--no-newline")),
    Clipboard(("xclip", "-selection", "clipboard"), ("xclip", "-selection", "clipboard", "-o")),
    Clipboard(("xsel", "--clipboard", "--input"), ("xsel", "--clipboard", "--output")),
)


def find_clipboard() -> Clipboard | None:
    """The first pair of programs that this machine has."""
    return next((each for each in CLIPBOARDS if shutil.which(each.copy[0])), None)


def terminal_port(view: View) -> PersonPort | None:
    """Carries prompts out and answers back, where there is a keyboard and a clipboard."""
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
    """Fill the clipboard."""
    # Such a program may stay in the background to serve what it holds, with our pipes open.
    argv = ("sh", "-c", '"$@" >/dev/null 2>&1', "sh", *clipboard.copy)
    _run(argv, text.encode())


def _run(argv: tuple[str, ...], stdin: bytes | None) -> bytes:
    try:
        done = run_sync(argv, cwd=Path("/"), env=os.environ, seconds=SECONDS, stdin=stdin)
    except ToolError as error:
        raise DriverError(str(error)) from None
    if done.exit_code:
        said = done.stderr.decode("utf-8", "replace").strip()
        raise DriverError(f"The clipboard does not answer: {said or argv[-1]}.", "Try relay:DIR.")
    return done.stdout


async def _enter() -> None:
    """Wait for a line without holding up anything else."""
    loop = asyncio.get_running_loop()
    ready = loop.create_future()
    descriptor = sys.stdin.fileno()
    loop.add_reader(descriptor, lambda: ready.done() or ready.set_result(None))
    try:
        await ready
    finally:
        loop.remove_reader(descriptor)
    if not sys.stdin.readline():
        raise DriverError("There is no keyboard to answer from.", "Use --driver relay:DIR.")
