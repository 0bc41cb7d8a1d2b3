"""Build what a driver reads before it thinks."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache
from typing import Any

from flyball.drivers.prompt import opening, system_prompt
from flyball.drivers.protocol import Request, ToolSpec
from flyball.engine.prompt.injections import template_in_use
from flyball.engine.prompt.plan_words import step_of, step_words
from flyball.run.decision import ROLE_TOOLS, may_build, web_looks
from flyball.run.effect import Think
from flyball.run.policy import Project
from flyball.run.state import CardState, RunState
from flyball.run.thread import ThreadLine, trim_to
from flyball.terms.call import Access
from flyball.terms.phase import Phase
from flyball.terms.tool import TOOL_ACCESS, TOOL_ROWS, is_reachable
from flyball.tools.call.prepare import describe
from flyball.tools.call.protocol import Tool

CHARS_PER_TOKEN = 3


def build_request(
    run: RunState,
    card: CardState,
    effect: Think,
    *,
    lines: Sequence[ThreadLine],
    tools: Sequence[ToolSpec],
    advice: str,
    injections: Mapping[str, str],
    number: int,
    turns: Mapping[str, int],
) -> Request:
    """Return a role's prompt, the thread within its limits, and the tools of the phase."""
    template = template_in_use(card)
    phases = phases_of(run, card, effect)
    shown = tools_of(run, effect.role, phases, tools)
    reachable = () if effect.text_only else _reachable(run, effect, shown)
    return Request(
        run=run.run,
        card=card.id,
        role=effect.role,
        phase=effect.phase,
        system=system_prompt(effect.role, phases, tools=shown, advice=advice),
        opening=opening(_wanted(run, card), template, injections),
        wanted=run.request,
        template=template.step_id,
        lines=trim_to(lines, run.policy.context_tokens * CHARS_PER_TOKEN),
        tools=shown,
        now=tuple(spec.name for spec in reachable),
        web=0 if effect.text_only else web_looks(run, card),
        images=run.images,
        number=number,
        turn=sum(turns.values()),
        turns=dict(turns),
    )


def _wanted(run: RunState, card: CardState) -> str:
    """Return the request; for a step's reviewer the step, since only that is to be judged."""
    step = step_of(run, card) if card.is_reviewing else None
    return step_words(step) if step else run.request


def phases_of(run: RunState, card: CardState, effect: Think) -> tuple[Phase, ...]:
    """Return every phase that the card may still enter; a read-only card has no build."""
    own = template_in_use(card).phases
    if not card.is_reviewing and not may_build(run, card):
        own = tuple(phase for phase in own if phase not in BUILDING)
    return own if effect.phase in own else (*own, effect.phase)


BUILDING = (Phase.CHECKPOINT, Phase.EXECUTE, Phase.VERIFY)


def tools_of(
    run: RunState, role: str, phases: Sequence[Phase], tools: Sequence[ToolSpec]
) -> tuple[ToolSpec, ...]:
    """Return the tools that a role has in any of these phases; any other call is still judged.

    Tools that need a missing language, server or browser are left out. A role that may not build is
    not offered a checkpoint, which would ask a person in place of an answer.
    """
    if run.budget.limit == 0:
        return ()
    names = _visible_names(tuple(phases), role, run.policy.bash, abilities(run.project))
    return tuple([spec for spec in tools if spec.name in names])


def _reachable(run: RunState, effect: Think, tools: Sequence[ToolSpec]) -> tuple[ToolSpec, ...]:
    """Return the card's tools that its current phase allows."""
    has_bash, phase = run.policy.bash, effect.phase
    return tuple([spec for spec in tools if _is_visible(spec.name, phase, effect.role, has_bash)])


def abilities(project: Project) -> frozenset[str]:
    """Return the conditions that tools depend on: the project's languages and the machine's
    capabilities."""
    is_python = bool({*project.runners, *project.checks} & PYTHON)
    return frozenset((*project.means, *(["python"] if is_python else ())))


PYTHON = frozenset({"pytest", "unittest", "ruff", "pyright", "mypy", "ty", "compileall"})


def specs_of(tools: Sequence[Tool]) -> tuple[ToolSpec, ...]:
    """Return the tools as drivers see them; cached, since building a schema is slow."""
    return tuple(ToolSpec(tool.name, tool.description, brief(describe(tool))) for tool in tools)


def brief(schema: Mapping[str, Any]) -> dict[str, Any]:
    """Return a form as a driver needs it: names and types, without limits."""
    fields: Mapping[str, Any] = schema.get("properties", {})
    shape: dict[str, Any] = {"type": "object"}
    shape["properties"] = {
        name: _brief_field(field) for name, field in fields.items() if name not in UNTOLD
    }
    if needed := schema.get("required"):
        shape["required"] = needed
    return shape


_RARE = "confirm content_base64 fuzz head keepRegions max partial preview reproduce seconds tail"
UNTOLD = frozenset(_RARE.split())
"""Fields that few calls need: where one is needed, the sentence that refuses the call names it."""


def _brief_field(field: Mapping[str, Any]) -> dict[str, Any]:
    options = [each for each in field.get("anyOf", ()) if each.get("type") != "null"]
    if options:
        return _brief_field(next((o for o in options if o.get("type") == "array"), options[0]))
    choices = [each for each in field.get("enum", ()) if each is not None]
    if choices and len(choices) <= FEW_CHOICES:
        return {"enum": choices}
    if field.get("type") == "array":
        return {"type": "array", "items": {"type": "string"}}
    return {"type": "string" if choices else field.get("type", "string")}


FEW_CHOICES = 8


@cache
def _visible_names(
    phases: tuple[Phase, ...], role: str, has_bash: bool, there: frozenset[str]
) -> frozenset[str]:
    may_state = any(phase in BUILDING for phase in phases)
    return frozenset(
        row.name
        for row in TOOL_ROWS.values()
        if any(_is_visible(row.name, phase, role, has_bash) for phase in phases)
        and (not row.needs or row.needs in there)
        and (may_state or row.access is not Access.CHECKPOINT)
    )


def _is_visible(name: str, phase: Phase, role: str, has_bash: bool) -> bool:
    if name == "bash":
        return has_bash and is_reachable(name, Access.READ, phase)
    access = TOOL_ACCESS[name]
    return is_reachable(name, access, phase) and access in ROLE_TOOLS[role]
