"""Start a run: what a person requests, and the first event that it becomes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple, TypeVar

import msgspec

from flyball.app.project import FRAMEWORK, Home, redactor_of, target_of
from flyball.app.runs.journals import new_run_id
from flyball.app.templates import flow_intent
from flyball.app.wiring import REPAIR
from flyball.drivers.image import take_pasted
from flyball.plan.flow import Flow
from flyball.plan.template import Template
from flyball.run.event import RunStarted
from flyball.run.policy import Policy
from flyball.settings import Settings
from flyball.terms.intent import Intent, Turn
from flyball.workspace.redaction import Redactor

V = TypeVar("V", Flow, Template)


class RunRequest(NamedTuple):
    """A person's request to start a run."""

    request: str
    intent: Intent | None = None
    budget: int | None = None
    images: tuple[str, ...] = ()
    history: tuple[Turn, ...] = ()
    driver: str = ""
    in_place: bool = False
    assume_yes: bool = False
    preview: bool = False
    flow: Flow | None = None
    target: str = ""
    by: str = ""
    """The name of the requester; empty if people are not identified."""
    extra_data: Mapping[str, str] = {}
    """Additional data for a cluster's workers."""


def started_of(
    home: Home, wanted: RunRequest, spec: str, templates: Sequence[Template]
) -> RunStarted:
    """Return a run's first event, with known secrets redacted."""
    settings, clean = home.effective.settings, redactor_of(home)
    # Before the request is redacted: pasted images are not text, and may look like keys.
    request, pasted = take_pasted(wanted.request, len(wanted.images))
    return RunStarted(
        run=new_run_id(),
        request=clean.text(request),
        policy=policy_of(settings, wanted, spec),
        target=target_of(home, wanted.target),
        images=(*wanted.images, *pasted),
        history=tuple(Turn(turn.role, clean.text(turn.text)) for turn in wanted.history),
        intent=flow_intent(wanted.flow, wanted.intent) if wanted.flow else wanted.intent,
        budget=wanted.budget,
        flow=_discreet(wanted.flow, clean) if wanted.flow else None,
        templates=tuple(_discreet(each, clean) for each in templates),
        shell={
            "driver": spec,
            "in_place": "yes" if wanted.in_place else "",
            **({"by": wanted.by} if wanted.by else {}),
            **wanted.extra_data,
        },
    )


def _discreet(value: V, clean: Redactor) -> V:
    """Return a flow or template with known secrets redacted."""
    return msgspec.convert(clean.value(msgspec.to_builtins(value)), type(value))


def policy_of(settings: Settings, wanted: RunRequest, driver: str) -> Policy:
    """Combine the settings and one run's options into a policy; the repairer makes no plans."""
    policy = settings.policy
    return msgspec.structs.replace(
        policy,
        self_modify=policy.self_modify or wanted.target == FRAMEWORK,
        assume_yes=wanted.assume_yes,
        preview=wanted.preview,
        plan_big_requests=policy.plan_big_requests and driver != REPAIR,
    )
