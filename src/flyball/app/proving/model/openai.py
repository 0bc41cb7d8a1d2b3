"""OpenAI Responses and chat completions."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from typing import Any

from flyball.app.proving.model.request import Body
from flyball.app.proving.model.turns import Turn, tokens_of


def responses_stream(turn: Turn, model: str, n: int) -> Iterator[Body]:
    """Yield a turn as the events of a stream; the last one has the whole response."""
    items = list(_items(turn, n))
    shell: Body = {
        "id": f"resp_{n:04d}",
        "object": "response",
        "created_at": int(time.time()),
        "model": model,
        "status": "in_progress",
        "output": [],
    }
    yield {"type": "response.created", "response": shell}
    for k, item in enumerate(items):
        begun = {**item, "status": "in_progress"}
        yield {"type": "response.output_item.added", "output_index": k, "item": begun}
        if item["type"] == "message":
            yield {
                "type": "response.output_text.delta",
                "item_id": item["id"],
                "output_index": k,
                "content_index": 0,
                "delta": item["content"][0]["text"],
            }
        yield {"type": "response.output_item.done", "output_index": k, "item": item}
    tokens_in, tokens_out = tokens_of(turn)
    whole = {
        **shell,
        "status": "completed",
        "output": items,
        "end_turn": not turn.get("tools"),
        "usage": {
            "input_tokens": tokens_in,
            "input_tokens_details": {"cached_tokens": 0},
            "output_tokens": tokens_out,
            "output_tokens_details": {"reasoning_tokens": 0},
            "total_tokens": tokens_in + tokens_out,
        },
    }
    yield {"type": "response.completed", "response": whole}


def _items(turn: Turn, n: int) -> Iterator[Body]:
    """Return the model's text and calls as the items of a response."""
    if turn.get("text"):
        yield {
            "type": "message",
            "id": f"msg_{n:04d}",
            "role": "assistant",
            "status": "completed",
            "content": [{"type": "output_text", "text": turn["text"], "annotations": []}],
        }
    for k, tool in enumerate(turn.get("tools") or ()):
        id = f"{n:04d}{k:02d}"
        item = {"call_id": f"call_{id}", "name": tool["name"], "status": "completed"}
        if tool.get("custom"):
            yield {"type": "custom_tool_call", "id": f"ctc_{id}", "input": tool["input"], **item}
            continue
        given = json.dumps(tool.get("input", {}))
        space = {"namespace": tool["namespace"]} if tool.get("namespace") else {}
        yield {"type": "function_call", "id": f"fc_{id}", "arguments": given, **item, **space}


def chat_stream(turn: Turn, model: str, n: int) -> Iterator[Body]:
    """Yield a turn as chunks of a chat completion."""
    calls = _chat_calls(turn, n)

    def chunk(delta: Body, reason: str | None, **more: Any) -> Body:
        choice: Body = {"index": 0, "delta": delta, "finish_reason": reason}
        kind = "chat.completion.chunk"
        return {**_chat(model, n), "object": kind, "choices": [choice], **more}

    yield chunk({"role": "assistant", "content": ""}, None)
    if turn.get("text"):
        yield chunk({"content": turn["text"]}, None)
    if calls:
        yield chunk({"tool_calls": calls}, None)
    yield chunk({}, "tool_calls" if calls else "stop", usage=_chat_usage(turn))


def chat_completion(turn: Turn, model: str, n: int) -> Body:
    """Return a turn as one chat completion."""
    calls = [
        {key: value for key, value in call.items() if key != "index"}
        for call in _chat_calls(turn, n)
    ]
    message: Body = {"role": "assistant", "content": turn.get("text")}
    if calls:
        message["tool_calls"] = calls
    reason = "tool_calls" if calls else "stop"
    choice: Body = {"index": 0, "finish_reason": reason, "message": message}
    whole = {"object": "chat.completion", "usage": _chat_usage(turn), "choices": [choice]}
    return {**_chat(model, n), **whole}


def _chat(model: str, n: int) -> Body:
    return {"id": f"chatcmpl-{n:04d}", "created": int(time.time()), "model": model}


def _chat_calls(turn: Turn, n: int) -> list[Body]:
    return [
        {
            "index": k,
            "id": f"call_{n:04d}{k:02d}",
            "type": "function",
            "function": {"name": tool["name"], "arguments": json.dumps(tool.get("input", {}))},
        }
        for k, tool in enumerate(turn.get("tools") or ())
    ]


def _chat_usage(turn: Turn) -> Body:
    tokens_in, tokens_out = tokens_of(turn)
    return {
        "prompt_tokens": tokens_in,
        "completion_tokens": tokens_out,
        "total_tokens": tokens_in + tokens_out,
    }
