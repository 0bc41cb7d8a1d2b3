"""Values as a form wants them, where what was written can only mean one such value."""

from __future__ import annotations

from typing import NamedTuple

import msgspec.inspect as shapes

from flyball.core.terms.shape import is_list, is_map, is_number, read_loosely


class Coerced(NamedTuple):
    """A value, and in a few words what it was taken for; no words where it was left alone."""

    value: object
    said: str = ""


BOOLEANS = {"true": True, "false": False}


def coerce(value: object, kind: shapes.Type, *, is_prose: bool) -> Coerced:
    """The one value of this kind that is meant, or the same value where that is not certain.

    In prose, a list of sentences is the sentences one below the other; elsewhere it is not.
    """
    match kind:
        case shapes.UnionType():
            return _one_of(value, kind, is_prose=is_prose)
        case shapes.IntType() | shapes.FloatType():
            return _number(value, kind)
        case shapes.BoolType() if isinstance(value, str) and value.strip().lower() in BOOLEANS:
            meant = BOOLEANS[value.strip().lower()]
            return Coerced(meant, str(meant).lower())
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
    """One of several kinds: a text that spells a list is that list, any other text stays."""
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
    """The items of a list that is written out as text, in JSON or line by line."""
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


def is_left_out(value: object) -> bool:
    """Whether a value says no more than that nothing was filled in."""
    return value is None or value in ("", [], {}) or (isinstance(value, str) and not value.strip())
