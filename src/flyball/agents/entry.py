"""The entries of a transcript, in a form shared by all hosts."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import lru_cache
from typing import Any, NamedTuple, cast

from flyball.agents.usage import Billed

Json = Mapping[str, Any]


class Opened(NamedTuple):
    """Whose session the following entries belong to, and where it runs."""

    session: str
    cwd: str = ""
    is_agent: bool = False
    """Whether this is a sub-agent, which no person talks to."""


class Prompted(NamedTuple):
    """A person's request."""

    at: float
    text: str


class Spoke(NamedTuple):
    """A message of the model."""

    at: float
    text: str


class Called(NamedTuple):
    """A call that the model asked for, by the host's name for the tool."""

    at: float
    id: str
    tool: str
    args: Mapping[str, Any]
    reply: str = ""
    """Shared by all calls of one reply; empty if the transcript does not say."""


class FileEdit(NamedTuple):
    """One edit of a file before and after; None means no file."""

    path: str
    old: str | None
    new: str | None
    is_whole: bool = False
    """Whether both texts are the whole file."""


class CallResult(NamedTuple):
    """The result of a call."""

    at: float
    call: str
    text: str
    ok: bool = True
    status: int | None = None
    """The exit status, where the transcript has it."""
    edits: tuple[FileEdit, ...] = ()
    seen: tuple[tuple[str, str], ...] = ()
    """Files that were read whole, with their text."""


class Billing(NamedTuple):
    """The billed usage of a reply."""

    at: float
    bill: Billed


class Interrupted(NamedTuple):
    """The person stopped the model."""

    at: float


Entry = Opened | Prompted | Spoke | Called | CallResult | Billing | Interrupted
Lines = Iterable[Json]


def mapping(value: object) -> Json:
    """Return a mapping, or an empty one for anything else."""
    return cast(Json, value) if isinstance(value, dict) else {}


def items(value: object) -> list[Any]:
    """Return a list, or an empty one for anything else."""
    return cast("list[Any]", value) if isinstance(value, list) else []


def words(value: object) -> str:
    """Return a text, or an empty one for anything else."""
    return value if isinstance(value, str) else ""


def joined(content: object) -> str:
    """Return the text of a message's content: plain, or in parts."""
    if isinstance(content, str):
        return content
    parts = (mapping(part) for part in items(content))
    return "\n".join(text for part in parts if (text := words(part.get("text"))))


MONTHS = (0, 31, 59, 90, 120, 151, 181, 212, 243, 273, 304, 334)


def seconds(stamp: object) -> float:
    """Convert a host's time stamp to seconds since 1970 in UTC; 0 if there is none.

    Accepts milliseconds as a number, or ISO 8601 ending in Z. Parsed by hand, because a transcript
    of a gigabyte holds half a million of them.
    """
    if isinstance(stamp, int | float) and not isinstance(stamp, bool):
        return stamp / 1000 if 0 < stamp < 1e14 else 0.0
    text = words(stamp)
    if len(text) < 19 or not text[:4].isdigit():
        return 0.0
    try:
        clock = int(text[11:13]) * 3600 + int(text[14:16]) * 60 + int(text[17:19])
        return float(_days(text[:10]) * 86400 + clock)
    except (ValueError, IndexError):
        return 0.0


@lru_cache(maxsize=1000)
def _days(date: str) -> int:
    """Return the days since 1970 of a date such as 2026-11-16."""
    year, month, day = int(date[:4]), int(date[5:7]), int(date[8:10])
    days = (year - 1970) * 365 + (year - 1969) // 4 - (year - 1901) // 100 + (year - 1601) // 400
    is_leap = year % 4 == 0 and (year % 100 != 0 or year % 400 == 0)
    return days + MONTHS[month - 1] + day - 1 + (is_leap and month > 2)
