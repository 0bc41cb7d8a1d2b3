"""A model provider on the loopback: speaks OpenAI's two protocols and Anthropic's.

What it answers is a list of acts, whichever protocol and form (streamed or whole) it is asked in.
"""

from __future__ import annotations

import itertools
import json
import threading
from collections.abc import Iterable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import TracebackType
from typing import Any, NamedTuple

CHAT = "/v1/chat/completions"
RESPONSES = "/v1/responses"
MESSAGES = "/v1/messages"


class Say(NamedTuple):
    """A reply: text, calls as (tool, arguments as JSON text or object), and why it ended.

    A cut one breaks its stream off; a quiet one ends its stream in good order, but too early.
    """

    text: str = ""
    calls: tuple[tuple[str, Any], ...] = ()
    finish: str = ""
    looks: tuple[tuple[str, Any, Any], ...] = ()
    """What the provider searched and fetched: (tool, what it asked for, what came back)."""
    tokens: tuple[int, int] = (100, 20)
    cached: int = 0
    is_cut: bool = False
    is_quiet: bool = False

    @property
    def is_whole(self) -> bool:
        return not self.is_cut and not self.is_quiet

    @property
    def reason(self) -> str:
        return self.finish or ("tool_calls" if self.calls else "stop")


class Refuse(NamedTuple):
    """An error instead of a reply; `mid_stream` sends it after the stream has begun."""

    status: int
    message: str = "no"
    kind: str = "api_error"
    headers: tuple[tuple[str, str], ...] = ()
    mid_stream: bool = False


class HangUp(NamedTuple):
    """The connection closes without a word."""


class Garbage(NamedTuple):
    """An answer that is of another kind altogether, as from a captive portal."""

    body: bytes = b"<html>Please log in</html>"


Act = Say | Refuse | HangUp | Garbage

ANTHROPIC_REASONS = {
    "stop": "end_turn",
    "tool_calls": "tool_use",
    "length": "max_tokens",
    "content_filter": "refusal",
    "suspended": "pause_turn",
}


class WireServer:
    """Serves the acts in order, then says "Done."; keeps every request that it saw."""

    def __init__(self, acts: Iterable[Act] = ()) -> None:
        self.acts = list(acts)
        self.requests: list[dict[str, Any]] = []
        self.paths: list[str] = []
        self.headers: list[dict[str, str]] = []
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), self._handler())
        self._server.daemon_threads = True
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.02,))

    @property
    def root(self) -> str:
        """The base URL for Anthropic's client."""
        return f"http://127.0.0.1:{self._server.server_address[1]}"

    @property
    def url(self) -> str:
        """The base URL for OpenAI's client and those like it."""
        return f"{self.root}/v1"

    def __enter__(self) -> WireServer:
        self._thread.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._server.shutdown()
        self._thread.join()
        self._server.server_close()

    def answer(self, request: dict[str, Any]) -> Act:
        """What is done with a request: the next act."""
        return self.acts.pop(0) if self.acts else Say("Done.")

    def _handler(self) -> type[BaseHTTPRequestHandler]:
        wire = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_POST(self) -> None:
                body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
                wire.requests.append(body)
                wire.paths.append(self.path)
                wire.headers.append({k.lower(): v for k, v in self.headers.items()})
                whole, events = PROTOCOLS[self.path.partition("?")[0]]
                act = wire.answer(body)
                match act:
                    case HangUp():
                        self.close_connection = True
                    case Garbage():
                        self.send(act.body, "text/html")
                    case Refuse(mid_stream=False):
                        self.whole(_refusal(act), act.status, act.headers)
                    case _ if body.get("stream"):
                        self.stream(events(act, body["model"]), act)
                    case Say():
                        self.whole(whole(act, body["model"]))
                    case _:
                        raise AssertionError(act)

            def whole(
                self, value: object, status: int = 200, headers: Iterable[tuple[str, str]] = ()
            ) -> None:
                self.send(json.dumps(value).encode(), "application/json", status, headers)

            def send(
                self,
                data: bytes,
                kind: str,
                status: int = 200,
                headers: Iterable[tuple[str, str]] = (),
            ) -> None:
                self.send_response(status)
                self.send_header("Content-Type", kind)
                self.send_header("Content-Length", str(len(data)))
                for name, text in headers:
                    self.send_header(name, text)
                self.end_headers()
                self.wfile.write(data)

            def stream(self, events: Iterable[str], act: Act) -> None:
                """Chunked, so that a cut stream ends without its last chunk."""
                self.send_response(200)
                self.send_header("Content-Type", "text/event-stream")
                self.send_header("Transfer-Encoding", "chunked")
                self.end_headers()
                for event in events:
                    data = event.encode()
                    try:
                        self.wfile.write(f"{len(data):x}\r\n".encode() + data + b"\r\n")
                    except ConnectionError:
                        # Who asked was stopped meanwhile.
                        self.close_connection = True
                        return
                if isinstance(act, Say) and act.is_cut:
                    self.close_connection = True
                else:
                    self.wfile.write(b"0\r\n\r\n")

            def log_message(self, format: str, *args: object) -> None:
                pass

        return Handler


def _refusal(act: Refuse) -> dict[str, Any]:
    error = {"type": act.kind, "message": act.message, "code": act.kind}
    return {"type": "error", "error": error}


def _arguments(args: Any) -> str:
    return args if isinstance(args, str) else json.dumps(args)


def _chat(act: Say, model: str) -> dict[str, Any]:
    calls = [
        {"id": f"call_{i}", "type": "function", "function": {"name": t, "arguments": _arguments(a)}}
        for i, (t, a) in enumerate(act.calls)
    ]
    message: dict[str, Any] = {"role": "assistant", "content": act.text or None}
    if calls:
        message["tool_calls"] = calls
    return {
        "id": "chat-1",
        "object": "chat.completion",
        "created": 1,
        "model": model,
        "choices": [{"index": 0, "message": message, "finish_reason": act.reason}],
        "usage": _chat_usage(act),
    }


def _chat_usage(act: Say) -> dict[str, Any]:
    told, said = act.tokens
    sums = {"prompt_tokens": told, "completion_tokens": said, "total_tokens": told + said}
    return {**sums, "prompt_tokens_details": {"cached_tokens": act.cached}} if act.cached else sums


def _chat_events(act: Say | Refuse, model: str) -> Iterator[str]:
    def chunk(delta: dict[str, Any], reason: str | None = None) -> str:
        return _data(
            {
                "id": "chat-1",
                "object": "chat.completion.chunk",
                "created": 1,
                "model": model,
                "choices": [{"index": 0, "delta": delta, "finish_reason": reason}],
            }
        )

    yield chunk({"role": "assistant", "content": ""})
    if isinstance(act, Refuse):
        yield _data(_refusal(act))
        return
    for word in _pieces(act.text):
        yield chunk({"content": word})
    for i, (tool, args) in enumerate(act.calls):
        head = {"index": i, "id": f"call_{i}", "type": "function"}
        yield chunk({"tool_calls": [{**head, "function": {"name": tool, "arguments": ""}}]})
        for piece in _pieces(_arguments(args)):
            yield chunk({"tool_calls": [{"index": i, "function": {"arguments": piece}}]})
    if not act.is_whole:
        return
    yield chunk({}, act.reason)
    yield _data(
        {
            "id": "chat-1",
            "object": "chat.completion.chunk",
            "created": 1,
            "model": model,
            "choices": [],
            "usage": _chat_usage(act),
        }
    )
    yield "data: [DONE]\n\n"


def _look_blocks(act: Say) -> list[dict[str, Any]]:
    """What the provider did by itself, as Anthropic tells it: each look, and then its result."""
    blocks: list[dict[str, Any]] = []
    for i, (tool, asked, result) in enumerate(act.looks):
        id = f"srvtoolu_{i}"
        blocks.append({"type": "server_tool_use", "id": id, "name": tool, "input": asked})
        if result is not None:
            kind = f"{tool}_tool_result"
            blocks.append({"type": kind, "tool_use_id": id, "content": result})
    return blocks


def _message(act: Say, model: str) -> dict[str, Any]:
    content = _look_blocks(act)
    content += [{"type": "text", "text": act.text}] if act.text else []
    content += [
        {"type": "tool_use", "id": f"toolu_{i}", "name": tool, "input": args}
        for i, (tool, args) in enumerate(act.calls)
    ]
    return {
        "id": "msg_1",
        "type": "message",
        "role": "assistant",
        "model": model,
        "content": content,
        "stop_reason": ANTHROPIC_REASONS[act.reason],
        "stop_sequence": None,
        "usage": {
            "input_tokens": act.tokens[0] - act.cached,
            "output_tokens": act.tokens[1],
            "cache_read_input_tokens": act.cached,
        },
    }


def _message_events(act: Say | Refuse, model: str) -> Iterator[str]:
    def event(kind: str, **fields: Any) -> str:
        return f"event: {kind}\n" + _data({"type": kind, **fields})

    counted = (
        Say(tokens=act.tokens, cached=act.cached) if isinstance(act, Say) else Say(tokens=(0, 0))
    )
    start = _message(counted, model)
    start |= {"stop_reason": None, "content": []}
    yield event("message_start", message=start)
    if isinstance(act, Refuse):
        yield event("error", error={"type": act.kind, "message": act.message})
        return
    blocks: list[tuple[dict[str, Any], str, str, str]] = []
    for block in _look_blocks(act):
        asked = block.get("input")
        head = {**block, "input": {}} if asked is not None else block
        blocks.append((head, "input_json_delta", "partial_json", _arguments(asked or "")))
    if act.text:
        blocks.append(({"type": "text", "text": ""}, "text_delta", "text", act.text))
    for i, (tool, args) in enumerate(act.calls):
        head = {"type": "tool_use", "id": f"toolu_{i}", "name": tool, "input": {}}
        blocks.append((head, "input_json_delta", "partial_json", _arguments(args)))
    for index, (head, kind, field, text) in enumerate(blocks):
        yield event("content_block_start", index=index, content_block=head)
        for piece in _pieces(text):
            yield event("content_block_delta", index=index, delta={"type": kind, field: piece})
        if not (act.is_cut and index == len(blocks) - 1):
            yield event("content_block_stop", index=index)
    if not act.is_whole:
        return
    delta = {"stop_reason": ANTHROPIC_REASONS[act.reason], "stop_sequence": None}
    yield event("message_delta", delta=delta, usage={"output_tokens": act.tokens[1]})
    yield event("message_stop")


def _response(act: Say, model: str) -> dict[str, Any]:
    told, said = act.tokens
    is_done = act.reason in ("stop", "tool_calls")
    cause = {"length": "max_output_tokens"}.get(act.reason, act.reason)
    return {
        "id": "resp_1",
        "object": "response",
        "created_at": 1,
        "model": model,
        "status": "completed" if is_done else "incomplete",
        "incomplete_details": None if is_done else {"reason": cause},
        "output": [item for item, _ in _items(act)],
        "parallel_tool_calls": True,
        "tool_choice": "auto",
        "tools": [],
        "usage": {
            "input_tokens": told,
            "input_tokens_details": {"cached_tokens": 0, "cache_write_tokens": 0},
            "output_tokens": said,
            "output_tokens_details": {"reasoning_tokens": 0},
            "total_tokens": told + said,
        },
    }


def _items(act: Say) -> list[tuple[dict[str, Any], str]]:
    """The items of a response, each with the text that is streamed in pieces."""
    items: list[tuple[dict[str, Any], str]] = []
    for i, (_, asked, _) in enumerate(act.looks):
        head = {"type": "web_search_call", "id": f"ws_{i}", "status": "completed"}
        items.append(({**head, "action": asked}, ""))
    if act.text:
        content = [{"type": "output_text", "text": act.text, "annotations": []}]
        head = {"type": "message", "id": "msg_1", "role": "assistant", "status": "completed"}
        items.append(({**head, "content": content}, act.text))
    for i, (tool, args) in enumerate(act.calls):
        head = {"type": "function_call", "id": f"fc_{i}", "call_id": f"call_{i}", "name": tool}
        text = _arguments(args)
        items.append(({**head, "arguments": text, "status": "completed"}, text))
    return items


def _response_events(act: Say | Refuse, model: str) -> Iterator[str]:
    numbers = itertools.count()

    def event(kind: str, **fields: Any) -> str:
        value = {"type": kind, "sequence_number": next(numbers), **fields}
        return f"event: {kind}\n" + _data(value)

    opened = {**_response(Say(), model), "status": "in_progress", "usage": None}
    yield event("response.created", response=opened)
    if isinstance(act, Refuse):
        yield event("error", code=act.kind, message=act.message, param=None)
        return
    for index, (item, text) in enumerate(_items(act)):
        at = {"output_index": index, "item_id": item["id"]}
        is_text = item["type"] == "message"
        if item["type"] == "web_search_call":
            begun = {**item, "status": "in_progress", "action": None}
            yield event("response.output_item.added", output_index=index, item=begun)
            yield event("response.output_item.done", output_index=index, item=item)
            continue
        empty = {"content": []} if is_text else {"arguments": ""}
        yield event("response.output_item.added", output_index=index, item={**item, **empty})
        if is_text:
            at["content_index"] = 0
            part = {"type": "output_text", "text": "", "annotations": []}
            yield event("response.content_part.added", part=part, **at)
        kind = "response.output_text" if is_text else "response.function_call_arguments"
        extra = {"logprobs": []} if is_text else {}
        for piece in _pieces(text):
            yield event(f"{kind}.delta", delta=piece, **at, **extra)
        if act.is_whole:
            done = {"text": text} if is_text else {"arguments": text, "name": item["name"]}
            yield event(f"{kind}.done", **done, **at, **extra)
            yield event("response.output_item.done", output_index=index, item=item)
    if act.is_whole:
        response = _response(act, model)
        yield event(f"response.{response['status']}", response=response)


PROTOCOLS = {
    CHAT: (_chat, _chat_events),
    RESPONSES: (_response, _response_events),
    MESSAGES: (_message, _message_events),
}


def _data(value: object) -> str:
    return f"data: {json.dumps(value)}\n\n"


def _pieces(text: str, size: int = 7) -> list[str]:
    return [text[i : i + size] for i in range(0, len(text), size)]
