"""Events, states and lines as bytes.

A stored state is only a cache of the fold: one from another version is folded anew.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, cast

import msgspec

from flyball.core.run.event import AnyEvent, Event
from flyball.core.run.event_codec import VERSION as VERSION
from flyball.core.run.event_codec import decode_event as decode_event
from flyball.core.run.state import RunState
from flyball.core.run.thread import ThreadLine
from flyball.errors import Corrupt

_encoder = msgspec.json.Encoder()
_state = msgspec.json.Decoder(RunState)
_line = msgspec.json.Decoder(ThreadLine)


def encode(value: Event | RunState | ThreadLine) -> bytes:
    """The value as JSON, which every later release still reads."""
    return _encoder.encode(value)


def storable(event: AnyEvent) -> AnyEvent:
    """The same event with every character that UTF-8 cannot hold made visible."""
    return msgspec.convert(_plain(msgspec.to_builtins(event)), type(event))


def _plain(value: Any) -> Any:
    match value:
        case str():
            try:
                return value.encode("utf-8", "surrogateescape").decode("utf-8", "backslashreplace")
            except UnicodeEncodeError:
                return value.encode("utf-8", "backslashreplace").decode()
        case list():
            return [_plain(each) for each in cast(list[Any], value)]
        case dict():
            return {_plain(k): _plain(v) for k, v in cast(dict[Any, Any], value).items()}
        case _:
            return value


def decode_state(body: bytes, version: int) -> RunState | None:
    """The cached state, or None when it must be folded anew."""
    if version != VERSION:
        return None
    try:
        return _state.decode(body)
    except msgspec.MsgspecError:
        return None


def decode_lines(bodies: Iterable[bytes]) -> list[ThreadLine]:
    """The lines of a thread, in the order given; one that cannot be read raises `Corrupt`."""
    try:
        return [_line.decode(body) for body in bodies]
    except msgspec.MsgspecError as error:
        raise Corrupt(f"A stored line of a thread cannot be read: {error}.") from error
