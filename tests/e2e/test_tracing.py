"""A run that is driven while a collector listens, hangs, or is not there at all."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest
from tests.collector import collecting, exported, hanging, spans_in
from tests.governed import EDIT, GOOD, Shell, objects, script, shop, types

pytestmark = pytest.mark.exhaustive


def test_a_run_of_two_processes_is_one_trace_and_its_export_the_same(tmp_path: Path):
    repo, home = shop(tmp_path / "shop"), tmp_path / "home"
    driver = script(tmp_path / "s.jsonl", EDIT, *GOOD)
    with collecting() as collector:
        shell = Shell(repo, home, OTEL_EXPORTER_OTLP_ENDPOINT=collector.url)
        wanted = ("--intent", "small_fix", "--approve", "--driver", driver)
        assert shell("run", *wanted, "a secret request").returncode == 3
        begun = len(collector.spans)
        done = shell("approve", "last", "--json")
        assert done.returncode == 0, done.stdout + done.stderr
    assert 0 < begun < len(collector.spans)
    names = Counter(span.name for span in collector.spans)
    assert names["invoke_workflow flyball"] == names["invoke_agent executor"] == 1
    assert names["execute_tool edit_diff"] == 2 and names["chat scripted"] >= 5
    assert "secret" not in str(collector.spans)
    sent = exported(shell("runs", "export", "last", "--otel").stdout)
    assert sorted(spans_in(sent)) == sorted(collector.spans)


def test_a_collector_that_hangs_costs_a_run_a_notice(tmp_path: Path):
    repo, driver = shop(tmp_path / "shop"), script(tmp_path / "s.jsonl", *GOOD)
    with hanging() as url:
        shell = Shell(repo, tmp_path / "home", OTEL_EXPORTER_OTLP_ENDPOINT=url)
        done = shell("run", "--json", "--intent", "small_fix", "--driver", driver, "the total")
    told = objects(done.stdout)
    assert done.returncode == 0, done.stderr
    assert types(told)[-2:] == ["final", "notice"]
    assert "did not accept" in told[-1]["text"] and done.stderr == ""
