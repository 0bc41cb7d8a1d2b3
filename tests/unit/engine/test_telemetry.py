"""What a watcher is told, and spans on their way to a real collector."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from msgspec.structs import replace
from tests.collector import collecting
from tests.unit.run.stories import Story

from flyball.engine.telemetry import telemetry
from flyball.engine.tracing import Tracer
from flyball.errors import ConfigError
from flyball.plan.coordinator import Coordinator, Stage
from flyball.plan.library import LIBRARY
from flyball.plan.message import Issue, StepResult
from flyball.plan.template import Escalation
from flyball.record.spans import spans_of
from flyball.run.event import DriverReplied, EvidenceTaken, Resumed
from flyball.run.machine import advance
from flyball.run.state import Asking, CardState, GovernorMessage, Question, RunState
from flyball.terms.budget import Usage
from flyball.terms.call import WebLook
from flyball.terms.evidence import VisualReport
from flyball.terms.intent import Intent

CARD = CardState("one", LIBRARY["step"], "One", "t0", "t0", step="one")
EVENT = Resumed(by="ann")


def told(before: RunState, after: RunState, kind: str) -> list[dict[str, Any]]:
    return [line for line in telemetry(before, EVENT, after) if line["type"] == kind]


def fell(**more: Any) -> list[tuple[str, str]]:
    after = replace(CARD, failures_in_row=1, **more)
    found = told(RunState(run="r", cards=(CARD,)), RunState(run="r", cards=(after,)), "escalation")
    return [(line["escalation"], line["reason"]) for line in found]


def test_telemetry_describes_every_policy():
    why = GovernorMessage("rejection", "The gate did not pass.")
    assert fell(said=(why,)) == [("RETRY", "The gate did not pass.")]
    question = Question("q", Asking.FAILURE, "Try again?")
    assert fell(question=question, ending_reason="red") == [("PAUSE_FOR_HUMAN", "red")]
    for policy in (Escalation.DIAGNOSE, Escalation.ROUTE_TO_PLANNING, Escalation.FAIL_JOB):
        assert fell(escalation=policy, ending_reason="red") == [(policy.value, "red")]


def test_continued_card_is_not_reported_again():
    card = replace(CARD, failures_in_row=1, escalation=Escalation.DIAGNOSE)
    before = RunState(run="r", cards=(card,))
    assert told(before, RunState(run="r", cards=(replace(card, turns=2),)), "escalation") == []


COURSE = Coordinator(request_id="r", user_request="do it", intent=Intent.FEATURE_BUILD)


@pytest.mark.parametrize(
    ("own", "lines"), [(Escalation.DIAGNOSE, ["ROUTE_TO_PLANNING"]), (Escalation.FAIL_JOB, ["x"])]
)
def test_follow_up_of_a_diagnosis_is_reported_once(own: Escalation, lines: list[str]):
    then = Escalation.ROUTE_TO_PLANNING if lines != ["x"] else Escalation.FAIL_JOB
    cards = (replace(CARD, escalation=own), replace(CARD, id="one.D1"))
    before = RunState(run="r", cards=cards, coordinator=COURSE)
    result = StepResult(step_id="one", success=False, summary="red", escalation=then)
    after = replace(before, coordinator=replace(COURSE, results=(result,)))
    found = told(before, after, "escalation")
    assert [line["escalation"] for line in found] == ([] if lines == ["x"] else lines)
    assert told(after, replace(after, seq=9, coordinator=after.coordinator), "escalation") == []


def test_repeated_iteration_is_reported():
    issues = (Issue(step_id="one", issue="Tests failed"),)
    second = replace(COURSE, stage=Stage.PLANNING, iteration=2, issues=issues)
    before = RunState(run="r", coordinator=second)
    after = replace(before, coordinator=replace(second, iteration=3))
    (line,) = told(before, after, "iteration")
    assert (line["iteration"], line["text"]) == (3, "Re-planning… (tests failed)")
    assert told(after, replace(after, seq=3), "iteration") == []


LOOK = WebLook("w1", "web_search", "empty cart", text="Carts: https://example.org\nmore", bytes=90)


def test_provider_lookup_is_reported_like_a_call():
    reply = DriverReplied(card="one", text="Zero.", looks=(LOOK,))
    after = replace(CARD, turns=1)
    lines = telemetry(RunState(cards=(CARD,)), reply, RunState(cards=(after,)))
    assert [line["type"] for line in lines] == ["call", "text", "usage"]
    made = lines[0]
    assert (made["tool"], made["about"], made["state"]) == ("web_search", "empty cart", "returned")
    assert (made["summary"], made["bytes"]) == ("Carts: https://example.org", 90)


@pytest.mark.parametrize("usage", [Usage(), Usage(700, 12, 0.01)])
def test_picture_judge_is_reported_with_its_cost(usage: Usage):
    seen = VisualReport(
        id="v", tree="t0", url="/", expectation="pens", ok=True, judged_by="a:model", usage=usage
    )
    event = EvidenceTaken(card="one", evidence=(seen,))
    after = replace(CARD, evidence=(seen,))
    lines = telemetry(RunState(cards=(CARD,)), event, RunState(cards=(after,)))
    told_usage = [
        (line["model"], line["input_tokens"], line["money"])
        for line in lines
        if line["type"] == "usage"
    ]
    assert told_usage == ([("a:model", 700, 0.01)] if usage.input_tokens else [])


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


def test_collector_receives_each_span_once(monkeypatch: pytest.MonkeyPatch):
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
