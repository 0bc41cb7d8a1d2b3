"""Spans on their way to a real collector, over the network."""

from __future__ import annotations

import asyncio

import pytest
from tests.collector import collecting
from tests.unit.core.stories import Story

from flyball.core.machine.machine import advance
from flyball.core.record.spans import spans_of
from flyball.core.run.state import RunState
from flyball.engine.tracing import Tracer
from flyball.errors import ConfigError


def drive(story: Story, known: int = 0) -> list[str]:
    """Tell the events of a story as an engine does, after those that are known; the notices."""
    notices: list[str] = []

    async def tell() -> None:
        tracer = Tracer("r", story.events[:known], lambda line: notices.append(line["text"]))
        state = RunState()
        for n, event in enumerate(story.events):
            after = advance(state, event).state
            if n >= known:
                tracer.take(state, event, after)
            state = after
        await tracer.close()

    asyncio.run(tell())
    return notices


def whole() -> Story:
    return Story(at=5.0).checkpoints("a.py").edits("t1").tests().stops().inspects().closes()


def test_a_collector_hears_each_span_once_from_two_processes(monkeypatch: pytest.MonkeyPatch):
    story = whole()
    with collecting() as collector:
        monkeypatch.setenv("OTEL_EXPORTER_OTLP_ENDPOINT", collector.url)
        first = Story(at=5.0)
        first.events[:] = story.events[:7]
        assert drive(first) == []
        assert drive(story, 7) == []
    wanted = list(spans_of(story.events))
    assert [(span.trace, span.id, span.parent, span.name) for span in collector.spans] == [
        (span.trace, span.id, span.parent, span.name) for span in wanted
    ]
    assert [span.end for span in collector.spans] == [span.end for span in wanted]
    assert collector.resource["service.name"] == "flyball"


def test_a_trace_that_is_not_sampled_is_not_sent_and_not_missed(monkeypatch: pytest.MonkeyPatch):
    with collecting() as collector:
        monkeypatch.setenv("OTEL_EXPORTER_OTLP_ENDPOINT", collector.url)
        monkeypatch.setenv("OTEL_TRACES_SAMPLER", "parentbased_always_off")
        assert drive(whole()) == []
    assert collector.spans == []


def test_another_protocol_is_refused_before_anything_is_sent(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("OTEL_EXPORTER_OTLP_PROTOCOL", "grpc")
    with pytest.raises(ConfigError, match="grpc"):
        Tracer("r", (), print)
