"""Convert a thread for providers: every call is answered before any other message follows."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from enum import StrEnum

import msgspec

from flyball.drivers.protocol import Request
from flyball.run.thread import Speaker, SpokenCall, ThreadLine
from flyball.terms.call import WEB_FETCH, WebLook, digest
from flyball.terms.shape import is_list, is_map

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
    """A conversation under construction: unanswered calls, and messages."""

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

    It is part of the user's message, next to the governor's text: a page must not be able to end
    its quotation and continue in the governor's name.
    """
    return "\n".join(f"> {line}" for line in text.splitlines())


ASKED = ("query", "queries", "url", "pattern")
"""The arguments in which providers put their query; several may occur."""
OVER = frozenset({"completed", "success"})


def read_look(id: str, tool: str, args: Mapping[str, object], content: object) -> WebLook:
    """Return one search or fetch with its result; None if it has no answer."""
    # What a page said is opened under the name of a search by some providers.
    is_fetch = tool == WEB_FETCH or args.get("type") in ("open_page", "find_in_page")
    failure = _failure(content)
    data = msgspec.json.encode(content)
    found = failure or "\n".join(dict.fromkeys(_lines(content)))
    return WebLook(
        id=id,
        tool=WEB_FETCH if is_fetch else tool,
        about=_asked(args),
        ok=not failure,
        text=found,
        digest=digest(content),
        bytes=0 if content is None else len(data),
    )


def _asked(args: Mapping[str, object]) -> str:
    said: list[str] = []
    for name in ASKED:
        value = args.get(name)
        each = value if is_list(value) else [value]
        said += [text for text in each if isinstance(text, str) and text not in said]
    return ", ".join(said)


def _failure(content: object) -> str:
    """Return why a lookup failed, in the provider's words."""
    if content is None:
        return "The provider did not return a result."
    if not is_map(content):
        return ""
    if code := content.get("error_code"):
        return f"It failed: {code}."
    status = content.get("status")
    return f"It ended as {status}." if isinstance(status, str) and status not in OVER else ""


def _lines(content: object) -> Iterator[str]:
    """Yield titles with addresses, then texts, wherever they are in a result."""
    if is_list(content):
        for each in content:
            yield from _lines(each)
    if not is_map(content):
        return
    title, url = content.get("title"), content.get("url")
    if isinstance(url, str) and url:
        yield f"{title}: {url}" if isinstance(title, str) and title else url
    for name in NESTED:
        inner = content.get(name)
        if is_map(inner) or is_list(inner):
            yield from _lines(inner)
    data = content.get("data")
    if isinstance(data, str) and content.get("media_type") in (None, "text/plain"):
        yield data


NESTED = ("sources", "results", "content", "source")
