"""Times as hosts write them."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from flyball.core.record.sessions.entry import seconds


@pytest.mark.parametrize(
    "stamp",
    [
        "1970-01-01T00:00:00Z",
        "2024-02-29T23:59:59.123Z",
        "2026-11-16T17:02:12.277Z",
        "2100-03-01T00:00:00Z",
    ],
)
def test_a_time_is_read_as_the_calendar_has_it(stamp: str):
    whole = datetime.fromisoformat(stamp[:19]).replace(tzinfo=UTC)
    assert seconds(stamp) == whole.timestamp()


def test_milliseconds_are_read_too():
    assert seconds(1_794_848_724_188) == 1_794_848_724.188


@pytest.mark.parametrize(
    "stamp",
    [None, True, -5, 1e300, "", "yesterday", "2026-99-99T99:99:99Z", "2026-xx-16T17:02:12Z", []],
)
def test_what_is_no_time_is_none(stamp: object):
    assert seconds(stamp) == 0.0
