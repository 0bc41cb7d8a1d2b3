"""A reply written by hand: prose, with calls in fenced blocks.

    ```call
    {"tool": "read", "args": {"path": "src/cart.py"}}
    ```

    ```call edit_diff
    --- a/src/cart.py
    ...
    ```

A block that names its tool may give arguments as `name=value` after it. Its body is then the one
long text that the tool takes, verbatim (`VERBATIM`), or a JSON object, or lines of `name: value`.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple, cast

import msgspec

from flyball.drivers.form import ARGS, TOOL, CallForm, ReplyError, ReplyForm, read_form
from flyball.drivers.protocol import ToolSpec
from flyball.regex import regex
from flyball.terms.shape import read_loosely
from flyball.terms.tool import TOOL_ROWS, field_name, tool_name

VERBATIM: Mapping[str, str] = {"edit_diff": "diff", "write_file": "content", "bash": "cmd"}
"""Tools whose block holds one verbatim text, and the argument that takes it."""

CALLS = frozenset({"call", "tool_call", "tool_calls", "tool", "tool_use", "function_call"})
"""The fence labels that mark a call; the first is Flyball's own."""
FENCE = regex(r" {0,3}(`{3,}|~{3,})[ \t]*(.*)")
FIELD = regex(r"(\w+):(?:[ \t]+(.*))?")

Schemas = Mapping[str, Mapping[str, Any]]


class FencedBlock(NamedTuple):
    """A fenced block, and its first line number."""

    line: int
    info: str
    body: tuple[str, ...]

    @property
    def text(self) -> str:
        """Return the text between the fences."""
        return "".join(f"{line}\n" for line in self.body)


def arguments(schema: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the arguments in a tool's schema, resolving a reference to them."""
    return _resolved(schema).get("properties", {})


def required(schema: Mapping[str, Any]) -> tuple[str, ...]:
    """Return the required arguments of a tool."""
    return tuple(_resolved(schema).get("required", ()))


def _resolved(schema: Mapping[str, Any]) -> Mapping[str, Any]:
    reference = str(schema.get("$ref", ""))
    if not reference.startswith("#/$defs/"):
        return schema
    return schema.get("$defs", {}).get(reference.removeprefix("#/$defs/"), {})


def read_prose(text: str, tools: Sequence[ToolSpec]) -> ReplyForm:
    """Return the prose and the calls of a reply, or the error in the first bad block."""
    schemas = {tool.name: arguments(tool.schema) for tool in tools}
    prose: list[str] = []
    calls: list[CallForm] = []
    for item in _items(text.replace("\r\n", "\n").removesuffix("\n").split("\n")):
        if isinstance(item, str):
            prose.append(item)
        else:
            calls.append(_call(item, schemas))
    words = re.sub(r"\n{3,}", "\n\n", "\n".join(prose)).strip()
    if not words and not calls:
        raise ReplyError("The reply is empty.", "Write an answer, or a `call` block.")
    return ReplyForm(text=words, calls=tuple(calls))


def _items(lines: Sequence[str]) -> Iterator[str | FencedBlock]:
    """Yield lines of prose and call blocks; other blocks count as prose."""
    at = 0
    while at < len(lines):
        fence = FENCE.fullmatch(lines[at])
        if fence is None:
            yield lines[at]
            at += 1
            continue
        info = fence[2].strip()
        is_call = bool(CALLS & set(info.lower().split()[:1]))
        end = _closing(lines, at, fence[1])
        if end is None and is_call:
            raise ReplyError(
                f"Line {at + 1}: this call block is never closed.",
                f"End it with a line {fence[1]} of its own.",
            )
        stop = len(lines) if end is None else end
        block = FencedBlock(at + 1, info, tuple(lines[at + 1 : stop]))
        if is_call or _is_disguised_call(block):
            yield block if is_call else block._replace(info="call")
        else:
            yield from lines[at : stop + 1]
        at = stop + 1


def _closing(lines: Sequence[str], start: int, fence: str) -> int | None:
    for at in range(start + 1, len(lines)):
        line = lines[at].strip()
        if len(line) >= len(fence) and line == fence[0] * len(line):
            return at
    return None


def _is_disguised_call(block: FencedBlock) -> bool:
    """Return whether a block of another kind must be a call: it names a tool and arguments."""
    value = _json_object(block.text)
    if value is None or not {"id", "type", *TOOL, *ARGS} >= set(value):
        return False
    return bool(set(TOOL) & set(value)) and bool(set(ARGS) & set(value))


def _call(block: FencedBlock, schemas: Schemas) -> CallForm:
    try:
        words = shlex.split(block.info)[1:]
    except ValueError:
        raise _wrong(block, "a quote is not closed.", "Write name=value, or name='a b'.") from None
    if words:
        return _named_call(block, words[0], words[1:], schemas)
    try:
        form = read_form(f'{{"calls": [{block.text or "null"}]}}')
    except ReplyError as error:
        hint = 'Write {"tool": "…", "args": {…}}.'
        raise _wrong(block, error.message.replace("calls[0].", ""), hint) from None
    return form.calls[0]


def _named_call(block: FencedBlock, tool: str, words: Sequence[str], schemas: Schemas) -> CallForm:
    name = tool_name(tool) or tool
    properties = schemas.get(name, {})
    args: dict[str, Any] = {}
    for word in words:
        key, equals, value = word.partition("=")
        if not equals or not key.isidentifier():
            raise _wrong(block, f"{word!r} is not name=value.", "Write name=value, or name='a b'.")
        args[key] = _typed(block, key, value, properties)
    body = None if args and name in VERBATIM else _json_object(block.text)
    if body is not None:
        return CallForm(tool, {**args, **body})
    if name in VERBATIM and VERBATIM[name] not in args:
        text = block.text if name != "bash" else block.text.strip()
        return CallForm(tool, {**args, VERBATIM[name]: text})
    return CallForm(tool, {**args, **_fields(block, name, properties)})


def _fields(block: FencedBlock, tool: str, properties: Mapping[str, Any]) -> dict[str, Any]:
    """Return lines of `name: value` as fields; a line with no known name continues the last."""
    values: dict[str, list[str]] = {}
    current: list[str] | None = None
    # Rare fields are not in what drivers are shown, and are named to them where one is needed.
    known = {*properties, *(TOOL_ROWS[tool].spelt if tool in TOOL_ROWS else ())}
    for line in block.body:
        start = FIELD.fullmatch(line)
        name = _own_name(start[1], tool, properties) if start else ""
        if start and (name in known or not properties):
            current = values.setdefault(name, [])
            current.append(start[2] or "")
        elif current is not None:
            current.append(line)
        elif line.strip():
            names = ", ".join(properties) or "none"
            hint = f"Write a JSON object, or lines of name: value. The names are: {names}."
            raise _wrong(block, f"{line.strip()!r} is not name: value.", hint)
    return {
        name: _typed(block, name, "\n".join(lines).strip(), properties)
        for name, lines in values.items()
    }


def _own_name(name: str, tool: str, properties: Mapping[str, Any]) -> str:
    """Return the only argument that a name can mean."""
    return name if name in properties or tool not in TOOL_ROWS else field_name(tool, name)


def _typed(block: FencedBlock, name: str, text: str, properties: Mapping[str, Any]) -> object:
    schema = properties.get(name)
    kind = kind_of(schema)
    if kind == "string":
        return text
    if kind == "array" or (text.startswith("- ") and "array" in kinds_of(schema)):
        return _listed(block, name, text)
    try:
        return msgspec.json.decode(text)
    except msgspec.DecodeError:
        if not kind:
            return text
        raise _wrong(block, f"`{name}` must be a JSON {kind}, not {text!r}.", "") from None


def _listed(block: FencedBlock, name: str, text: str) -> object:
    if text.startswith("["):
        try:
            return msgspec.json.decode(text)
        except msgspec.DecodeError as error:
            raise _wrong(block, f"`{name}` is not a JSON list: {error}.", "") from None
    lines = [line.strip() for line in text.split("\n") if line.strip()]
    if all(line.startswith("- ") for line in lines):
        return [line[2:].strip() for line in lines]
    if len(lines) == 1 and ", " not in lines[0]:
        return lines
    hint = "Begin each item on a line of its own with `- `, or write a JSON list."
    raise _wrong(block, f"it is not clear what the items of `{name}` are.", hint)


def kind_of(schema: object) -> str:
    """Return the one JSON type that a schema names, leaving out null."""
    names = kinds_of(schema)
    return next(iter(names)) if len(names) == 1 else ""


def kinds_of(schema: object) -> frozenset[str]:
    """Return every JSON type that a schema names, leaving out null."""
    if not isinstance(schema, Mapping):
        return frozenset()
    known = cast(Mapping[str, Any], schema)
    kinds = known.get("type")
    if kinds is None:
        options = cast(list[object], known.get("anyOf") or known.get("oneOf") or [])
        kinds = [kind_of(option) for option in options]
    return frozenset([kinds] if isinstance(kinds, str) else kinds) - {"", "null"}


def _json_object(text: str) -> dict[str, Any] | None:
    if not text.lstrip().startswith("{"):
        return None
    try:
        value = read_loosely(text)
    except ValueError:
        return None
    return cast(dict[str, Any], value) if isinstance(value, dict) else None


def _wrong(block: FencedBlock, message: str, hint: str) -> ReplyError:
    return ReplyError(f"Line {block.line}: {message}", hint)
