"""Anthropic Messages, whole and as a stream."""

from __future__ import annotations

import json
from collections.abc import Iterator

from flyball.app.proving.model.request import Body
from flyball.app.proving.model.turns import Turn, tokens_of


def anthropic_message(turn: Turn, model: str, n: int) -> Body:
    """Return a turn as one message."""
    blocks: list[Body] = [{"type": "text", "text": turn["text"]}] if turn.get("text") else []
    for k, tool in enumerate(turn.get("tools") or ()):
        blocks.append(
            {
                "type": "tool_use",
                "id": f"toolu_{n:04d}{k:02d}",
                "name": tool["name"],
                "input": tool.get("input", {}),
            }
        )
    tokens_in, tokens_out = tokens_of(turn)
    return {
        "id": f"msg_{n:04d}",
        "type": "message",
        "role": "assistant",
        "model": model,
        "content": blocks,
        "stop_reason": "tool_use" if turn.get("tools") else "end_turn",
        "stop_sequence": None,
        "usage": {
            "input_tokens": tokens_in,
            "output_tokens": tokens_out,
            "cache_creation_input_tokens": 0,
            "cache_read_input_tokens": 0,
        },
    }


def anthropic_stream(message: Body) -> Iterator[Body]:
    """Yield a message as the events of a stream."""
    usage = message["usage"]
    empty: Body = {"content": [], "stop_reason": None, "usage": {**usage, "output_tokens": 1}}
    yield {"type": "message_start", "message": {**message, **empty}}
    for n, block in enumerate(message["content"]):
        start: Body
        if block["type"] == "text":
            start = {"type": "text", "text": ""}
            delta = {"type": "text_delta", "text": block["text"]}
        else:
            start = {**block, "input": {}}
            delta = {"type": "input_json_delta", "partial_json": json.dumps(block["input"])}
        yield {"type": "content_block_start", "index": n, "content_block": start}
        yield {"type": "content_block_delta", "index": n, "delta": delta}
        yield {"type": "content_block_stop", "index": n}
    why = {"stop_reason": message["stop_reason"], "stop_sequence": None}
    spent = {"output_tokens": usage["output_tokens"]}
    yield {"type": "message_delta", "delta": why, "usage": spent}
    yield {"type": "message_stop"}
