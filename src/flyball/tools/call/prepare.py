"""From what a driver said to a call that can be judged: names, forms, facts."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, cast

import msgspec

from flyball.core.memory.fingerprint import digest
from flyball.core.run.thread import SpokenCall
from flyball.core.terms.call import Access, Call
from flyball.core.terms.shape import faults, suggest
from flyball.core.terms.tool import ALIASES, TOOL_ACCESS, tool_name
from flyball.tools.call.accepted_forms import in_own_form
from flyball.tools.call.protocol import CallContext, CallFacts, Form, Tool

RAW = "__raw__"
"""Under this name a driver passes on arguments that were not valid JSON."""


SECRET = (
    "`{tool}` is not made: its arguments contain what looks like a secret. Refer to it by the name "
    "of its environment variable, or leave the lines that hold it alone."
)


def prepare(
    spoken: SpokenCall, tools: Mapping[str, Tool], context: CallContext
) -> tuple[Call, Form | None]:
    """A call with its facts and its form, or with the fault that keeps it from being made."""
    name = tool_name(spoken.tool)
    tool = tools.get(name) if name else None
    args = _recordable(spoken.args, context)
    if args is None:
        return _faulty(spoken, {}, f"The arguments of `{spoken.tool}` are not valid Unicode.")
    if name is None or tool is None:
        return _faulty(spoken, args, _unknown(spoken.tool, tools))
    if RAW in args:
        return _faulty(spoken, args, f"The arguments of `{name}` are not valid JSON.")
    is_redacted = args != spoken.args
    args = in_own_form(name, args, spoken.tool)
    form = read_form(args, tool)
    if isinstance(form, str):
        return _faulty(spoken, args, form)
    access = TOOL_ACCESS[name]
    if access is Access.MUTATE and is_redacted:
        return _faulty(spoken, args, SECRET.format(tool=name))
    facts: CallFacts = tool.facts(form, context)
    call = Call(
        id=spoken.id,
        tool=name,
        args=args,
        access=facts.access or access,
        digest=digest([name, args]),
        paths=facts.paths,
        command=facts.command,
        confirmed=facts.confirmed,
        destructive=facts.destructive,
        keeps_regions=facts.keeps_regions,
    )
    return call, form


def _recordable(args: dict[str, object], context: CallContext) -> dict[str, object] | None:
    """The arguments without secrets, or None where they could not be written down."""
    try:
        msgspec.json.encode(args)
    except (UnicodeEncodeError, OverflowError):
        return None
    return cast(dict[str, object], context.redactor.value(args))


def read_form(args: dict[str, object], tool: Tool) -> Form | str:
    """The arguments as the tool's form, or a sentence about everything wrong with them."""
    # The form alone would name the first fault only, and take blanks for text.
    wrong = faults(args, tool.form, whole="The call")
    if wrong:
        said = " ".join(f"{fault.message} {fault.hint}".strip() for fault in wrong)
        return f"`{tool.name}` cannot be made: {said}"
    try:
        return msgspec.convert(args, tool.form)
    except (msgspec.ValidationError, ValueError) as error:
        return f"`{tool.name}` cannot be made: {str(error).rstrip('.')}."


def describe(tool: Tool) -> dict[str, Any]:
    """The JSON Schema of a tool's form, flat and without titles."""
    schema = msgspec.json.schema(tool.form)
    name = tool.form.__name__
    definitions: dict[str, Any] = schema.pop("$defs", {})
    shape: dict[str, Any] = definitions.pop(name)
    shape.pop("title", None)
    shape.pop("description", None)
    if definitions:
        shape["$defs"] = definitions
    return shape


def _unknown(name: str, tools: Mapping[str, Tool]) -> str:
    return f"There is no tool `{name}`. {suggest(name, [*tools, *ALIASES])}"


def _faulty(spoken: SpokenCall, args: dict[str, object], fault: str) -> tuple[Call, None]:
    call = Call(
        id=spoken.id,
        tool=tool_name(spoken.tool) or spoken.tool,
        args=args,
        access=Access.READ,
        digest=digest([spoken.tool, args]),
        fault=fault,
    )
    return call, None
