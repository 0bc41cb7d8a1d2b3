"""Requests for the drivers' tests."""

from __future__ import annotations

from typing import Any

from flyball.drivers.protocol import Request, ToolSpec
from flyball.run.thread import Speaker, ThreadLine
from flyball.terms.phase import Phase

TEXT = {"type": "string"}
TEXTS = {"type": "array", "items": TEXT}


def tool(name: str, *needed: str, **properties: Any) -> ToolSpec:
    schema = {"type": "object", "properties": properties, "required": list(needed)}
    return ToolSpec(name, f"What {name} does.", schema)


TOOLS = (
    tool("read", "path", path=TEXT, limit={"anyOf": [{"type": "integer"}, {"type": "null"}]}),
    tool("grep", "q", q=TEXT, globs=TEXTS),
    tool("edit_diff", "diff", diff=TEXT, preview={"type": "boolean"}),
    tool("write_file", "path", path=TEXT, content=TEXT),
    tool("bash", "cmd", cmd=TEXT, confirm={"type": "boolean"}),
    tool(
        "checkpoint",
        "goal",
        "findings",
        "proposed_action",
        "files",
        "verify_with",
        goal=TEXT,
        findings=TEXT,
        proposed_action=TEXT,
        files=TEXTS,
        verify_with=TEXTS,
    ),
    tool("project"),
)


def request_for(**fields: Any) -> Request:
    start: dict[str, Any] = {
        "run": "r1",
        "card": "c1",
        "role": "executor",
        "phase": Phase.ANALYZE_CODE,
        "system": "You are governed.",
        "opening": "Mend the cart.",
        "tools": TOOLS,
    }
    if "turn" in fields and "turns" not in fields:
        fields["turns"] = {fields.get("card", start["card"]): fields["turn"]}
    return Request(**(start | fields))


def line(speaker: Speaker, text: str = "", **more: Any) -> ThreadLine:
    return ThreadLine("c1", 1, "executor", speaker, text, **more)
