"""A driver that asks by clipboard: a person carries each request to a chat window and back."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import NamedTuple

from flyball.drivers.form import ReplyError, ReplyForm, read_form, reply_from, require_addressee
from flyball.drivers.protocol import Reply, Request
from flyball.drivers.relay.page import new_messages, question
from flyball.drivers.relay.prose import read_prose
from flyball.drivers.wire import WireMessage, conversation
from flyball.guards.handover import RunnerAction, RunnerVerb, runner_actions

MODEL = "relay"

ANSWER_HERE = "Answer here, in this chat; your answer is copied back unchanged."

WORDS = {
    RunnerVerb.COPY_TO_CLIPBOARD: "The prompt is in the clipboard.",
    RunnerVerb.NEW_THREAD: "Open a new chat.",
    RunnerVerb.PASTE_PROMPT: "Paste the prompt.",
    RunnerVerb.SEND_PROMPT: "Send it.",
}


class PersonPort(NamedTuple):
    """The functions of a person's machine that the driver needs.

    `copy` fills the clipboard, `show` displays a message, `read` waits for the reply: pasted into
    the terminal, or taken from the clipboard when the person confirms.
    """

    copy: Callable[[str], None]
    show: Callable[[str], None]
    read: Callable[[], Awaitable[str]]


class ClipboardDriver:
    """Copies the whole request into a new chat, then only what that chat has not received yet."""

    def __init__(self, hand: PersonPort) -> None:
        self._hand = hand
        self._heard: tuple[WireMessage, ...] = ()
        self._one_at_a_time = asyncio.Lock()

    async def think(self, request: Request, on_text: Callable[[str], None]) -> Reply:
        """Show what to copy where, then wait for an answer that can be parsed."""
        async with self._one_at_a_time:
            form = await self._carry(request)
        if form.text:
            on_text(form.text)
        return reply_from(form, request, MODEL)

    async def close(self) -> None:
        """Do nothing: there is nothing to close."""

    async def _carry(self, request: Request) -> ReplyForm:
        for action in self._actions(request):
            if action.action is RunnerVerb.COPY_TO_CLIPBOARD:
                self._hand.copy(action.text)
            self._hand.show(WORDS[action.action])
        self._hand.show("Copy the whole answer and return here.")
        form = await self._paste_answer(request)
        self._heard = conversation(request)
        return form

    def _actions(self, request: Request) -> tuple[RunnerAction, ...]:
        """Return what to do with a chat; one that already has this thread needs only the new
        messages."""
        heard = len(self._heard)
        if not heard or conversation(request)[:heard] != self._heard:
            return runner_actions(question(request, ANSWER_HERE))
        text = new_messages(request, heard + 1, ANSWER_HERE)
        actions = runner_actions(text)
        return tuple(action for action in actions if action.action is not RunnerVerb.NEW_THREAD)

    async def _paste_answer(self, request: Request) -> ReplyForm:
        while True:
            text = await self._hand.read()
            try:
                if text.lstrip().startswith("{"):
                    return require_addressee(read_form(text), request)
                return read_prose(text, request.tools)
            except ReplyError as error:
                self._hand.show(f"This answer cannot be used. {error} Copy a corrected answer.")
