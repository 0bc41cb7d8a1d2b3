"""A server for MCP with one tool, which writes a file."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

FIELDS = {"path": {"type": "string"}, "content": {"type": "string"}}
TOOL = {
    "name": "put_file",
    "description": "Write a file.",
    "inputSchema": {"type": "object", "properties": FIELDS, "required": [*FIELDS]},
}


def answer(method: str, params: dict[str, Any]) -> dict[str, Any]:
    """The result of a request."""
    match method:
        case "initialize":
            return {
                "protocolVersion": params.get("protocolVersion", "2025-06-18"),
                "capabilities": {"tools": {}},
                "serverInfo": {"name": "lab", "version": "1"},
            }
        case "tools/list":
            return {"tools": [TOOL]}
        case "tools/call":
            given = params["arguments"]
            Path(given["path"]).write_text(given["content"])
            return {"content": [{"type": "text", "text": f"wrote {given['path']}"}]}
        case _:
            return {}


for line in sys.stdin:
    request = json.loads(line)
    if "id" in request and "method" in request:
        result = answer(request["method"], request.get("params") or {})
        print(json.dumps({"jsonrpc": "2.0", "id": request["id"], "result": result}), flush=True)
