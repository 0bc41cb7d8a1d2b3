"""Draw a flow as Mermaid text, or as an outline for a terminal."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from flyball.plan.flow import DIAGNOSIS, Flow
from flyball.plan.template import Template
from flyball.terms.shape import one_line


def mermaid(flow: Flow) -> str:
    """Return the flow as a Mermaid flowchart: solid lines for passing, dotted ones for failing."""
    names = {step.step_id: f"s{i}" for i, step in enumerate(flow.steps)}
    nodes = [f'  {names[step.step_id]}["{_label(step)}"]' for step in flow.steps]
    edges = [f"  begin([start]) --> {names[flow.start]}"]
    for step in flow.steps:
        here = names[step.step_id]
        for target, note in _ways(step):
            arrow = f'-->|"{note}"|' if note else "-->"
            edges.append(f"  {here} {arrow} {names.get(target) or _ending(target)}")
        tries = step.on_fail.max_retries + 1
        edges.append(f'  {here} -.->|"fails {tries}×"| {_after_failure(flow, step, names)}')
    return "\n".join(["flowchart TD", *nodes, *edges]) + "\n"


def _after_failure(flow: Flow, step: Template, names: Mapping[str, str]) -> str:
    """Return the flow's own diagnosis if it has one, else the template's policy."""
    if flow.step(DIAGNOSIS) and step.step_id != DIAGNOSIS:
        return names[DIAGNOSIS]
    return _ending(step.on_fail.escalate_policy)


def _ending(name: str) -> str:
    return f"{name.lower()}_([{name}])"


def outline(flow: Flow) -> str:
    """Return the flow as an indented list, in the order in which it is walked."""
    lines = [f"{flow.name} ({len(flow.steps)} step{'' if len(flow.steps) == 1 else 's'})"]
    for step in _walk(flow):
        lines.append(f"├─ {step.step_id}: {step.title} [{step.role}]")
        lines += [f"│    {line}" for line in _details(step)]
    return "\n".join(map(one_line, lines)) + "\n"


def _details(step: Template) -> Iterator[str]:
    form = step.evidence_schema
    if form.names:
        wanted = (*form.required, *(f"{each} (optional)" for each in form.optional))
        yield f"submits  {', '.join(wanted)}"
    for key, text in form.criteria_checklist.items():
        yield f"answers  {key}: {text}"
    for gate in step.gates:
        told = ", ".join(f"{key}={value!r}" for key, value in gate.parameters.items())
        yield f"gate     {gate.type}" + (f" ({told})" if told else "")
    stops = [name for name in ("checkpoint", "human_review") if getattr(step, name)]
    if stops:
        yield f"pauses   {', '.join(stops)}"
    for target, note in _ways(step):
        yield f"passes   → {target}" + (f" ({note})" if note else "")
    yield f"fails    → {step.on_fail.max_retries} retries, then {step.on_fail.escalate_policy}"


def _walk(flow: Flow) -> list[Template]:
    """Return the steps along the passing path from the start, then the rest."""
    order: dict[str, Template] = {}
    frontier = [flow.start]
    while frontier:
        step = flow.step(frontier.pop(0))
        if step is not None and step.step_id not in order:
            order[step.step_id] = step
            frontier += [target for target, _ in _ways(step)]
    return [*order.values(), *(step for step in flow.steps if step.step_id not in order)]


def _ways(step: Template) -> list[tuple[str, str]]:
    """Return where a passing step leads, with a note if there is a choice."""
    on_pass = step.on_pass
    if on_pass.max_rounds is None:
        return [(on_pass.next_step_id, "")]
    return [(on_pass.next_step_id, f"at most {on_pass.max_rounds}×"), (on_pass.then, "then")]


def _label(step: Template) -> str:
    text = one_line(f"{step.step_id}: {step.title}")
    return text.replace("#", "#35;").replace("&", "#38;").replace('"', "#34;")
