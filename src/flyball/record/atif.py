"""Export a run's log as an ATIF trajectory for other tools.

The Agent Trajectory Interchange Format has steps of a user, an agent and a system. Here the user is
the person, the agent is the driver, and the system is the governor. The result of a call belongs to
the step that requested it, even where it was refused.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from flyball.run.event import Answered, AnyEvent, DriverReplied, RunStarted
from flyball.run.machine import advance
from flyball.run.state import RunState
from flyball.run.thread import STANDING, Speaker, ThreadLine, thread_lines
from flyball.terms.budget import Usage

VERSION = "ATIF-v1.4"
Step = dict[str, Any]


def trajectory(
    events: Iterable[AnyEvent], version: str, stamp: Callable[[float], str]
) -> dict[str, Any]:
    """Return one trajectory for a whole run; each step names its card in `extra`.

    `stamp` formats a time for ATIF.
    """
    told = _Steps(stamp)
    state = RunState()
    for event in events:
        after = advance(state, event).state
        told.take(state, event, after)
        state = after
    spend = state.spend
    agent: dict[str, Any] = {"name": "flyball", "version": version}
    if told.models:
        agent["model_name"] = told.models[0]
    return {
        "schema_version": VERSION,
        "session_id": state.run,
        "agent": agent,
        "steps": told.steps,
        "final_metrics": {
            "total_prompt_tokens": spend.input_tokens,
            "total_completion_tokens": spend.output_tokens,
            "total_cached_tokens": spend.cached_tokens,
            "total_cost_usd": spend.money,
            "total_steps": len(told.steps),
            "extra": {"calls": spend.calls, "blocked": spend.blocked, "status": _status(state)},
        },
    }


def _status(state: RunState) -> str:
    return state.response.status.value if state.response else "open"


class _Steps:
    """The steps so far, and which of them asked for each call that has not come back."""

    def __init__(self, stamp: Callable[[float], str]) -> None:
        self._stamp = stamp
        self.steps: list[Step] = []
        self.models: list[str] = []
        self._asked: dict[tuple[str, str], Step] = {}

    def take(self, before: RunState, event: AnyEvent, after: RunState) -> None:
        if isinstance(event, RunStarted):
            self._add(event.at, "user", event.request)
        if isinstance(event, Answered):
            said = "yes" if event.granted else "no"
            words = f"{event.by}: {said}" + (f", {event.note}" if event.note else "")
            self._add(event.at, "user", words, {"question": event.question})
        for line in thread_lines(before, event, after):
            if line.speaker is Speaker.DRIVER and isinstance(event, DriverReplied):
                self._reply(event, line, before)
            elif line.speaker is Speaker.TOOL:
                self._observe(line)
            elif line.kind != STANDING:
                self._add(event.at, "system", line.text, {"card": line.card, "role": line.role})

    def _add(
        self, at: float, source: str, message: str, extra: dict[str, Any] | None = None
    ) -> Step:
        step: Step = {"step_id": len(self.steps) + 1}
        if at:
            step["timestamp"] = self._stamp(at)
        step |= {"source": source, "message": message}
        if extra:
            step["extra"] = extra
        self.steps.append(step)
        return step

    def _reply(self, event: DriverReplied, line: ThreadLine, before: RunState) -> None:
        card = before.card(event.card)
        phase = card.phase.name_for_people if card else ""
        extra = {"card": line.card, "role": line.role, "phase": phase}
        step = self._add(event.at, "agent", event.text, extra)
        if event.model:
            step["model_name"] = event.model
            self.models.append(event.model)
        calls = [(call.id, call.tool, call.args) for call in event.calls]
        calls += [(look.id, look.tool, {"about": look.about}) for look in event.looks]
        if calls:
            step["tool_calls"] = [
                {"tool_call_id": id, "function_name": tool, "arguments": args}
                for id, tool, args in calls
            ]
        self._asked |= {(event.card, id): step for id, _, _ in calls}
        if event.usage != Usage():
            step["metrics"] = {
                "prompt_tokens": event.usage.input_tokens,
                "completion_tokens": event.usage.output_tokens,
                "cached_tokens": event.usage.cached_tokens,
                "cost_usd": event.usage.money,
            }

    def _observe(self, line: ThreadLine) -> None:
        """Add the result of a call to its step; drop a line about an unknown call."""
        step = self._asked.get((line.card, line.call), {})
        results = step.setdefault("observation", {"results": []})["results"]
        results.append({"source_call_id": line.call, "content": line.text})
