"""Plain values: how one differs from a type, and how to read lenient JSON.

JSON is accepted as people and models write it: fenced or not, with comments, with extra commas.
Only unambiguous input is accepted. What is still invalid is reported by line and column, so that it
can be fixed.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from functools import cache
from typing import NamedTuple, TypeGuard

import msgspec.inspect as shapes

from flyball.regex import regex

Path = tuple[str | int, ...]


class Fault(NamedTuple):
    """One place where a value does not match its type."""

    path: Path
    code: str
    message: str
    hint: str


def is_map(value: object) -> TypeGuard[Mapping[object, object]]:
    """Return whether a plain value is a map, whatever its keys and values."""
    return isinstance(value, Mapping)


def is_list(value: object) -> TypeGuard[Sequence[object]]:
    """Return whether a plain value is a list; text is not."""
    return isinstance(value, list | tuple)


def is_number(value: object) -> TypeGuard[float]:
    """Return whether a plain value is a number; true and false are not."""
    return isinstance(value, int | float) and not isinstance(value, bool)


def value_words(value: object) -> str:
    """Describe a value in words, including the value itself if it is short."""
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
    """Return a text on one line, with unprintable characters escaped and a long middle cut."""
    safe = "".join(each if each.isprintable() else ascii(each)[1:-1] for each in text)
    if len(safe) <= limit:
        return safe
    return f"{safe[: limit // 2]} … {safe[-limit // 2 :]}"


def dotted_path(path: Path) -> str:
    """Return a path in the usual notation: `gates[0].type`."""
    text = ""
    for part in path:
        text += f"[{part}]" if isinstance(part, int) else f".{part}" if text else part
    return text


def closest(name: str, known: Iterable[str], cutoff: float = 0.6) -> str | None:
    """Return the known name that is spelt most like this one, if any is."""
    from difflib import get_close_matches

    return next(iter(get_close_matches(name, list(known), 1, cutoff)), None)


def suggest(name: str, known: Iterable[str]) -> str:
    """Return the closest known name as a sentence, or all of them."""
    names = sorted(known)
    if near := closest(name, names, 0.5):
        return f"Did you mean `{near}`?"
    return f"Known are: {', '.join(names)}." if names else "Leave it out."


def faults(
    value: object, kind: type, path: Path = (), whole: str = "The template"
) -> tuple[Fault, ...]:
    """Return everything in `value` that does not match `kind`; `whole` names the value itself."""
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
    """Describe in words what a type expects."""
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


def counted(count: int, noun: str) -> str:
    """Return a number and its noun, in the plural unless the number is one."""
    return f"{count:,} {noun}" if count == 1 else f"{count:,} {noun}s"


def listed(names: Iterable[str], most: int = 5) -> str:
    """List the first few items and the number of others; those of a set are sorted."""
    found = sorted(names) if isinstance(names, Set) else list(names)
    more = len(found) - most
    said = ", ".join(found[:most])
    return f"{said} and {more} more" if more > 0 else said


FENCED = regex(r"^[ \t]*(```+|~~~+)[^\n]*\n(.*?)^[ \t]*\1[ \t]*$", re.DOTALL | re.MULTILINE)
OPEN_FENCE = regex(r"^[ \t]*(?:```+|~~~+)[^\n]*\n", re.MULTILINE)

_TEXT = r'"(?:\\.|[^"\\])*"'
_SLACK = regex(rf"{_TEXT}|//[^\n]*|/\*.*?\*/|(?<![^\s,\[{{])#[^\n]*|,(?=\s*[\]}}])", re.DOTALL)
_FOREIGN = regex(
    rf"(?P<text>{_TEXT})|'(?P<single>(?:\\.|[^'\\])*)'|(?P<word>\b[A-Za-z_]\w*\b)(?P<key>\s*:)?",
    re.DOTALL,
)
_ESCAPE = regex(r'\\(?:u[0-9a-fA-F]{4}|["\\/bfnrt]|(.)|\Z)', re.DOTALL)
_LEFT_OVER = regex(r"[\s\]}]*")
WORDS = {"True": "true", "False": "false", "None": "null", "undefined": "null"}
TOO_DEEP = "it is nested too deeply"


def read_loosely(text: str) -> object:
    """Parse lenient JSON; a ValueError names the line and column of the error."""
    fenced = FENCED.fullmatch(text.strip())
    value = _read(fenced[2] if fenced else text)
    if isinstance(value, str) and value.lstrip()[:1] in ("{", "["):
        return _read(value)
    return value


def json_blocks(text: str) -> Iterator[str]:
    """Yield the parts of an answer that may be JSON, likeliest first: the last fence, all, the
    braces."""
    blocks = [match[2] for match in FENCED.finditer(text)]
    yield from reversed(blocks)
    yield text
    # A fence that is never closed, as where a reply was cut off or simply ends.
    if opened := [*OPEN_FENCE.finditer(text)]:
        yield text[opened[-1].end() :]
    for first, last in ("{}", "[]"):
        start, end = text.find(first), text.rfind(last)
        if 0 <= start < end:
            yield text[start : end + 1]


def json_value(block: str) -> object | None:
    """Return the value of a block of an answer; None if it is not even lenient JSON."""
    try:
        return read_loosely(block)
    except ValueError:
        return None


def json_fault(text: str) -> str:
    """Explain why the likeliest block of an answer is not JSON, with line and column; may be
    empty."""
    from json import JSONDecodeError

    for block in json_blocks(text):
        if not block.lstrip().startswith(("{", "[")):
            continue
        try:
            _read(block)
        except JSONDecodeError as error:
            line = block.split("\n")[error.lineno - 1].strip()
            return f"line {error.lineno}, column {error.colno}: {error.msg}, at `{line[:60]}`."
        except ValueError:
            return "its numbers are too large or it is nested too deeply."
    return ""


def _read(text: str) -> object:
    """Return the value of JSON, of lenient JSON, or of a Python or JavaScript literal.

    What is not strict JSON is blanked out in place, so that errors have the right line and column.
    """
    from json import JSONDecodeError

    try:
        return _decoded(text)
    except JSONDecodeError:
        tidy = _tidied(text)
    try:
        return _decoded(tidy)
    except JSONDecodeError as error:
        fault = error
    try:
        return _decoded(_FOREIGN.sub(_as_json, tidy))
    except JSONDecodeError:
        raise fault from None


def _decoded(text: str) -> object:
    """Return the value at the start of a text that has at most one superfluous bracket after it."""
    from json import JSONDecoder, loads

    try:
        start = len(text) - len(text.lstrip())
        value, end = JSONDecoder(strict=False).raw_decode(text, start)
    except RecursionError:
        raise ValueError(TOO_DEEP) from None
    is_whole = (is_map(value) or is_list(value)) and _LEFT_OVER.fullmatch(text, end)
    return value if is_whole else loads(text, strict=False)


def _tidied(text: str) -> str:
    """Blank out comments, and commas before a closing bracket, without moving anything else."""
    plain = _SLACK.sub(_blanked, text)
    # A comment may have stood between a comma and its bracket.
    return _SLACK.sub(_blanked, plain)


def _blanked(match: re.Match[str]) -> str:
    found = match[0]
    return found if found.startswith('"') else re.sub(r"[^\n]", " ", found)


def _as_json(match: re.Match[str]) -> str:
    """Return one token in JSON's spelling: quotes, keywords and escapes."""
    if match["text"] is not None:
        return _ESCAPE.sub(_escape, match["text"])
    if match["single"] is not None:
        inner = _ESCAPE.sub(_escape, match["single"].replace("\\'", "'"))
        return '"' + re.sub(r'(?<!\\)"', r'\\"', inner) + '"'
    if match["key"]:
        return f'"{match["word"]}"{match["key"]}'
    return WORDS.get(match["word"], match["word"])


def _escape(match: re.Match[str]) -> str:
    r"""Return `\d` as its two characters, and `\'` as the quote."""
    if match[1] is None:
        return match[0]
    return "'" if match[1] == "'" else f"\\\\{match[1]}"
