"""What a driver is told before it thinks."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache

from flyball.core.run.decision import ROLE_TOOLS
from flyball.core.run.effect import Think
from flyball.core.run.state import CardState, RunState
from flyball.core.run.thread import ThreadLine, trim_to
from flyball.core.terms.call import Access
from flyball.core.terms.phase import Phase
from flyball.core.terms.tool import TOOL_ACCESS, is_reachable
from flyball.drivers.prompt import opening, system_prompt
from flyball.drivers.protocol import Request, ToolSpec
from flyball.engine.prompt.injections import template_in_use
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
    """The prompt of a role and phase, the thread within bounds, the tools of the phase."""
    template = template_in_use(card)
    shown = () if effect.text_only else visible_tools(run, effect, tools)
    return Request(
        run=run.run,
        card=card.id,
        role=effect.role,
        phase=effect.phase,
        system=system_prompt(effect.role, effect.phase, tools=shown, advice=advice),
        opening=opening(run.request, template, injections),
        wanted=run.request,
        template=template.step_id,
        lines=trim_to(lines, run.policy.context_tokens * CHARS_PER_TOKEN),
        tools=shown,
        images=run.images,
        number=number,
        turn=sum(turns.values()),
        turns=dict(turns),
    )


def visible_tools(run: RunState, effect: Think, tools: Sequence[ToolSpec]) -> tuple[ToolSpec, ...]:
    """Only the tools of the phase and role are shown; any other call is still judged."""
    if run.budget.limit == 0:
        return ()
    names = _visible_names(effect.phase, effect.role, run.policy.bash)
    return tuple([spec for spec in tools if spec.name in names])


def specs_of(tools: Sequence[Tool]) -> tuple[ToolSpec, ...]:
    """Tools as drivers are told of them; made once, since a schema costs more than a request."""
    return tuple(ToolSpec(tool.name, tool.description, describe(tool)) for tool in tools)


@cache
def _visible_names(phase: Phase, role: str, has_bash: bool) -> frozenset[str]:
    return frozenset(name for name in TOOL_ACCESS if _is_visible(name, phase, role, has_bash))


def _is_visible(name: str, phase: Phase, role: str, has_bash: bool) -> bool:
    if name == "bash":
        return has_bash and is_reachable(name, Access.READ, phase)
    access = TOOL_ACCESS[name]
    return is_reachable(name, access, phase) and access in ROLE_TOOLS[role]
