"""A run as spans: whose they are, how long they took, what they name, and what they keep to us."""

from __future__ import annotations

from random import Random

import msgspec
import pytest
from tests.simulation.simulate import next_event, start_event, world_of
from tests.simulation.world import PATIENCE, call
from tests.unit.run.stories import ALONE, CARD, Story

from flyball.record.spans import SpanBuilder, TraceSpan, otlp, spans_of
from flyball.run.event import (
    AnyEvent,
    CallInterrupted,
    Cancelled,
    CardClosed,
    DriverFailed,
    EvidenceTaken,
    Finish,
    RunStarted,
    WorkspaceFailed,
)
from flyball.run.machine import advance
from flyball.run.policy import Policy
from flyball.run.state import RunState
from flyball.terms.budget import Usage
from flyball.terms.evidence import VisualReport


def told(story: Story) -> list[TraceSpan]:
    return list(spans_of(story.events))


def named(spans: list[TraceSpan], name: str) -> TraceSpan:
    (found,) = [span for span in spans if span.name == name]
    return found


def test_a_whole_fix_is_a_tree_of_run_card_requests_and_calls():
    usage = Usage(100, 20, 0.5, 40)
    story = Story(shell={"driver": "model:anthropic:m"})
    story.says(
        call("1", "read"), call("2", "edit_diff"), text="Look.", usage=usage, model="anthropic:m-1",
        at=60.0,
    )  # fmt: skip
    story.returns().checkpoints("a.py").edits("t1").tests().stops().inspects().closes()
    spans = told(story)
    run, card = named(spans, "invoke_workflow flyball"), named(spans, "invoke_agent executor")
    assert (run.parent, card.parent) == ("", run.id)
    assert {span.parent for span in spans if span not in (run, card)} == {card.id}
    assert {span.trace for span in spans} == {run.trace} and len(run.trace) == 32
    assert run.attributes["gen_ai.conversation.id"] == "r"
    assert run.attributes["flyball.run.status"] == "success" and not run.is_error
    assert run.attributes["flyball.run.denied"] == 1
    assert card.attributes["flyball.card.ending"] == "succeeded"
    assert card.attributes["flyball.verdict"] == "shown"
    asked = named(spans, "chat m-1")
    assert asked.is_request and asked.end == 60_000_000_000
    assert (
        asked.attributes
        | {
            "gen_ai.operation.name": "chat",
            "gen_ai.provider.name": "anthropic",
            "gen_ai.response.model": "m-1",
            "gen_ai.usage.input_tokens": 100,
            "gen_ai.usage.output_tokens": 20,
            "gen_ai.usage.cache_read.input_tokens": 40,
            "gen_ai.response.finish_reasons": ("tool_calls",),
        }
        == asked.attributes
    )
    read = named(spans, "execute_tool read")
    assert read.attributes["gen_ai.tool.call.id"] == "1" and not read.is_request
    refused, made = [span for span in spans if span.name == "execute_tool edit_diff"]
    assert refused.attributes["flyball.decision"] == "deny" and refused.is_error
    assert not made.is_error
    assert named(spans, "verify").attributes["flyball.verdict"] == "shown"


def test_what_was_said_asked_or_read_is_in_no_span():
    story = Story()
    story.says(call("1", "read", "secret.py"), text="a secret").returns(ok=False).stops("secret")
    for text in ("do it", "secret", "it broke", "text"):
        assert text not in str([msgspec.to_builtins(span.attributes) for span in told(story)])


def test_a_call_lasts_as_long_as_it_took_and_says_how_it_failed():
    story = Story(policy=ALONE).says(call("1", "read"), at=10.0)
    asked = Story().asks("read").returns().events[-1]
    outcome = msgspec.structs.replace(asked.outcome, elapsed=2.5)
    returned = msgspec.structs.replace(
        Story().asks("read").returns(ok=False).events[-1], call="1", at=20.0,
        outcome=msgspec.structs.replace(outcome, ok=False),
    )  # fmt: skip
    story.answers(returned).asks("read")
    story.answers(CallInterrupted(card=CARD, call="read-0", tree="t0", at=30.0))
    failed, cut_off = [span for span in told(story) if span.name == "execute_tool read"]
    assert (failed.start, failed.end) == (17_500_000_000, 20_000_000_000)
    assert failed.attributes["error.type"] == "failed"
    assert cut_off.start == cut_off.end and cut_off.attributes["error.type"] == "interrupted"


def test_a_driver_without_an_answer_and_one_that_fails_are_errors():
    story = Story(shell={"driver": "model:google-gla:g"})
    story.answers(DriverFailed(card=CARD, error="a key leaked here"))
    story.says(text="", finish=Finish.ERROR, model="scripted")
    asked, answered = [span for span in told(story) if span.is_request]
    assert asked.name == "chat" and asked.attributes["gen_ai.provider.name"] == "gcp.gemini"
    assert answered.name == "chat scripted"
    assert answered.attributes["gen_ai.provider.name"] == "flyball"
    assert {each.attributes["error.type"] for each in (asked, answered)} == {"driver"}


def test_the_model_of_a_host_is_not_ours_to_tell_of():
    story = Story(policy=Policy(review=False, plan_big_requests=False, hosted=True))
    story.asks("read").returns()
    assert [span.name for span in told(story) if span.is_request] == []


def test_whoever_judged_a_picture_was_asked_too():
    story = Story().checkpoints("a.py").edits("t1").stops()
    seen = VisualReport(
        id="v", tree="t1", url="/", expectation="e", ok=True, judged_by="openai:o", usage=Usage(9)
    )
    story.answers(EvidenceTaken(card=CARD, evidence=(seen,)))
    spans = told(story)
    assert named(spans, "chat o").attributes["gen_ai.usage.input_tokens"] == 9
    assert "flyball.verdict" not in named(spans, "verify").attributes


def test_a_run_that_has_not_ended_is_reported_as_far_as_it_is():
    story = Story().asks("read")
    spans = told(story)
    assert named(spans, "invoke_workflow flyball").attributes["flyball.run.status"] == "open"
    assert "flyball.card.ending" not in named(spans, "invoke_agent executor").attributes
    (begun,) = spans_of([RunStarted(run="r", request="do it")])
    assert "flyball.run.intent" not in begun.attributes


def test_a_run_without_a_tree_and_a_card_that_failed_are_errors():
    story = Story()
    started = story.events[0]
    lost = spans_of([started, WorkspaceFailed(error="no room", effect=1)])
    (run,) = lost
    assert run.attributes["error.type"] == "failed" and run.is_error
    story.checkpoints("a.py").edits("t1").tests().stops().inspects()
    story.answers(CardClosed(card=CARD, error="no commit")).deliver()
    assert named(told(story), "invoke_agent executor").is_error
    ended = Story().happens(Cancelled(by="ann"))
    assert not any(span.is_error for span in told(ended))


def simulated(seed: int) -> list[AnyEvent]:
    rng = Random(seed)
    world, state, log = world_of(rng), RunState(), list[AnyEvent]()
    event: AnyEvent = start_event(seed, rng)
    for patience in range(PATIENCE * 10, 0, -1):
        log.append(event)
        state = advance(state, event).state
        if state.has_ended:
            break
        event = next_event(world, state, patience)
    return log


@pytest.mark.parametrize("seed", range(30))
def test_any_run_is_one_tree_however_many_processes_tell_it(seed: int):
    log = simulated(seed)
    spans = list(spans_of(log))
    ids = [span.id for span in spans]
    assert len(set(ids)) == len(ids)
    assert [span.parent for span in spans].count("") == 1
    assert {span.parent for span in spans} - {""} <= set(ids)
    # Two processes: what each tells is what one would have told.
    half, state, first, second = len(log) // 2, RunState(), SpanBuilder(), SpanBuilder()
    parts: list[TraceSpan] = []
    for n, event in enumerate(log):
        after = advance(state, event).state
        if n < half:
            parts += first.take(state, event, after)
            list(second.take(state, event, after))
        else:
            parts += second.take(state, event, after)
        state = after
    assert parts == spans


def test_a_collector_reads_them_as_json():
    story = Story().says(text="Hm.", usage=Usage(1, 2, 0.5), model="m", at=1.0)
    body = otlp(spans_of(story.events), {"service.name": "flyball"}, "0.1.0")
    (sent,) = body["resourceSpans"]
    assert sent["resource"]["attributes"] == [
        {"key": "service.name", "value": {"stringValue": "flyball"}}
    ]
    (scope,) = sent["scopeSpans"]
    by_name = {span["name"]: span for span in scope["spans"]}
    asked, run = by_name["chat m"], by_name["invoke_workflow flyball"]
    assert (asked["kind"], run["kind"]) == (3, 1) and "parentSpanId" not in run
    assert asked["endTimeUnixNano"] == "1000000000" and asked["status"] == {}
    values = {each["key"]: each["value"] for each in asked["attributes"]}
    assert values["gen_ai.usage.output_tokens"] == {"intValue": "2"}
    assert values["flyball.cost_usd"] == {"doubleValue": 0.5}
    finished = {"arrayValue": {"values": [{"stringValue": "stop"}]}}
    assert values["gen_ai.response.finish_reasons"] == finished
    lost = otlp(spans_of([story.events[0], WorkspaceFailed(error="no room", effect=1)]), {}, "")
    (span,) = lost["resourceSpans"][0]["scopeSpans"][0]["spans"]
    assert span["status"] == {"code": 2}
