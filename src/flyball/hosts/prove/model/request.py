"""Read a host's request to its model, in any wire format."""

from __future__ import annotations

from enum import StrEnum
from typing import Any, cast

Body = dict[str, Any]


class WireFormat(StrEnum):
    """The wire format between a host and its model."""

    ANTHROPIC = "anthropic"
    RESPONSES = "responses"
    CHAT = "chat"
    GEMINI = "gemini"


def text_of(content: object) -> str:
    """Return all text in a message's content."""
    if isinstance(content, str):
        return content
    if isinstance(content, list):
        return "\n".join(filter(None, map(text_of, cast("list[object]", content))))
    if not isinstance(content, dict):
        return ""
    found = cast("Body", content)
    for key in ("text", "input_text", "output_text"):
        if isinstance(found.get(key), str):
            return found[key]
    for key in ("content", "parts", "output"):
        if key in found:
            return text_of(found[key])
    return ""


def user_texts(format: WireFormat, body: Body) -> list[str]:
    """Return the user's messages."""
    return [
        text_of(message.get("content", message.get("parts")))
        for message in _messages(format, body)
        if message.get("role") == "user"
    ]


def _messages(format: WireFormat, body: Body) -> list[Body]:
    key = {WireFormat.RESPONSES: "input", WireFormat.GEMINI: "contents"}.get(format, "messages")
    found: object = body.get(key)
    if isinstance(found, str):
        return [{"role": "user", "content": found}]
    return objects(found)


def objects(values: object) -> list[Body]:
    """Return the objects of a list; empty for any other value."""
    listed = cast("list[object]", values) if isinstance(values, list) else []
    return [cast("Body", each) for each in listed if isinstance(each, dict)]


def offered_tools(format: WireFormat, body: Body) -> list[str]:
    """Return the names of the tools that the model may call."""
    tools = objects(body.get("tools"))
    match format:
        case WireFormat.GEMINI:
            declared = [
                each for tool in tools for each in objects(tool.get("functionDeclarations"))
            ]
            return [str(each.get("name")) for each in declared]
        case WireFormat.CHAT:
            return [str(each["name"]) for each in objects([tool.get("function") for tool in tools])]
        case WireFormat.RESPONSES:
            # Codex sends the tools of newer models as an item of the input.
            for item in _messages(format, body):
                if item.get("type") == "additional_tools":
                    tools += objects(item.get("tools"))
        case WireFormat.ANTHROPIC:
            pass
    return [str(tool.get("name") or tool.get("type")) for tool in tools]


def wanted_schema(body: Body) -> Body | None:
    """Return the JSON schema that a host requires of a side request's answer."""
    places = (
        ("generationConfig", "responseJsonSchema"),
        ("generationConfig", "responseSchema"),
        ("text", "format", "schema"),
        ("response_format", "json_schema", "schema"),
        ("output_config", "format", "schema"),
    )
    for place in places:
        found: Any = body
        for key in place:
            found = cast("Body", found).get(key) if isinstance(found, dict) else None
        if isinstance(found, dict) and found:
            return cast("Body", found)
    return None


def dullest(schema: object) -> Any:
    """Return the simplest value that a JSON schema allows."""
    given = cast("Body", schema) if isinstance(schema, dict) else {}
    if given.get("enum"):
        return given["enum"][0]
    kinds: object = given.get("type", "object")
    kind = str(cast("list[object]", kinds)[0] if isinstance(kinds, list) else kinds).lower()
    if kind == "object":
        parts = cast("Body", given.get("properties") or {})
        return {key: dullest(part) for key, part in parts.items()}
    plain: Body = {"array": [], "boolean": False, "number": 0, "integer": 0, "null": None}
    return plain.get(kind, "")
