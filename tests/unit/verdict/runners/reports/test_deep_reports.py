"""Reports that are nested too deeply are not parsed, and long ones are read in good time."""

from __future__ import annotations

import time

import pytest

from flyball.bounds import DEEPEST
from flyball.verdict.runners.reports.documents import from_rspec
from flyball.verdict.runners.reports.output import RunnerOutput
from flyball.verdict.runners.reports.tap import from_tap


@pytest.mark.parametrize(("levels", "is_read"), [(10, True), (DEEPEST, False), (100_000, False)])
def test_a_report_that_is_nested_too_deeply_is_none(levels: int, is_read: bool):
    deep = b"[" * levels + b"]" * levels
    found = from_rspec(b'{"examples": [], "more": ' + deep + b"}", RunnerOutput())
    assert (found is not None) is is_read


def test_a_long_report_is_read_in_a_time_that_grows_with_its_length():
    began = time.process_time()
    found = from_tap("TAP version 13\n" + "".join(f"ok {n} - test {n}\n" for n in range(20_000)))
    assert found is not None
    assert len(found.cases) == 20_000
    assert time.process_time() - began < 8, "looked through once for each line it takes thrice that"
