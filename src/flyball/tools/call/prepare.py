"""Convert a driver's reply to calls that can be judged: names, forms, facts."""

from __future__ import annotations

import os
from collections.abc import Collection, Mapping
from difflib import get_close_matches
from typing import Any, cast

import msgspec

from flyball.errors import FlyballError
from flyball.run.decision import BASH_IS_OFF
from flyball.run.thread import SpokenCall
from flyball.terms.call import Access, Call, digest
from flyball.terms.shape import faults
from flyball.terms.tool import TOOL_ACCESS, plain_name
from flyball.tools.call.foreign_edits import UnclearCall
from flyball.tools.call.protocol import CallContext, CallFacts, Form, Tool
from flyball.tools.call.understand import named_tool, understand, unpack
from flyball.workspace.files.paths import PathKind

MAX_EDITED = 4_000_000
"""Maximum size in bytes of a file whose text is replaced."""

SECRET = (
    "`{tool}` was not made: its arguments contain what looks like a secret. Refer to it by the "
    "name of its environment variable, or leave the lines that hold it alone."
)


def prepare(
    call_given: SpokenCall,
    tools: Mapping[str, Tool],
    context: CallContext,
    offered: Collection[str] = (),
) -> tuple[Call, Form | None]:
    """Return a call with its facts and its form, or with the error that prevents it.

    `offered` are the tools that the driver may call now; the error for an unknown one lists them.
    """
    recorded = _recordable(_in_this_tree(call_given.args, context), context)
    if recorded is None:
        return _faulty(
            call_given, {}, f"The arguments of `{call_given.tool}` are not valid Unicode."
        )
    args = unpack(recorded)
    name = named_tool(call_given.tool, args if isinstance(args, dict) else {})
    tool = tools.get(name) if name else None
    if name is None or tool is None:
        return _faulty(call_given, recorded, _unknown(call_given.tool, offered or tools))
    if isinstance(args, str):
        fault = f"The arguments of `{name}` are not valid JSON: {args}. {_example(tool)}"
        return _faulty(call_given, recorded, fault, name)
    try:
        understood = understand(call_given.tool, args, tool, lambda path: _text_at(path, context))
    except UnclearCall as error:
        return _faulty(call_given, args, f"`{name}` cannot be called: {error}", name)
    form = read_form(understood.args, tool)
    if isinstance(form, str):
        return _faulty(call_given, understood.args, f"{form} {_example(tool)}".rstrip(), name)
    access = TOOL_ACCESS[name]
    # A rewrite may quote the file that it edits, and the driver may not write a secret in it.
    is_redacted = (
        recorded != call_given.args or context.redactor.value(understood.args) != understood.args
    )
    if access is Access.MUTATE and is_redacted:
        return _faulty(call_given, recorded, SECRET.format(tool=name), name)
    facts: CallFacts = tool.facts(form, context)
    call = Call(
        id=call_given.id,
        tool=name,
        args=understood.args,
        access=facts.access or access,
        digest=digest([name, understood.args]),
        paths=facts.paths,
        command=facts.command,
        confirmed=facts.confirmed,
        destructive=facts.destructive,
        keeps_regions=facts.keeps_regions,
        understood=", ".join(understood.said),
    )
    return call, form


def _in_this_tree(args: dict[str, object], context: CallContext) -> dict[str, object]:
    """Return the arguments with paths in the user's checkout mapped to the run's tree."""
    top = os.fspath(context.project)
    return {
        name: value[len(top) + 1 :] or "."
        if isinstance(value, str) and (value == top or value.startswith(f"{top}/"))
        else value
        for name, value in args.items()
    }


def _text_at(path: str, context: CallContext) -> str | None:
    """Return a workspace file's text, or None; whether it may be edited is judged later."""
    try:
        fact = context.root.fact(path, write=False)
        if not fact.inside or fact.kind is not PathKind.FILE:
            return None
        data = context.root.read_bytes(path, MAX_EDITED + 1)
        return data.decode() if len(data) <= MAX_EDITED else None
    except (FlyballError, UnicodeDecodeError):
        return None


def _recordable(args: dict[str, object], context: CallContext) -> dict[str, object] | None:
    """Return the arguments with secrets redacted; None if they cannot be stored."""
    try:
        msgspec.json.encode(args)
    except (UnicodeEncodeError, OverflowError):
        return None
    return cast(dict[str, object], context.redactor.value(args))


def read_form(args: dict[str, object], tool: Tool) -> Form | str:
    """Parse the arguments into the tool's form, or return a sentence with every error in them."""
    # The form alone would report only the first error, and accept blank text.
    wrong = faults(args, tool.form, whole="The call")
    if wrong:
        problems = " ".join(f"{fault.message} {fault.hint}".strip() for fault in wrong)
        return f"`{tool.name}` cannot be called: {problems}"
    try:
        return msgspec.convert(args, tool.form)
    except (msgspec.ValidationError, ValueError) as error:
        return f"`{tool.name}` cannot be called: {str(error).rstrip('.')}."


def describe(tool: Tool) -> dict[str, Any]:
    """Return the JSON Schema of a tool's form, flat and without titles."""
    schema = msgspec.json.schema(tool.form)
    name = tool.form.__name__
    definitions: dict[str, Any] = schema.pop("$defs", {})
    shape: dict[str, Any] = definitions.pop(name)
    shape.pop("title", None)
    shape.pop("description", None)
    if definitions:
        shape["$defs"] = definitions
    return shape


def _unknown(name: str, offered: Collection[str]) -> str:
    if plain_name(name) == "bash":
        return f"{BASH_IS_OFF} You can call now: {', '.join(offered)}."
    if hint := INSTEAD.get(plain_name(name)):
        return f"There is no tool `{name}`. {hint}"
    near = get_close_matches(plain_name(name), sorted(offered), 3, 0.6)
    if near:
        return f"There is no tool `{name}`. Did you mean {' or '.join(f'`{n}`' for n in near)}?"
    return f"There is no tool `{name}`. You can call now: {', '.join(offered)}."


_NO_MOVE = "Write the file at its new path with `write_file`, and delete the old one."
_NO_FOLDER = "A directory is made with the first file in it, by `write_file`."
_NO_STATE = "Your edits changed exactly what they said; `read` the file to see its current content."
INSTEAD = {
    **dict.fromkeys(("move_file", "rename_file", "mv", "rename", "copy_file"), _NO_MOVE),
    **dict.fromkeys(("mkdir", "create_directory", "make_dir", "create_folder"), _NO_FOLDER),
    **dict.fromkeys(("git_diff", "git_status", "git_add"), _NO_STATE),
}
"""Alternatives to the tools that other agents have."""


def _example(tool: Tool) -> str:
    """Return a valid call from the tool's own example."""
    if not tool.example:
        return ""
    return f"Write it like this: {msgspec.json.encode(tool.example).decode()}"


def _faulty(
    call_given: SpokenCall, args: dict[str, object], fault: str, name: str = ""
) -> tuple[Call, None]:
    call = Call(
        id=call_given.id,
        tool=name or call_given.tool,
        args=args,
        access=Access.READ,
        digest=digest([call_given.tool, args]),
        fault=fault,
    )
    return call, None
