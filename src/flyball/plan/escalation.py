"""Decide what follows a failed step. This table is the only place that decides it.

A step is retried while retries are left, then diagnosed once, then treated by the template's own
policy. Every path ends: only the first column retries, and nothing is diagnosed twice.
"""

from __future__ import annotations

from collections.abc import Iterable
from enum import StrEnum
from typing import NamedTuple

from flyball.plan.gate import GATES
from flyball.plan.template import Escalation, GateUse, OnFail
from flyball.plan.verdict import Failed, Missing, Passed, Verdict


class Trouble(StrEnum):
    """The class of an error, least severe first."""

    MISSING_EVIDENCE = "missing_evidence"
    FAILING_CHECK = "failing_check"
    TOOL_TROUBLE = "tool_trouble"
    NO_PROGRESS = "no_progress"
    FORBIDDEN_CHANGE = "forbidden_change"


class Strictness(StrEnum):
    """How early a person is asked."""

    LENIENT = "lenient"
    NORMAL = "normal"
    STRICT = "strict"


TEMPLATE = "TEMPLATE"
"""Stands for the template's own `on_fail.escalate_policy`."""


class EscalationRow(NamedTuple):
    """The reaction to one class of error: with retries left, with none left, and after a
    diagnosis."""

    trouble: Trouble
    strictness: Strictness
    retries_left: Escalation
    used_up: Escalation | str
    diagnosed: Escalation | str


_RETRY, _DIAGNOSE = Escalation.RETRY, Escalation.DIAGNOSE
_PAUSE, _PLAN, _FAIL = (
    Escalation.PAUSE_FOR_HUMAN,
    Escalation.ROUTE_TO_PLANNING,
    Escalation.FAIL_JOB,
)

ROWS: tuple[EscalationRow, ...] = (
    EscalationRow(Trouble.MISSING_EVIDENCE, Strictness.LENIENT, _RETRY, _DIAGNOSE, TEMPLATE),
    EscalationRow(Trouble.MISSING_EVIDENCE, Strictness.NORMAL, _RETRY, _DIAGNOSE, TEMPLATE),
    EscalationRow(Trouble.MISSING_EVIDENCE, Strictness.STRICT, _RETRY, TEMPLATE, TEMPLATE),
    EscalationRow(Trouble.FAILING_CHECK, Strictness.LENIENT, _RETRY, _DIAGNOSE, _PLAN),
    EscalationRow(Trouble.FAILING_CHECK, Strictness.NORMAL, _RETRY, _DIAGNOSE, TEMPLATE),
    EscalationRow(Trouble.FAILING_CHECK, Strictness.STRICT, _RETRY, TEMPLATE, TEMPLATE),
    EscalationRow(Trouble.TOOL_TROUBLE, Strictness.LENIENT, _RETRY, _DIAGNOSE, TEMPLATE),
    EscalationRow(Trouble.TOOL_TROUBLE, Strictness.NORMAL, _RETRY, _PAUSE, _PAUSE),
    EscalationRow(Trouble.TOOL_TROUBLE, Strictness.STRICT, _PAUSE, _PAUSE, _PAUSE),
    EscalationRow(Trouble.NO_PROGRESS, Strictness.LENIENT, _RETRY, _DIAGNOSE, TEMPLATE),
    EscalationRow(Trouble.NO_PROGRESS, Strictness.NORMAL, _DIAGNOSE, _DIAGNOSE, TEMPLATE),
    EscalationRow(Trouble.NO_PROGRESS, Strictness.STRICT, _DIAGNOSE, TEMPLATE, TEMPLATE),
    EscalationRow(Trouble.FORBIDDEN_CHANGE, Strictness.LENIENT, _RETRY, _DIAGNOSE, TEMPLATE),
    EscalationRow(Trouble.FORBIDDEN_CHANGE, Strictness.NORMAL, _RETRY, _PAUSE, _PAUSE),
    EscalationRow(Trouble.FORBIDDEN_CHANGE, Strictness.STRICT, _PAUSE, _FAIL, _FAIL),
)

NOTES: tuple[str, ...] = (
    f"{TEMPLATE} is the step's own `on_fail.escalate_policy`.",
    "Retries are left while no more attempts failed than `on_fail.max_retries`.",
    "A step is diagnosed once; a diagnosis itself is not diagnosed.",
    "A policy of RETRY or DIAGNOSE that would go round again becomes PAUSE_FOR_HUMAN.",
)

_BY_KEY = {(row.trouble, row.strictness): row for row in ROWS}


def escalate(
    trouble: Trouble,
    attempts: int,
    on_fail: OnFail,
    strictness: Strictness = Strictness.NORMAL,
    *,
    diagnosed: bool = False,
) -> Escalation:
    """Return what follows after `attempts` tries; a failed diagnosis counts as a diagnosis."""
    row = _BY_KEY[trouble, strictness]
    if diagnosed:
        return _ending(_resolved(row.diagnosed, on_fail))
    if attempts <= on_fail.max_retries:
        return row.retries_left
    choice = _resolved(row.used_up, on_fail)
    return choice if choice is _DIAGNOSE else _ending(choice)


def _resolved(choice: Escalation | str, on_fail: OnFail) -> Escalation:
    return choice if isinstance(choice, Escalation) else on_fail.escalate_policy


def _ending(choice: Escalation) -> Escalation:
    """Replace a policy that would loop again by a question for a person."""
    return _PAUSE if choice in (_RETRY, _DIAGNOSE) else choice


def worst_failure(verdicts: Iterable[tuple[GateUse, Verdict]]) -> Trouble | None:
    """Return the most severe class among the gates' verdicts, or None if all passed."""
    found = {_class_of(use, verdict) for use, verdict in verdicts}
    for trouble in reversed(Trouble):
        if trouble in found:
            return trouble
    return None


def _class_of(use: GateUse, verdict: Verdict) -> Trouble | None:
    match verdict:
        case Passed():
            return None
        case Failed(is_trouble=True) | Missing(is_trouble=True):
            return Trouble.TOOL_TROUBLE
        case Missing():
            return Trouble.MISSING_EVIDENCE
        case _:
            gate = GATES.get(use.type)
            forbids = gate is not None and gate.forbids
            return Trouble.FORBIDDEN_CHANGE if forbids else Trouble.FAILING_CHECK
