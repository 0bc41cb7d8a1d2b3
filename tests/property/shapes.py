"""Values of any stored type, drawn from the type itself: a new event is tested at once."""

from __future__ import annotations

from functools import cache
from typing import Any

import msgspec
import msgspec.inspect as look
from hypothesis import assume
from hypothesis import strategies as st

TEXT = st.text(st.characters(exclude_categories=("Cs",)), max_size=6)
NUMBER = st.integers(-(2**53), 2**53)
REAL = st.floats(allow_nan=False, allow_infinity=False, width=32)
JSON = st.none() | st.booleans() | NUMBER | REAL | TEXT | st.lists(NUMBER | TEXT, max_size=2)
VARIED = 3
"""How many of a struct's optional fields differ from their defaults at once."""


@cache
def values(kind: Any) -> st.SearchStrategy[Any]:
    """Everything a type allows, in small sizes."""
    return _of(look.type_info(kind))


def _of(info: look.Type) -> st.SearchStrategy[Any]:
    match info:
        case look.StructType():
            return st.deferred(lambda: _struct(info.cls))
        case look.UnionType(types=types):
            return st.one_of([_of(each) for each in types])
        case look.EnumType(cls=cls):
            return st.sampled_from(list(cls))
        case look.LiteralType(values=found):
            return st.sampled_from(list(found))
        case look.StrType():
            return TEXT.filter(lambda text: len(text) >= (info.min_length or 0))
        case look.BoolType():
            return st.booleans()
        case look.IntType():
            lowest = -(2**40) if info.ge is None else info.ge
            return st.integers(lowest, 2**40 if info.le is None else info.le)
        case look.FloatType():
            is_bounded = info.ge is not None or info.gt is not None
            return st.floats(0.125, 1e6, width=32) if is_bounded else REAL
        case look.NoneType():
            return st.none()
        case look.AnyType() | look.CustomType():
            return JSON
        case look.VarTupleType(item_type=item):
            return st.lists(_of(item), min_size=info.min_length or 0, max_size=2).map(tuple)
        case look.TupleType(item_types=items):
            return st.tuples(*[_of(item) for item in items])
        case look.DictType(key_type=key, value_type=value):
            return st.dictionaries(_of(key), _of(value), max_size=2)
        case _:
            raise AssertionError(f"no values are known for {info}")


@cache
def _struct(cls: type[msgspec.Struct]) -> st.SearchStrategy[Any]:
    info = look.type_info(cls)
    assert isinstance(info, look.StructType)
    fields = {field.name: _of(field.type) for field in info.fields}
    needed = [field.name for field in info.fields if field.required]
    spare = [name for name in fields if name not in needed]

    @st.composite
    def build(draw: st.DrawFn) -> Any:
        chosen = draw(st.sets(st.sampled_from(spare), max_size=VARIED)) if spare else set[str]()
        given = {name: draw(fields[name]) for name in [*needed, *sorted(chosen)]}
        try:
            return cls(**given)
        except ValueError:
            assume(False)

    return build()
