"""The written form of a reply: a line of a script, or the answer to a relayed request."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Annotated, Any, cast

import msgspec
from msgspec.structs import replace

from flyball.drivers.protocol import Reply, Request
from flyball.run.event import Finish
from flyball.run.thread import SpokenCall
from flyball.terms.budget import Usage
from flyball.terms.shape import faults, is_list, is_map, read_loosely, value_words

RAW = "__raw__"
"""The argument that carries what a model wrote where its arguments should have been."""

Name = Annotated[str, msgspec.Meta(min_length=1)]
Count = Annotated[int, msgspec.Meta(ge=0)]
Money = Annotated[float, msgspec.Meta(ge=0)]


class CallForm(msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """A written call; if it has no id, it gets one."""

    tool: Name
    args: dict[str, Any] = msgspec.field(default_factory=dict[str, Any])
    id: str = ""


class UsageForm(msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """The cost stated in a written reply."""

    input_tokens: Count = 0
    output_tokens: Count = 0
    money: Money = 0.0


class ReplyForm(msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """A written reply."""

    role: str = ""
    card: str = ""
    text: str = ""
    calls: tuple[CallForm, ...] = ()
    finish: Finish | None = None
    usage: UsageForm = UsageForm()


class ReplyError(ValueError):
    """An error for a text that is not a valid reply; it says what is wrong and what to write
    instead."""

    def __init__(self, message: str, hint: str) -> None:
        super().__init__(f"{message} {hint}".rstrip())
        self.message = message
        self.hint = hint


TOOL = ("tool", "name", "tool_name", "function", "recipient_name")
ARGS = ("args", "arguments", "input", "parameters", "params", "kwargs", "tool_input")
IDLE = {"type": "function", "index": None, "role": "assistant"}
"""Fields that providers add around a call or a reply and that can be ignored; None: any value."""


def read_form(text: str) -> ReplyForm:
    """Return a reply from its JSON, or all of its errors."""
    try:
        value = read_loosely(text)
    except ValueError as error:
        raise ReplyError(f"This is not JSON: {error}.", "Write one JSON object.") from None
    if not is_map(value):
        raise ReplyError(f"A reply is a JSON object, not {value_words(value)}.", "Begin with `{`.")
    value = _to_own_reply(value)
    if wrong := faults(cast(object, value), ReplyForm):
        message = " ".join(fault.message for fault in wrong)
        raise ReplyError(message, wrong[0].hint)
    return msgspec.convert(value, ReplyForm)


def _to_own_reply(reply: Mapping[object, object]) -> dict[object, object]:
    """Convert a reply from another program's notation to Flyball's names."""
    found = {name: each for name, each in reply.items() if each is not None}
    for own, other in (("text", "content"), ("calls", "tool_calls"), ("finish", "finish_reason")):
        if own not in found and other in found:
            found[own] = found.pop(other)
    if found.get("role") == IDLE["role"]:
        del found["role"]
    calls = found.get("calls")
    if is_map(calls):
        calls = [calls]
    return {**found, "calls": [to_own_call(c) for c in calls]} if is_list(calls) else found


def to_own_call(call: object) -> object:
    """Convert a call from any provider's notation to `tool` and `args`; return anything else
    unchanged."""
    if not is_map(call):
        return call
    inner = call.get("function")
    fields = {**call, **inner} if is_map(inner) else dict(call)
    if is_map(inner):
        del fields["function"]
    tool = next((name for name in TOOL if isinstance(fields.get(name), str)), None)
    args = next((name for name in ARGS if name in fields), None)
    if tool is None:
        return call
    rest = {
        name: value
        for name, value in fields.items()
        if name not in (tool, args) and not (name in IDLE and IDLE[str(name)] in (None, value))
    }
    return {"tool": fields[tool], "args": _as_map(fields[args]) if args else {}, **rest}


def _as_map(args: object) -> object:
    """Parse arguments written as text; invalid JSON is passed on, to be refused with a reason."""
    if args is None or args == "":
        return {}
    if not isinstance(args, str):
        return args
    try:
        value = read_loosely(args)
    except ValueError:
        return {RAW: args}
    return value if is_map(value) else {RAW: args}


def require_addressee(form: ReplyForm, request: Request) -> ReplyForm:
    """Accept a reply addressed to this request; refuse one meant for another."""
    if form.role and form.role != request.role:
        raise ReplyError(
            f"This reply is for the {form.role}, but the {request.role} was asked.",
            "Leave `role` out, or answer the request of that role.",
        )
    if form.card and form.card != request.card:
        raise ReplyError(
            f"This reply is for card {form.card}, but card {request.card} was asked.",
            "Leave `card` out, or answer the request of that card.",
        )
    return form


def reply_from(form: ReplyForm, request: Request, model: str) -> Reply:
    """Return a written reply, with an id for every call that lacks one."""
    calls = [SpokenCall(call.id, call.tool, call.args) for call in form.calls]
    finish = form.finish or (Finish.TOOL_CALLS if calls else Finish.STOP)
    usage = Usage(form.usage.input_tokens, form.usage.output_tokens, form.usage.money)
    named = give_ids(calls, request)
    return Reply(text=form.text, calls=named, finish=finish, usage=usage, model=model)


def give_ids(calls: Iterable[SpokenCall], request: Request) -> tuple[SpokenCall, ...]:
    """Return the calls, each with an id that is unique in the thread.

    Providers need ids to pair calls with outcomes, and not every server makes good ones. A
    generated id is short and plain enough for all of them, and unique across cards.
    """
    taken = {call.id for line in request.lines for call in line.calls}
    named: list[SpokenCall] = []
    for index, call in enumerate(calls, 1):
        id = call.id
        if not id or id in taken:
            id = f"{call.id or request.role}-{request.number}-{index}"
        while id in taken:
            id += "x"
        taken.add(id)
        named.append(replace(call, id=id))
    return tuple(named)


def reply_schema() -> dict[str, Any]:
    """Return the JSON Schema of a written reply."""
    return msgspec.json.schema(ReplyForm)
