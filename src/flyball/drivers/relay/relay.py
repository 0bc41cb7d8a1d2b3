"""A driver that asks by file: anyone who can read and write a folder can be the model."""

from __future__ import annotations

import os
from collections.abc import Awaitable, Callable
from contextlib import suppress
from pathlib import Path
from typing import Any, NamedTuple

import msgspec

from flyball.drivers.form import (
    ReplyError,
    ReplyForm,
    read_form,
    reply_from,
    reply_schema,
    require_addressee,
)
from flyball.drivers.image import picture
from flyball.drivers.protocol import Reply, Request, ToolSpec
from flyball.drivers.relay.page import question
from flyball.drivers.relay.prose import read_prose
from flyball.drivers.wire import WireMessage, begins_thread, conversation
from flyball.errors import ConfigError, DriverError
from flyball.guards.handover import RunnerVerb
from flyball.regex import regex

MODEL = "relay"
POLL = 0.2
SETTLED = 2
"""How many looks in a row must find a reply unchanged before it counts as written."""

Sleep = Callable[[float], Awaitable[object]]
"""How to wait; `asyncio.sleep`, which this module leaves to the caller to import."""

NEW_THREAD = (
    "**A new thread begins here.** In a chat window: copy this page "
    f"(`{RunnerVerb.COPY_TO_CLIPBOARD}`), open a new chat (`{RunnerVerb.NEW_THREAD}`), paste it "
    f"(`{RunnerVerb.PASTE_PROMPT}`) and send it (`{RunnerVerb.SEND_PROMPT}`). "
    "What an earlier chat knew that still matters is on this page."
)

NUMBERED = regex(r"(\d{4,})\.request\.json")


class RelayedRequest(msgspec.Struct, frozen=True, kw_only=True):
    """A request as written to `NNNN.request.json`."""

    run: str
    card: str
    role: str
    phase: str
    turn: int
    system: str
    messages: tuple[WireMessage, ...]
    tools: tuple[ToolSpec, ...]
    reply_schema: dict[str, Any]
    runner_actions: tuple[RunnerVerb, ...] = ()
    """What a person who drives a chat window has to do with the page, when a thread begins."""


class ReplyFileState(NamedTuple):
    """One state of a reply file; two equal states mean that writing is finished."""

    path: Path
    modified: int
    text: str


class RelayDriver:
    """Writes `NNNN.request.json` and `.md`, and waits for `NNNN.reply.json` or `.md`."""

    def __init__(self, folder: Path, sleep: Sleep) -> None:
        self._folder = folder
        self._sleep = sleep

    async def think(self, request: Request, on_text: Callable[[str], None]) -> Reply:
        """Ask, and wait as long as it takes; the same request is not asked twice."""
        try:
            number = self._ask(request)
            form = await self._answer(number, request)
        except OSError as error:
            raise DriverError(
                f"The relay folder {self._folder} cannot be used: {error.strerror or error}.",
                "Name a folder that you may write to.",
            ) from None
        if form.text:
            on_text(form.text)
        return reply_from(form, request, MODEL)

    async def close(self) -> None:
        """Do nothing: an open request stays, and is found again on resuming."""

    def _ask(self, request: Request) -> str:
        content = msgspec.json.format(msgspec.json.encode(_relayed(request)), indent=2)
        self._folder.mkdir(parents=True, exist_ok=True)
        number = self._same_request(content)
        while number is None:
            number = self._claim(content)
        page = self._folder / f"{number}.request.md"
        if not page.exists():
            self._write_images(number, request)
            by_hand = NEW_THREAD if begins_thread(request) else ""
            text = question(request, _where(number, self._folder), by_hand)
            _replace(page, text.encode())
        return number

    def _same_request(self, content: bytes) -> str | None:
        """Return the number under which this exact request was asked before an interruption."""
        for number in sorted(self._numbers(), reverse=True):
            path = self._folder / f"{number:04}.request.json"
            if path.stat().st_size == len(content) and path.read_bytes() == content:
                return f"{number:04}"
        return None

    def _claim(self, content: bytes) -> str | None:
        """Take the next free number; None if another process was faster."""
        number = f"{max(self._numbers(), default=0) + 1:04}"
        return number if _create(self._folder / f"{number}.request.json", content) else None

    def _numbers(self) -> list[int]:
        names = (NUMBERED.fullmatch(path.name) for path in self._folder.iterdir())
        return [int(name[1]) for name in names if name]

    def _write_images(self, number: str, request: Request) -> None:
        images = [image for message in conversation(request) for image in message.images]
        for index, image in enumerate(images, 1):
            if shown := picture(image):
                _replace(self._folder / f"{number}.image-{index}.{shown.suffix}", shown.data)

    async def _answer(self, number: str, request: Request) -> ReplyForm:
        """Poll until the reply can be read; answer an invalid reply with its errors."""
        complaint = self._folder / f"{number}.error.md"
        last: ReplyFileState | None = None
        same = 0
        while True:
            written = self._look(number)
            same = same + 1 if written is not None and written == last else 1
            last = written
            if written is not None and same == SETTLED:
                try:
                    form = _read(written, request)
                except ReplyError as error:
                    _replace(complaint, _complaint(written.path.name, error).encode())
                else:
                    complaint.unlink(missing_ok=True)
                    return form
            await self._sleep(POLL)

    def _look(self, number: str) -> ReplyFileState | None:
        for suffix in ("json", "md"):
            path = self._folder / f"{number}.reply.{suffix}"
            with suppress(FileNotFoundError):
                text = path.read_bytes().decode("utf-8-sig", errors="replace")
                if text.strip():
                    return ReplyFileState(path, path.stat().st_mtime_ns, text)
        return None


def open_relay(folder: Path, sleep: Sleep) -> RelayDriver:
    """Return a relay through a directory, which is created if necessary."""
    if folder.exists() and not folder.is_dir():
        raise ConfigError(f"{folder} is a file.", "Name a folder for the relay: relay:FOLDER.")
    return RelayDriver(folder, sleep)


def _relayed(request: Request) -> RelayedRequest:
    return RelayedRequest(
        run=request.run,
        card=request.card,
        role=request.role,
        phase=request.phase.value,
        turn=request.turns.get(request.card, 0),
        system=request.system,
        messages=conversation(request),
        tools=request.offered,
        reply_schema=reply_schema(),
        runner_actions=tuple(RunnerVerb) if begins_thread(request) else (),
    )


def _read(written: ReplyFileState, request: Request) -> ReplyForm:
    if written.path.suffix == ".md":
        return read_prose(written.text, request.tools)
    return require_addressee(read_form(written.text), request)


def _where(number: str, folder: Path) -> str:
    return (
        f"**Write your answer into `{number}.reply.md`, next to this file** in {folder}, and save "
        f"it once, when it is complete. (A program may write `{number}.reply.json` instead, in the "
        f"shape that `reply_schema` in `{number}.request.json` gives.) If something in it cannot "
        f"be understood, `{number}.error.md` says what; fix the reply and save it again."
    )


def _complaint(name: str, error: ReplyError) -> str:
    return f"# {name} cannot be used\n\n{error}\n\nCorrect it and save it again.\n"


def _replace(path: Path, content: bytes) -> None:
    """Replace a file atomically."""
    part = path.with_name(f".{path.name}.{os.getpid()}.part")
    part.write_bytes(content)
    part.replace(path)


def _create(path: Path, content: bytes) -> bool:
    """Create a file atomically; fail if it exists."""
    part = path.with_name(f".{path.name}.{os.getpid()}.part")
    part.write_bytes(content)
    try:
        path.hardlink_to(part)
    except FileExistsError:
        return False
    except OSError:
        # A file system without hard links: the number is still taken in one step.
        if path.exists():
            return False
        part.replace(path)
    finally:
        part.unlink(missing_ok=True)
    return True
