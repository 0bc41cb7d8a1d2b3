import pytest

from flyball.core.memory.fingerprint import without_passing_things


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("3 passed in 0.12s", "3 passed in 4.5s"),
        ("built in 12 ms", "built in 9 ms"),
        ("at 2026-01-02T03:04:05Z", "at 2027-11-12T13:14:15Z"),
        ("[12:34:56] go", "[01:02:03.4] go"),
        ("<T object at 0x7f3a11>", "<T object at 0x55aa99>"),
        ("wrote /tmp/flyball-x1/out", "wrote /tmp/flyball-y2/out"),
        ("\x1b[31mred\x1b[0m", "red"),
        ('{"duration_ms": 3.25}', '{"duration_ms": 1.5}'),
        ("pid 123", "pid 4567"),
    ],
)
def test_what_varies_between_runs_does_not_count(one, other):
    assert without_passing_things(one) == without_passing_things(other)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("3 failed", "2 failed"),
        ("line 10 of log", "line 11 of log"),
        ("/src/a.py:3", "/src/a.py:4"),
        ("version 1.2.3", "version 1.2.4"),
        ("4 modules", "5 modules"),
    ],
)
def test_what_tells_progress_does_count(one, other):
    assert without_passing_things(one) != without_passing_things(other)
