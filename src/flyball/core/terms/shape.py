"""Plain values: how one differs from a type, with the path and the hint, and reading loose JSON."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from difflib import get_close_matches
from functools import cache
from typing import NamedTuple, TypeGuard

import msgspec.inspect as shapes

Path = tuple[str | int, ...]


class Fault(NamedTuple):
    """One place where a value is not what its type says."""

    path: Path
    code: str
    message: str
    hint: str


def is_map(value: object) -> TypeGuard[Mapping[object, object]]:
    """Whether a plain value is a map, whatever it maps."""
    return isinstance(value, Mapping)


def is_list(value: object) -> TypeGuard[Sequence[object]]:
    """Whether a plain value is a list; text is not."""
    return isinstance(value, list | tuple)


def is_number(value: object) -> TypeGuard[float]:
    """Whether a plain value is a number; true and false are not."""
    return isinstance(value, int | float) and not isinstance(value, bool)


def value_words(value: object) -> str:
    """What a value is, in words, with the value itself where it is short."""
    if value is None:
        return "null"
    if isinstance(value, bool):
        return str(value).lower()
    if is_number(value):
        return f"the number {value}" if abs(value) < 1e18 else "a huge number"
    if isinstance(value, str):
        return f"the text {_short(value)!r}" if value.strip() else "empty text"
    if is_list(value):
        return f"a list of {len(value)}" if value else "an empty list"
    return "a map" if is_map(value) else f"a {type(value).__name__}"


def one_line(text: str, limit: int = 600) -> str:
    """A text on one line, with everything unprintable escaped and the middle cut if it is long."""
    safe = "".join(each if each.isprintable() else ascii(each)[1:-1] for each in text)
    if len(safe) <= limit:
        return safe
    return f"{safe[: limit // 2]} … {safe[-limit // 2 :]}"


def dotted_path(path: Path) -> str:
    """A path as people write it: `gates[0].type`."""
    text = ""
    for part in path:
        text += f"[{part}]" if isinstance(part, int) else f".{part}" if text else part
    return text


def suggest(name: str, known: Iterable[str]) -> str:
    """The closest known name as a sentence, or all of them."""
    names = sorted(known)
    near = get_close_matches(name, names, 1, 0.5)
    if near:
        return f"Did you mean `{near[0]}`?"
    return f"Known are: {', '.join(names)}." if names else "Leave it out."


def faults(
    value: object, kind: type, path: Path = (), whole: str = "The template"
) -> tuple[Fault, ...]:
    """Everything in `value` that is not as `kind` wants it; `whole` names the value itself."""
    return tuple(_faults(value, _info(kind), path, whole))


_info = cache(shapes.type_info)


def _faults(value: object, kind: shapes.Type, path: Path, whole: str = "It") -> Iterator[Fault]:
    match kind:
        case shapes.AnyType():
            return
        case shapes.StructType():
            yield from _struct_faults(value, kind, path, whole)
        case shapes.VarTupleType():
            yield from _list_faults(value, kind, path)
        case shapes.DictType():
            yield from _map_faults(value, kind, path)
        case shapes.UnionType():
            if all(any(_faults(value, each, path)) for each in kind.types):
                yield _wrong(value, expectation(kind), path)
        case shapes.EnumType():
            yield from _choice_faults(value, kind, [member.value for member in kind.cls], path)
        case shapes.LiteralType():
            yield from _choice_faults(value, kind, kind.values, path)
        case _:
            if not _is_plain(value, kind):
                yield _wrong(value, expectation(kind), path)


def _choice_faults(
    value: object, kind: shapes.Type, choices: Iterable[object], path: Path
) -> Iterator[Fault]:
    members = [str(choice) for choice in choices]
    if value not in members:
        hint = suggest(value, members) if isinstance(value, str) else ""
        yield _wrong(value, expectation(kind), path, hint)


def _struct_faults(
    value: object, kind: shapes.StructType, path: Path, whole: str
) -> Iterator[Fault]:
    if not is_map(value):
        yield _wrong(value, "a map", path)
        return
    fields = {field.encode_name: field for field in kind.fields}
    where = f"`{dotted_path(path)}`" if path else whole
    for name, item in value.items():
        if name in fields:
            field = fields[str(name)]
            yield from _faults(item, field.type, (*path, field.encode_name))
        else:
            message = f"`{dotted_path((*path, str(name)))}` is not a known field."
            yield Fault((*path, str(name)), "unknown-field", message, suggest(str(name), fields))
    for name, field in fields.items():
        if field.required and name not in value:
            message = f"{where} has no `{name}`."
            yield Fault(path, "missing-field", message, f"Add `{name}`: {expectation(field.type)}.")


def _list_faults(value: object, kind: shapes.VarTupleType, path: Path) -> Iterator[Fault]:
    if not is_list(value) or len(value) < (kind.min_length or 0):
        yield _wrong(value, expectation(kind), path)
        return
    for index, item in enumerate(value):
        yield from _faults(item, kind.item_type, (*path, index))


def _map_faults(value: object, kind: shapes.DictType, path: Path) -> Iterator[Fault]:
    if not is_map(value):
        yield _wrong(value, "a map", path)
        return
    for name, item in value.items():
        yield from _faults(name, kind.key_type, (*path, str(name)))
        yield from _faults(item, kind.value_type, (*path, str(name)))


def _is_plain(value: object, kind: shapes.Type) -> bool:
    match kind:
        case shapes.StrType():
            return isinstance(value, str) and len(value.strip()) >= (kind.min_length or 0)
        case shapes.BoolType():
            return isinstance(value, bool)
        case shapes.NoneType():
            return value is None
        case shapes.IntType():
            return is_number(value) and isinstance(value, int) and _is_within(value, kind)
        case shapes.FloatType():
            return is_number(value) and _is_within(value, kind)
        case _:
            return True


def _is_within(value: float, kind: shapes.IntType | shapes.FloatType) -> bool:
    return (
        (kind.ge is None or value >= kind.ge)
        and (kind.gt is None or value > kind.gt)
        and (kind.le is None or value <= kind.le)
        and (kind.lt is None or value < kind.lt)
    )


def expectation(kind: shapes.Type) -> str:
    """What a type wants, in words."""
    match kind:
        case shapes.StrType():
            return "text that is not empty" if kind.min_length else "text"
        case shapes.BoolType():
            return "true or false"
        case shapes.NoneType():
            return "null"
        case shapes.IntType() | shapes.FloatType():
            noun = "a whole number" if isinstance(kind, shapes.IntType) else "a number"
            return noun + _limits(kind)
        case shapes.VarTupleType():
            noun = "a list with something in it" if kind.min_length else "a list"
            return f"{noun}, each {expectation(kind.item_type)}"
        case shapes.EnumType():
            return f"one of {', '.join(str(member.value) for member in kind.cls)}"
        case shapes.LiteralType():
            return f"one of {', '.join(map(str, kind.values))}"
        case shapes.UnionType():
            return " or ".join(map(expectation, kind.types))
        case _:
            return "a map"


def _limits(kind: shapes.IntType | shapes.FloatType) -> str:
    if kind.ge is not None and kind.le is not None:
        return f" from {kind.ge} to {kind.le}"
    sides = (
        ("of at least", kind.ge),
        ("above", kind.gt),
        ("of at most", kind.le),
        ("below", kind.lt),
    )
    said = " and ".join(f"{words} {limit}" for words, limit in sides if limit is not None)
    return f" {said}" if said else ""


def _wrong(value: object, expected: str, path: Path, hint: str = "") -> Fault:
    where = f"`{dotted_path(path)}`" if path else "It"
    message = f"{where} must be {expected}, not {value_words(value)}."
    return Fault(path, "wrong-type", message, hint or f"Write {expected} here.")


def _short(text: str, limit: int = 40) -> str:
    return text if len(text) <= limit else f"{text[: limit - 1]}…"


def listed(names: Iterable[str], most: int = 5) -> str:
    """The first few of them, and how many more there are; those of a set in order."""
    found = sorted(names) if isinstance(names, Set) else list(names)
    more = len(found) - most
    said = ", ".join(found[:most])
    return f"{said} and {more} more" if more > 0 else said


_FENCE = re.compile(r"\A\s*(?:```|~~~)[\w-]*\s*\n(.*?)\n?\s*(?:```|~~~)\s*\Z", re.DOTALL)
_SLACK = re.compile(
    r"""("(?:[^"\\]|\\.)*")"""  # a text is left as it is
    r"""|//[^\n]*|/\*.*?\*/"""
    r"""|,(?=(?:\s|//[^\n]*|/\*.*?\*/)*[}\]])""",
    re.DOTALL,
)


def read_loosely(text: str) -> object:
    """The value that a text means; a ValueError names line and column where it means none."""
    fenced = _FENCE.match(text)
    body = fenced[1] if fenced else text
    try:
        value = json.loads(body, strict=False)
    except RecursionError:
        raise ValueError("it is nested too deeply") from None
    except ValueError:
        # What stands between two texts and is neither value nor comma can only be slack.
        value = _read(_SLACK.sub(lambda found: found[1] or "", body))
    if isinstance(value, str) and value.lstrip()[:1] in ("{", "["):
        return _read(value)
    return value


def _read(text: str) -> object:
    try:
        return json.loads(text, strict=False)
    except RecursionError:
        raise ValueError("it is nested too deeply") from None
