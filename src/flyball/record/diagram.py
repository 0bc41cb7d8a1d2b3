"""Draw the table: Mermaid for people, XState v5 for machines, JSON for programs."""

from __future__ import annotations

from typing import Any

from flyball.run.event import name_of
from flyball.run.state import RunStage
from flyball.run.table import HISTORY, MOVES, ROWS, RUN_ROWS, STAY, CardRow
from flyball.terms.phase import ENDINGS, LIVE, Phase
from flyball.terms.tool import REACH

MACHINE = "card"
INITIAL = Phase.ANALYZE_CODE


def as_json() -> dict[str, Any]:
    """Return the phases and rows as plain data."""
    return {
        "machine": MACHINE,
        "initial": INITIAL.value,
        "phases": [
            {
                "phase": phase.value,
                "label": phase.label,
                "reach": sorted(access.value for access in REACH[phase]),
                "final": phase in ENDINGS,
            }
            for phase in Phase
        ],
        "rows": [
            {
                "region": row.region,
                "event": name_of(row.event),
                "rule": row.rule_name,
                "targets": list(row.targets),
            }
            for row in ROWS
        ],
        "run": {
            "stages": [stage.value for stage in RunStage],
            "rows": [
                {
                    "stages": [stage.value for stage in row.stages],
                    "event": name_of(row.event),
                    "rule": row.rule_name,
                    "targets": [target.value for target in row.targets],
                    "cards": row.listens is not None,
                }
                for row in RUN_ROWS
            ],
        },
    }


def state_value(phase: Phase) -> str | dict[str, Any]:
    """Return a phase as XState writes it: nested objects around the leaf's name."""
    value: str | dict[str, Any] = ""
    for part in reversed(_path(phase.value)):
        value = {part: value} if value else part
    return value


def guard_name(row: CardRow, target: str) -> str:
    """Return the name of the predicate "this rule chose this target"."""
    return f"{row.rule_name}:{target}"


def as_xstate() -> dict[str, Any]:
    """Return a config for XState v5; its user supplies the named guards."""
    root: dict[str, Any] = {"id": MACHINE, "initial": "live", "states": {}}
    for phase in Phase:
        node = root
        for part in _path(phase.value):
            states: dict[str, Any] = node.setdefault("states", {})
            node.setdefault("initial", part)
            node = states.setdefault(part, {})
        if phase in ENDINGS:
            node["type"] = "final"
    root["states"]["live"]["states"]["history"] = {"type": "history", "history": "deep"}
    for row in ROWS:
        for node in _nodes(root, row):
            node.setdefault("on", {})[name_of(row.event)] = [
                _transition(row, t) for t in row.targets
            ]
    return root


def _nodes(root: dict[str, Any], row: CardRow) -> list[dict[str, Any]]:
    """Return the nodes of the config; `paused` is a sibling of `live` and repeats its rows."""
    if row.region != LIVE:
        return [_node(root, row.region)]
    nodes = [root["states"]["live"]]
    if MOVES.get((Phase.PAUSED, row.event)) is row:
        nodes.append(root["states"]["paused"])
    return nodes


def _node(root: dict[str, Any], region: str) -> dict[str, Any]:
    node = root
    for part in _path(region):
        node = node["states"][part]
    return node


def _path(region: str) -> tuple[str, ...]:
    parts = tuple(region.split("."))
    return parts if parts[0] in ("paused", "ended") else ("live", *parts)


def _transition(row: CardRow, target: str) -> dict[str, str]:
    guard = guard_name(row, target)
    if target == STAY:
        return {"guard": guard}
    path = ("live", "history") if target == HISTORY else _path(target)
    return {"target": f"#{'.'.join((MACHINE, *path))}", "guard": guard}


def as_mermaid() -> str:
    """Return a state diagram of a card, without moves that stay in their phase."""
    lines = ["stateDiagram-v2", "    [*] --> live"]
    lines += _mermaid_states(as_xstate()["states"], 1)
    edges: dict[tuple[str, str], list[str]] = {}
    for row in ROWS:
        source = row.region.rpartition(".")[2]
        for target in row.targets:
            if target != STAY:
                name = "live" if target == HISTORY else target.rpartition(".")[2]
                names = edges.setdefault((source, name), [])
                label = name_of(row.event) + (" (history)" if target == HISTORY else "")
                names.append(label)
    for (source, target), events in edges.items():
        lines.append(f"    {source} --> {target}: {', '.join(dict.fromkeys(events))}")
    lines += [f"    {phase.value.rpartition('.')[2]} --> [*]" for phase in ENDINGS]
    return "\n".join(lines) + "\n"


def run_as_mermaid() -> str:
    """Return a state diagram of a run, without moves that stay in their stage."""
    lines = ["stateDiagram-v2", f"    [*] --> {RunStage.NEW}"]
    edges: dict[tuple[RunStage, RunStage], list[str]] = {}
    for row in RUN_ROWS:
        for stage in row.stages:
            for target in row.targets:
                edges.setdefault((stage, target), []).append(name_of(row.event))
    lines += [f"    {here} --> {there}: {', '.join(by)}" for (here, there), by in edges.items()]
    return "\n".join([*lines, f"    {RunStage.ENDED} --> [*]"]) + "\n"


def _mermaid_states(states: dict[str, Any], depth: int) -> list[str]:
    pad = "    " * depth
    lines: list[str] = []
    for name, node in states.items():
        if node.get("type") == "history":
            continue
        if "states" not in node:
            lines.append(f"{pad}state {name}")
            continue
        lines.append(f"{pad}state {name} {{")
        if name != "ended":
            lines.append(f"{pad}    [*] --> {node['initial']}")
        lines += _mermaid_states(node["states"], depth + 1)
        lines.append(f"{pad}}}")
    return lines
