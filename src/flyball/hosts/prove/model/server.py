"""The model server: on 127.0.0.1, at a port the system chooses, logging every request."""

from __future__ import annotations

import gzip
import json
import threading
import time
import zlib
from collections.abc import Iterable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from flyball.hosts.prove.model.request import Body, WireFormat
from flyball.hosts.prove.model.turns import Turn, TurnScript, tokens_of
from flyball.regex import regex

SECRET = frozenset({"authorization", "x-api-key", "x-goog-api-key", "cookie"})
"""Headers whose values are not logged."""
MOST = 1 << 20
"""Maximum length of a chunk header line."""
_GEMINI = regex(r"/models/([^/:]+):(\w+)$")
_COUNTS = ("/count_tokens", ":countTokens")


class LoopbackModel(ThreadingHTTPServer):
    """A model that answers from its script; a JSON Lines log has each request and reply."""

    daemon_threads = True

    def __init__(self, script: dict[str, Any], log: Path) -> None:
        super().__init__(("127.0.0.1", 0), _Exchange)
        self.turns = TurnScript(script)
        self.log = log
        self._lock = threading.Lock()
        self._asked = 0
        log.write_text("")

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_address[1]}"

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Ignore errors: hosts drop connections when they exit."""

    def next_number(self) -> int:
        """Return the number of this request among those answered from the script."""
        with self._lock:
            self._asked += 1
            return self._asked

    def note(self, entry: Body) -> None:
        """Log a request."""
        with self._lock, self.log.open("a") as file:
            file.write(json.dumps(entry) + "\n")

    def __enter__(self) -> LoopbackModel:
        threading.Thread(target=self.serve_forever, daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        self.shutdown()
        self.server_close()


class _Exchange(BaseHTTPRequestHandler):
    """One request and its answer."""

    protocol_version = "HTTP/1.1"
    server: LoopbackModel  # pyright: ignore[reportIncompatibleVariableOverride]

    def log_message(self, format: str, *args: Any) -> None:
        """Print nothing: every request is already in the log."""

    def do_HEAD(self) -> None:
        self._note({})
        self.send_response(200)
        self.send_header("content-length", "0")
        self.end_headers()

    def do_GET(self) -> None:
        self._note({})
        if urlsplit(self.path).path.endswith("/models"):
            self._say({"object": "list", "data": [], "models": []})
        else:
            self._say_error("not_found_error", "no such page", 404)

    def do_POST(self) -> None:
        body = self._body()
        path = urlsplit(self.path).path
        format = _format_of(path)
        if format is None:
            self._note(body)
            if path.endswith(_COUNTS):
                self._say({"input_tokens": 100, "totalTokens": 100})
            else:
                self._say_error("not_found_error", "no such call", 404)
            return
        track, turn = self.server.turns.answer(format, body, str(self.headers))
        self._note(body, track, turn)
        time.sleep(turn.get("delay", 0))
        if turn.get("status"):
            text = turn.get("text", "scripted error")
            self._say_error(turn.get("error", "api_error"), text, turn["status"])
        else:
            self._say_turn(format, body, turn)

    def _say_turn(self, format: WireFormat, body: Body, turn: Turn) -> None:
        n = self.server.next_number()
        found = _GEMINI.search(urlsplit(self.path).path)
        model = str(body.get("model") or (found[1] if found else "scripted"))
        match format:
            case WireFormat.ANTHROPIC:
                message = anthropic_message(turn, model, n)
                if body.get("stream"):
                    self._stream(anthropic_stream(message))
                else:
                    self._say(message)
            case WireFormat.RESPONSES:
                events = list(responses_stream(turn, model, n))
                if body.get("stream", True):
                    self._stream(events)
                else:
                    self._say(events[-1]["response"])
            case WireFormat.CHAT:
                if body.get("stream"):
                    self._stream(chat_stream(turn, model, n), end="data: [DONE]\n\n")
                else:
                    self._say(chat_completion(turn, model, n))
            case WireFormat.GEMINI:
                reply = _gemini_reply(turn, model, n)
                if found and found[2] == "streamGenerateContent":
                    self._stream([reply])
                else:
                    self._say(reply)

    def _say(self, value: Body, status: int = 200) -> None:
        data = json.dumps(value).encode()
        self.send_response(status)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def _say_error(self, kind: str, text: str, status: int) -> None:
        self._say({"type": "error", "error": {"type": kind, "message": text}}, status)

    def _stream(self, events: Iterable[Body], end: str = "") -> None:
        self.send_response(200)
        self.send_header("content-type", "text/event-stream")
        self.send_header("cache-control", "no-cache")
        self.send_header("connection", "close")
        self.end_headers()
        self.close_connection = True
        for event in events:
            name = f"event: {event['type']}\n" if "type" in event else ""
            self.wfile.write(f"{name}data: {json.dumps(event)}\n\n".encode())
            self.wfile.flush()
        self.wfile.write(end.encode())

    def _body(self) -> Body:
        data = self._data()
        coding = self.headers.get("content-encoding")
        if coding == "gzip":
            data = gzip.decompress(data)
        elif coding == "deflate":
            data = zlib.decompress(data)
        try:
            return json.loads(data) if data else {}
        except ValueError:
            return {"_raw": data[:2000].decode("latin-1"), "_coding": coding}

    def _data(self) -> bytes:
        if "chunked" not in (self.headers.get("transfer-encoding") or ""):
            return self.rfile.read(int(self.headers.get("content-length") or 0))
        data = b""
        while size := int(self.rfile.readline(MOST).partition(b";")[0], 16):
            data += self.rfile.read(size)
            self.rfile.readline(MOST)
        self.rfile.readline(MOST)
        return data

    def _note(self, body: Body, track: str | None = None, reply: Turn | None = None) -> None:
        headers = {
            key: "-" if key.lower() in SECRET else value for key, value in self.headers.items()
        }
        entry: Body = {"t": time.time(), "method": self.command, "path": self.path}
        self.server.note(
            {**entry, "track": track, "reply": reply, "headers": headers, "body": body}
        )


def _format_of(path: str) -> WireFormat | None:
    ends = {
        "/messages": WireFormat.ANTHROPIC,
        "/responses": WireFormat.RESPONSES,
        "/chat/completions": WireFormat.CHAT,
        ":generateContent": WireFormat.GEMINI,
        ":streamGenerateContent": WireFormat.GEMINI,
    }
    return next((format for end, format in ends.items() if path.endswith(end)), None)


def _gemini_reply(turn: Turn, model: str, n: int) -> Body:
    parts: list[Body] = [{"text": turn["text"]}] if turn.get("text") else []
    for k, tool in enumerate(turn.get("tools") or ()):
        call = {"name": tool["name"], "args": tool.get("input", {}), "id": f"fc-{n:04d}{k:02d}"}
        parts.append({"functionCall": call})
    content = {"role": "model", "parts": parts}
    tokens_in, tokens_out = tokens_of(turn)
    return {
        "candidates": [{"content": content, "finishReason": "STOP", "index": 0}],
        "usageMetadata": {
            "promptTokenCount": tokens_in,
            "candidatesTokenCount": tokens_out,
            "totalTokenCount": tokens_in + tokens_out,
        },
        "modelVersion": model,
        "responseId": f"r{n:04d}",
    }


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
