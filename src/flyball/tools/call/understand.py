"""Recognise a driver's call, whatever names it uses for the tool and its fields.

This is strict about meaning, not about spelling: unambiguous arguments are accepted, with a short
note on how they were interpreted. The interpreted form is what is judged.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from functools import cache
from typing import NamedTuple, cast

import msgspec.inspect as shapes

from flyball.terms.shape import faults, is_list, is_map, is_number, read_loosely
from flyball.terms.tool import TOOL_ROWS, Touch, field_name, plain_name, tool_name
from flyball.tools.call.accepted_forms import in_own_form
from flyball.tools.call.foreign_commands import Args, CallSource
from flyball.tools.call.protocol import Form, Tool

RAW = "__raw__"
"""The name under which a driver returns arguments that were not valid JSON."""

WRAPPERS = frozenset({"arguments", "args", "input", "parameters", "params", "kwargs", "tool_input"})
TITLES = frozenset({"name", "tool", "tool_name", "function", "recipient_name", "type", "id"})
"""Fields next to wrapped arguments that repeat known information."""

_IDLE = """
    description explanation thought thoughts thinking reasoning rationale security_risk intent
    justification timeout timeout_ms task_progress tool_call_id tool_use_id instructions summary
    tool_summary tool_action yield_time_ms max_output_tokens wait_for_previous is_input format
    dangerously_disable_sandbox with_escalated_permissions sandbox_permissions prefix_rule prompt
    instruction confidence
"""
IDLE = frozenset(_IDLE.split())
"""Fields of other agents' tools that have no effect here."""

EDITORS = frozenset(
    {"str_replace_editor", "str_replace_based_edit_tool", "text_editor", "file_editor", "editor"}
)
EDITOR_COMMANDS = {
    "view": "read",
    "create": "write_file",
    "str_replace": "edit_diff",
    "insert": "edit_diff",
}


class UnderstoodCall(NamedTuple):
    """The interpreted arguments, and notes on the interpretation."""

    args: Args
    said: tuple[str, ...] = ()


def named_tool(name_given: str, args: Args) -> str | None:
    """Return the tool that is meant; for an editor with many commands, the command's tool."""
    if plain_name(name_given).rpartition(".")[2] in EDITORS:
        return EDITOR_COMMANDS.get(str(args.get("command", "")))
    return tool_name(name_given)


def unpack(args: Args) -> Args | str:
    """Return the arguments without their wrapping, or the error in their JSON."""
    if RAW in args:
        try:
            value = read_loosely(str(args[RAW]))
        except ValueError as error:
            return str(error)
        if not is_map(value):
            return "they are not an object"
        args = {str(name): each for name, each in value.items()}
    inner = [name for name in args if plain_name(name) in WRAPPERS]
    others = {plain_name(name) for name in args} - WRAPPERS
    if len(inner) != 1 or not others <= TITLES:
        return args
    value = args[inner[0]]
    if isinstance(value, str) and value.lstrip().startswith("{"):
        try:
            value = read_loosely(value)
        except ValueError:
            return args
    if not is_map(value):
        return args
    return {str(name): each for name, each in value.items()}


def understand(
    name_given: str, args: Args, tool: Tool, read: Callable[[str], str | None]
) -> UnderstoodCall:
    """Return the arguments in the tool's own form, as far as they are unambiguous."""
    if plain_name(name_given) in EDITORS:
        args = {name: value for name, value in args.items() if name != "command"}
    fields = fields_of(tool.form)
    inner = next(iter(args.values()), None)
    if len(args) == 1 and plain_name(next(iter(args))) == tool.name and is_map(inner):
        args = {str(name): value for name, value in inner.items()}
    said = [f"`{name_given}` as `{tool.name}`"] if _is_foreign(name_given, tool.name) else []
    named, renamed = _renamed(args, tool.name, fields)
    rewritten = in_own_form(tool.name, named, CallSource(name_given, read))
    said += [f"`{old}` as `{new}`" for old, new in renamed if new in rewritten]
    said += _changes(named, rewritten)
    filled, filled_words = _filled(rewritten, tool, fields)
    return UnderstoodCall(filled, (*said, *filled_words))


def _is_foreign(name_given: str, name: str) -> bool:
    """Return whether a tool was called by a name that we do not list."""
    return name_given not in (name, *TOOL_ROWS[name].aliases)


@cache
def fields_of(form: type[Form]) -> Mapping[str, shapes.Field]:
    """Return the fields of a form by the names that drivers write."""
    kind = cast(shapes.StructType, shapes.type_info(form))
    return {field.encode_name: field for field in kind.fields}


class _Rename(NamedTuple):
    name_given: str
    own: str


def _renamed(
    args: Args, tool: str, fields: Mapping[str, shapes.Field]
) -> tuple[Args, list[_Rename]]:
    """Rename the arguments to our names, and return the changes; two for one field stay
    separate."""
    own = {name: value for name, value in args.items() if name in fields}
    renamed: list[_Rename] = []
    for name, value in args.items():
        if name in own:
            continue
        flag = name.startswith("-") and len(name.lstrip("-")) <= 2
        understood = f"flag_{name.lstrip('-')}" if flag else _field(tool, name, fields)
        if understood in fields and own.get(understood, value) == value:
            own[understood] = value
            renamed.append(_Rename(name, understood))
        else:
            plain = understood if flag else plain_name(name)
            own[name if plain in own else plain] = value
    return own, renamed


def _field(tool: str, name: str, fields: Iterable[str]) -> str:
    """Return the field of this name in any case, or the field with this alias."""
    same = [field for field in fields if plain_name(field) == plain_name(name)]
    return same[0] if same else field_name(tool, name)


def _changes(before: Args, after: Args) -> Iterable[str]:
    """Return the names of fields that a rewrite converted to others."""
    gone = [name for name in before if name not in after]
    new = [name for name in after if name not in before]
    if gone and new:
        yield f"{_names(gone)} as {_names(new)}"


def _names(names: Iterable[str]) -> str:
    return ", ".join(f"`{name}`" for name in names)


def _filled(args: Args, tool: Tool, fields: Mapping[str, shapes.Field]) -> tuple[Args, list[str]]:
    """Convert each value to its field's type; drop empty values where that is allowed."""
    is_prose = TOOL_ROWS[tool.name].touches is Touch.NOTHING
    filled: Args = {}
    said: list[str] = []
    for name, value in args.items():
        field = fields.get(name)
        if field is None:
            if name not in IDLE and not (is_omitted(value) or value is False):
                filled[name] = value
            continue
        understood = coerce(value, field.type, is_prose=is_prose)
        wrong = faults({name: understood.value}, tool.form)
        if not field.required and is_omitted(value) and any(f.path[:1] == (name,) for f in wrong):
            continue
        filled[name] = understood.value
        if understood.said:
            said.append(f"`{name}` as {understood.said}")
    return filled, said


class Coerced(NamedTuple):
    """A value, and a note on how it was interpreted; empty if it is unchanged."""

    value: object
    said: str = ""


BOOLEANS = {"true": True, "false": False}


def coerce(value: object, kind: shapes.Type, *, is_prose: bool) -> Coerced:
    """Return the value converted to this kind, or unchanged if the conversion is ambiguous.

    In prose, a list of sentences becomes one line each; elsewhere it does not.
    """
    match kind:
        case shapes.UnionType():
            return _one_of(value, kind, is_prose=is_prose)
        case shapes.IntType() | shapes.FloatType():
            return _number(value, kind)
        case shapes.BoolType() if isinstance(value, str) and value.strip().lower() in BOOLEANS:
            understood = BOOLEANS[value.strip().lower()]
            return Coerced(understood, str(understood).lower())
        case shapes.StrType():
            return _text(value, is_prose=is_prose)
        case shapes.LiteralType() if isinstance(value, str):
            same = [each for each in kind.values if str(each).lower() == value.strip().lower()]
            return Coerced(same[0], f"`{same[0]}`") if same and same[0] != value else Coerced(value)
        case shapes.VarTupleType():
            return _list(value, kind, is_prose=is_prose)
        case _:
            return Coerced(value)


def _one_of(value: object, kind: shapes.UnionType, *, is_prose: bool) -> Coerced:
    """Convert a value to one of several kinds: text is parsed only if it spells a list."""
    options = kind.types
    lists = [each for each in options if isinstance(each, shapes.VarTupleType)]
    if lists and not (isinstance(value, str) and _spelt_list(value) is None):
        return _list(value, lists[0], is_prose=is_prose)
    if any(isinstance(each, shapes.StrType) for each in options):
        return Coerced(value) if value is None else _text(value, is_prose=is_prose)
    if isinstance(value, str) and not value.strip():
        return Coerced(None, "nothing")
    others = [each for each in options if not isinstance(each, shapes.NoneType)]
    return coerce(value, others[0], is_prose=is_prose) if value is not None else Coerced(None)


def _number(value: object, kind: shapes.IntType | shapes.FloatType) -> Coerced:
    wants_int = isinstance(kind, shapes.IntType)
    if isinstance(value, str):
        try:
            value = float(value) if not wants_int else int(value)
        except ValueError:
            return Coerced(value)
        return Coerced(value, f"the number {value}")
    if wants_int and isinstance(value, float) and value.is_integer():
        return Coerced(int(value))
    return Coerced(value)


def _text(value: object, *, is_prose: bool) -> Coerced:
    if is_number(value):
        return Coerced(str(value), "text")
    if not is_list(value):
        return Coerced(value)
    texts = [each for each in value if isinstance(each, str)]
    if len(texts) != len(value) or not texts:
        return Coerced(value)
    if len(texts) == 1:
        return Coerced(texts[0], "one text")
    return Coerced("\n".join(texts), "one text") if is_prose else Coerced(value)


def _list(value: object, kind: shapes.VarTupleType, *, is_prose: bool) -> Coerced:
    said = ""
    if isinstance(value, str):
        spelt = _spelt_list(value)
        value = [value] if spelt is None else spelt
        said = f"a list of {len(value)}"
    elif is_map(value) or is_number(value):
        value, said = [value], "a list of 1"
    if not is_list(value):
        return Coerced(value)
    items = [coerce(each, kind.item_type, is_prose=is_prose) for each in value]
    said = said or next((each.said for each in items if each.said), "")
    return Coerced([each.value for each in items], said)


def _spelt_list(text: str) -> list[object] | None:
    """Return the items of a list that is written out as text, in JSON or line by line."""
    if text.lstrip().startswith("["):
        try:
            value = read_loosely(text)
        except ValueError:
            return None
        return list(value) if is_list(value) else None
    lines = [line.strip() for line in text.strip().split("\n") if line.strip()]
    if lines and all(line.startswith(("- ", "* ")) for line in lines):
        return [line[2:].strip() for line in lines]
    return None


def is_omitted(value: object) -> bool:
    """Return whether a value means that the field was left out."""
    return value is None or value in ("", [], {}) or (isinstance(value, str) and not value.strip())
