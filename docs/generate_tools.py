"""The reference of all tools, drawn from the tools themselves."""

from __future__ import annotations

import json
from collections.abc import Iterator

import msgspec.inspect as shapes

from flyball.terms.shape import expectation
from flyball.terms.tool import ALIASES, TOOL_ACCESS
from flyball.tools.call.protocol import Form, Tool
from flyball.tools.toolbox import TOOLS

CLASSES = {
    "read-only": "allowed in recon, execute and verify",
    "mutating": "allowed in execute only, after a checkpoint",
    "verification": "allowed in recon, execute and verify",
    "checkpoint": "allowed in recon and at the checkpoint",
}


def render() -> str:
    """The whole page."""
    lines = [
        "# Tools",
        "",
        "A call is `{tool, args}`. Unknown fields, wrong types and empty values are refused with a",
        "sentence that names the field. Every outcome is bounded and says how to see the rest.",
        "",
        "| tool | class | also called | in short |",
        "|---|---|---|---|",
        *map(_row, TOOLS),
        "",
        "`bash` is off unless it is enabled. It is judged by its command: one that only reads or",
        "verifies is of that class. `note`, `appeal` and `conflict` are allowed where tools are.",
        "",
        "| class | when |",
        "|---|---|",
        *(f"| {name} | {when} |" for name, when in CLASSES.items()),
        "",
    ]
    for tool in TOOLS:
        lines += _section(tool)
    return "\n".join(lines).rstrip() + "\n"


def _row(tool: Tool) -> str:
    names = ", ".join(f"`{alias}`" for alias, own in ALIASES.items() if own == tool.name)
    short = tool.description.partition(". ")[0].rstrip(".")
    return (
        f"| [`{tool.name}`](#{tool.name}) | {TOOL_ACCESS[tool.name]} | {names} | {_cell(short)} |"
    )


def _section(tool: Tool) -> Iterator[str]:
    yield from (f"## {tool.name}", "", tool.description, "")
    fields = list(_fields(tool.form))
    if fields:
        yield from ("| field | must be | default |", "|---|---|---|", *fields, "")
    else:
        yield from ("It takes no fields.", "")
    example = json.dumps({"tool": tool.name, "args": dict(tool.example)}, ensure_ascii=False)
    yield from ("```json", example, "```", "")


def _fields(form: type[Form]) -> Iterator[str]:
    info = shapes.type_info(form)
    assert isinstance(info, shapes.StructType)
    for field in info.fields:
        default = "required" if field.required else f"`{_default(field)}`"
        yield f"| `{field.encode_name}` | {_cell(expectation(field.type))} | {default} |"


def _default(field: shapes.Field) -> str:
    value = list(field.default) if isinstance(field.default, tuple) else field.default
    return json.dumps(value)


def _cell(text: str) -> str:
    return text.replace("|", "\\|")
