"""Convert a thread for providers: every call is answered before anyone else speaks."""

from __future__ import annotations

from enum import StrEnum

import msgspec

from flyball.core.run.thread import Speaker, SpokenCall, ThreadLine
from flyball.drivers.protocol import Request

NOT_PERFORMED = "(not performed)"


class WireRole(StrEnum):
    """The author of a message, in providers' terms."""

    USER = "user"
    ASSISTANT = "assistant"
    TOOL = "tool"


class WireMessage(msgspec.Struct, frozen=True, omit_defaults=True):
    """One message of a conversation; a tool's message names the call that it answers."""

    role: WireRole
    content: str = ""
    calls: tuple[SpokenCall, ...] = ()
    call: str = ""
    tool: str = ""
    images: tuple[str, ...] = ()


def conversation(request: Request) -> tuple[WireMessage, ...]:
    """Return the opening and the thread, in an order that every provider accepts."""
    talk = _Talk([WireMessage(WireRole.USER, request.opening, images=request.images)])
    for line in request.lines:
        match line.speaker:
            case Speaker.DRIVER:
                talk.say(line)
            case Speaker.TOOL:
                talk.answer(line)
            case Speaker.GOVERNOR:
                talk.tell(line.text, line.images)
    talk.settle()
    return tuple(talk.messages)


def begins_thread(request: Request) -> bool:
    """Return whether this thread has no reply yet: it is new, or starts from a hand-over."""
    return not any(line.speaker is Speaker.DRIVER for line in request.lines)


def has_images(request: Request) -> bool:
    """Return whether anything in the request is an image."""
    return bool(request.images) or any(line.images for line in request.lines)


class _Talk:
    """A conversation under construction: calls that wait for their answer, and messages."""

    def __init__(self, messages: list[WireMessage]) -> None:
        self.messages = messages
        self.open: dict[str, SpokenCall] = {}
        self.answers: dict[str, str] = {}
        self.remarks: list[WireMessage] = []

    def say(self, line: ThreadLine) -> None:
        self.settle()
        if not line.text.strip() and not line.calls:
            return
        self.messages.append(WireMessage(WireRole.ASSISTANT, line.text, line.calls))
        self.open = {call.id: call for call in line.calls}

    def answer(self, line: ThreadLine) -> None:
        if line.call not in self.open:
            said = f"Outcome of {line.tool or 'an earlier call'}:\n{_quoted(line.text)}"
            self.tell(said, line.images)
            return
        said = self.answers.get(line.call)
        self.answers[line.call] = line.text if said is None else f"{said}\n\n{line.text}"
        if line.images:
            shown = f"What `{self.open[line.call].tool}` shows:"
            self.remarks.append(WireMessage(WireRole.USER, shown, images=line.images))

    def tell(self, text: str, images: tuple[str, ...]) -> None:
        self.remarks.append(WireMessage(WireRole.USER, text, images=images))

    def settle(self) -> None:
        """Answer open calls first, then add the other messages as one."""
        for call in self.open.values():
            content = self.answers.get(call.id, NOT_PERFORMED)
            self.messages.append(WireMessage(WireRole.TOOL, content, call=call.id, tool=call.tool))
        self.open, self.answers = {}, {}
        for remark in self.remarks:
            last = self.messages[-1]
            if last.role is WireRole.USER:
                content = "\n\n".join(filter(None, (last.content, remark.content)))
                images = (*last.images, *remark.images)
                self.messages[-1] = WireMessage(WireRole.USER, content, images=images)
            else:
                self.messages.append(remark)
        self.remarks = []


def _quoted(text: str) -> str:
    """Quote the text of files and pages inside a governor's message, marked line by line.

    It is part of the user's message, next to what the governor says: a page must not be able to end
    its quotation and continue in the governor's name.
    """
    return "\n".join(f"> {line}" for line in text.splitlines())
