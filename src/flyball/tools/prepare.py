"""From what a driver said to a call that can be judged: names, forms, facts."""

from __future__ import annotations

from typing import Any

import msgspec

from flyball.core.call import ALIASES, TOOL_ACCESS, Access, Call, tool_name
from flyball.core.guard import digest
from flyball.core.shape import faults, suggest
from flyball.core.thread import SpokenCall
from flyball.tools.protocol import Desk, Facts, Form, Tool

RAW = "__raw__"
"""Under this name a driver passes on arguments that were not valid JSON."""


def prepare(spoken: SpokenCall, tools: dict[str, Tool], desk: Desk) -> Call:
    """A call with its facts, or with the fault that keeps it from being made."""
    name = tool_name(spoken.tool)
    tool = tools.get(name) if name else None
    if name is None or tool is None:
        return _faulty(spoken, _unknown(spoken.tool, tools))
    if RAW in spoken.args:
        return _faulty(spoken, f"The arguments of `{name}` are not valid JSON. Write them again.")
    form = read_form(spoken.args, tool)
    if isinstance(form, str):
        return _faulty(spoken, form)
    facts: Facts = tool.facts(form, desk)
    return Call(
        id=spoken.id,
        tool=name,
        args=spoken.args,
        access=facts.access or TOOL_ACCESS.get(name, Access.MUTATE),
        digest=digest([name, spoken.args]),
        paths=facts.paths,
        command=facts.command,
        confirmed=facts.confirmed,
        destructive=facts.destructive,
        keeps_regions=facts.keeps_regions,
    )


def read_form(args: dict[str, object], tool: Tool) -> Form | str:
    """The arguments as the tool's form, or a sentence about everything wrong with them."""
    wrong = faults(args, tool.form)
    if wrong:
        said = " ".join(f"{fault.message} {fault.mend}".strip() for fault in wrong)
        return f"`{tool.name}` cannot be made: {said}"
    try:
        return msgspec.convert(args, tool.form)
    except (msgspec.ValidationError, ValueError) as error:
        return f"`{tool.name}` cannot be made: {error}."


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


def _unknown(name: str, tools: dict[str, Tool]) -> str:
    return f"There is no tool `{name}`. {suggest(name, [*tools, *ALIASES])}"


def _faulty(spoken: SpokenCall, fault: str) -> Call:
    return Call(
        id=spoken.id,
        tool=tool_name(spoken.tool) or spoken.tool,
        args=spoken.args,
        access=Access.READ,
        digest=digest([spoken.tool, spoken.args]),
        fault=fault,
    )
