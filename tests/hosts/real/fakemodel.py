"""A scripted model server for 127.0.0.1: no account, no network, standard library only.

It speaks just enough of four wire formats for a coding-agent CLI to run a whole session:

  POST /v1/messages                             Anthropic Messages (SSE and plain)
  POST /v1/messages/count_tokens
  POST /v1/responses                            OpenAI Responses (SSE)
  POST /v1/chat/completions                     OpenAI chat completions (SSE and plain)
  POST /v1beta/models/M:streamGenerateContent   Gemini (SSE)
  POST /v1beta/models/M:generateContent         Gemini
  GET  /v1/models, /v1beta/models               an empty-ish list

What it answers comes from a script:

  {"tracks": [{"when": "SUBTASK", "turns": [TURN, ...]},      # first track whose "when"
              {"turns": [TURN, ...]}],                         # occurs in the first user text
   "after": TURN}                                              # when a track has run out

  A track may also have "header": a string that must occur in the request's headers (Codex names the
  sub-agent there), and "aux": a string that picks it for tool-less requests.

  TURN = {"capture": {"SID": "session ID (\\d+)"},            # from the latest request; @SID@ below
          "text": "...",                                       # both optional
          "tools": [{"name": "Write", "input": {...}}, ...],
          "tokens": [in, out],                                 # usage to claim
          "status": 529, "delay": 0.2}                         # an HTTP error instead / a pause

A request that offers the model no tools is "auxiliary" (title, summary, quota probe): it gets
"aux" (text, default "ok") and moves no track on.  Every request is written to a JSONL log with
the reply it got; header values that carry a key are not written.
"""

import gzip
import json
import re
import threading
import time
import zlib
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from urllib.parse import urlsplit

SECRET_HEADERS = {"authorization", "x-api-key", "x-goog-api-key", "cookie"}


def text_of(content):
    """All text in a message's content, whatever the dialect."""
    if content is None:
        return ""
    if isinstance(content, str):
        return content
    if isinstance(content, list):
        return "\n".join(filter(None, (text_of(c) for c in content)))
    if isinstance(content, dict):
        for key in ("text", "input_text", "output_text"):
            if isinstance(content.get(key), str):
                return content[key]
        for key in ("content", "parts", "output"):
            if key in content:
                return text_of(content[key])
    return ""


def messages_of(dialect, body):
    if dialect in ("anthropic", "chat"):
        return body.get("messages") or []
    if dialect == "responses":
        items = body.get("input") or []
        return [{"role": "user", "content": items}] if isinstance(items, str) else items
    return body.get("contents") or []


def user_texts(dialect, body):
    return [
        text_of(m.get("content", m.get("parts")))
        for m in messages_of(dialect, body)
        if isinstance(m, dict) and m.get("role") == "user"
    ]


def declared_tools(dialect, body):
    names = []
    tools = list(body.get("tools") or [])
    if dialect == "responses":  # newer Codex models: tools come as an input item
        for item in messages_of(dialect, body):
            if isinstance(item, dict) and item.get("type") == "additional_tools":
                tools += item.get("tools") or []
    for tool in tools:
        if not isinstance(tool, dict):
            continue
        if dialect == "gemini":
            names += [f.get("name") for f in tool.get("functionDeclarations") or []]
        elif dialect == "chat":
            names.append((tool.get("function") or {}).get("name"))
        else:
            names.append(tool.get("name") or tool.get("type"))
    return names


def from_schema(schema):
    """The dullest value a JSON schema allows: hosts ask for such replies on the side."""
    schema = schema if isinstance(schema, dict) else {}
    if schema.get("enum"):
        return schema["enum"][0]
    kind = schema.get("type")
    kind = (kind[0] if isinstance(kind, list) else kind or "object").lower()
    if kind == "object":
        return {k: from_schema(v) for k, v in (schema.get("properties") or {}).items()}
    return {"array": [], "boolean": False, "number": 0, "integer": 0, "null": None}.get(kind, "")


def wanted_schema(body):
    g = body.get("generationConfig") or {}
    for found in (
        g.get("responseJsonSchema"),
        g.get("responseSchema"),
        ((body.get("text") or {}).get("format") or {}).get("schema"),
        ((body.get("response_format") or {}).get("json_schema") or {}).get("schema"),
        ((body.get("output_config") or {}).get("format") or {}).get("schema"),
    ):
        if found:
            return found
    return None


class Script:
    """Which turn answers which request."""

    def __init__(self, script):
        self.tracks = script.get("tracks") or [{"turns": script.get("turns", [])}]
        self.after = script.get("after", {"text": "All done."})
        self.aux = script.get("aux", "ok")
        self.at = [0] * len(self.tracks)
        self.lock = threading.Lock()

    def answer(self, dialect, body, headers=""):
        name, turn = self.pick(dialect, body, headers)
        if turn.get("capture"):
            raw, out = (
                json.dumps(body),
                json.dumps({k: v for k, v in turn.items() if k != "capture"}),
            )
            for key, pattern in turn["capture"].items():
                found = re.findall(pattern, raw)
                value = found[-1] if found else ""
                out = out.replace(f'"@#{key}@"', value or "0").replace(f"@{key}@", value)
            turn = json.loads(out)
        return name, turn

    def pick(self, dialect, body, headers):
        if not declared_tools(dialect, body):
            for i, track in enumerate(self.tracks):  # a tool-less track, asked for by name
                if track.get("aux") and track["aux"] in json.dumps(body):
                    return f"aux:{i}", track["turns"][0]
            schema = wanted_schema(body)
            return "aux", {"text": json.dumps(from_schema(schema)) if schema else self.aux}
        texts = user_texts(dialect, body)
        head = "\n".join(texts[:3])
        with self.lock:
            for i, track in enumerate(self.tracks):
                if track.get("aux"):
                    continue
                if track.get("when") and track["when"] not in head:
                    continue
                if track.get("header") and track["header"] not in headers:
                    continue
                n = self.at[i]
                self.at[i] += 1
                turns = track["turns"]
                return f"{i}/{n}", (turns[n] if n < len(turns) else track.get("after", self.after))
        return "none", self.after


# -- the four dialects ---------------------------------------------------------------------


def tokens(turn):
    pair = turn.get("tokens") or [100, 20]
    return pair[0], pair[1]


def anthropic_message(turn, model, n):
    blocks = []
    if turn.get("text"):
        blocks.append({"type": "text", "text": turn["text"]})
    for k, tool in enumerate(turn.get("tools") or []):
        blocks.append(
            {
                "type": "tool_use",
                "id": f"toolu_{n:04d}{k:02d}",
                "name": tool["name"],
                "input": tool.get("input", {}),
            }
        )
    tin, tout = tokens(turn)
    return {
        "id": f"msg_{n:04d}",
        "type": "message",
        "role": "assistant",
        "model": model,
        "content": blocks,
        "stop_reason": "tool_use" if turn.get("tools") else "end_turn",
        "stop_sequence": None,
        "usage": {
            "input_tokens": tin,
            "output_tokens": tout,
            "cache_creation_input_tokens": 0,
            "cache_read_input_tokens": 0,
        },
    }


def anthropic_events(message):
    start = dict(
        message, content=[], stop_reason=None, usage=dict(message["usage"], output_tokens=1)
    )
    yield "message_start", {"type": "message_start", "message": start}
    for i, block in enumerate(message["content"]):
        if block["type"] == "text":
            yield (
                "content_block_start",
                {
                    "type": "content_block_start",
                    "index": i,
                    "content_block": {"type": "text", "text": ""},
                },
            )
            yield (
                "content_block_delta",
                {
                    "type": "content_block_delta",
                    "index": i,
                    "delta": {"type": "text_delta", "text": block["text"]},
                },
            )
        else:
            yield (
                "content_block_start",
                {"type": "content_block_start", "index": i, "content_block": dict(block, input={})},
            )
            yield (
                "content_block_delta",
                {
                    "type": "content_block_delta",
                    "index": i,
                    "delta": {
                        "type": "input_json_delta",
                        "partial_json": json.dumps(block["input"]),
                    },
                },
            )
        yield "content_block_stop", {"type": "content_block_stop", "index": i}
    yield (
        "message_delta",
        {
            "type": "message_delta",
            "delta": {"stop_reason": message["stop_reason"], "stop_sequence": None},
            "usage": {"output_tokens": message["usage"]["output_tokens"]},
        },
    )
    yield "message_stop", {"type": "message_stop"}


def responses_events(turn, model, n):
    rid = f"resp_{n:04d}"
    tin, tout = tokens(turn)
    items = []
    if turn.get("text"):
        items.append(
            {
                "type": "message",
                "id": f"msg_{n:04d}",
                "role": "assistant",
                "status": "completed",
                "content": [{"type": "output_text", "text": turn["text"], "annotations": []}],
            }
        )
    for k, tool in enumerate(turn.get("tools") or []):
        call = f"call_{n:04d}{k:02d}"
        if tool.get("custom"):  # a freeform tool, e.g. Codex's apply_patch
            items.append(
                {
                    "type": "custom_tool_call",
                    "id": f"ctc_{n:04d}{k:02d}",
                    "call_id": call,
                    "name": tool["name"],
                    "input": tool["input"],
                    "status": "completed",
                }
            )
        else:
            item = {
                "type": "function_call",
                "id": f"fc_{n:04d}{k:02d}",
                "call_id": call,
                "name": tool["name"],
                "arguments": json.dumps(tool.get("input", {})),
                "status": "completed",
            }
            if tool.get("namespace"):
                item["namespace"] = tool["namespace"]
            items.append(item)
    shell = {
        "id": rid,
        "object": "response",
        "created_at": int(time.time()),
        "model": model,
        "status": "in_progress",
        "output": [],
    }
    yield "response.created", {"type": "response.created", "response": shell}
    for i, item in enumerate(items):
        yield (
            "response.output_item.added",
            {
                "type": "response.output_item.added",
                "output_index": i,
                "item": dict(item, status="in_progress"),
            },
        )
        if item["type"] == "message":
            yield (
                "response.output_text.delta",
                {
                    "type": "response.output_text.delta",
                    "item_id": item["id"],
                    "output_index": i,
                    "content_index": 0,
                    "delta": item["content"][0]["text"],
                },
            )
        yield (
            "response.output_item.done",
            {"type": "response.output_item.done", "output_index": i, "item": item},
        )
    yield (
        "response.completed",
        {
            "type": "response.completed",
            "response": dict(
                shell,
                status="completed",
                output=items,
                end_turn=not turn.get("tools"),
                usage={
                    "input_tokens": tin,
                    "input_tokens_details": {"cached_tokens": 0},
                    "output_tokens": tout,
                    "output_tokens_details": {"reasoning_tokens": 0},
                    "total_tokens": tin + tout,
                },
            ),
        },
    )


def chat_calls(turn, n):
    return [
        {
            "index": k,
            "id": f"call_{n:04d}{k:02d}",
            "type": "function",
            "function": {"name": t["name"], "arguments": json.dumps(t.get("input", {}))},
        }
        for k, t in enumerate(turn.get("tools") or [])
    ]


def chat_usage(turn):
    tin, tout = tokens(turn)
    return {"prompt_tokens": tin, "completion_tokens": tout, "total_tokens": tin + tout}


def chat_chunks(turn, model, n):
    base = {
        "id": f"chatcmpl-{n:04d}",
        "object": "chat.completion.chunk",
        "created": int(time.time()),
        "model": model,
    }
    yield dict(
        base,
        choices=[
            {"index": 0, "delta": {"role": "assistant", "content": ""}, "finish_reason": None}
        ],
    )
    if turn.get("text"):
        yield dict(
            base, choices=[{"index": 0, "delta": {"content": turn["text"]}, "finish_reason": None}]
        )
    calls = chat_calls(turn, n)
    if calls:
        yield dict(
            base, choices=[{"index": 0, "delta": {"tool_calls": calls}, "finish_reason": None}]
        )
    yield dict(
        base,
        choices=[{"index": 0, "delta": {}, "finish_reason": "tool_calls" if calls else "stop"}],
        usage=chat_usage(turn),
    )


def gemini_response(turn, model, n):
    parts = []
    if turn.get("text"):
        parts.append({"text": turn["text"]})
    for k, tool in enumerate(turn.get("tools") or []):
        parts.append(
            {
                "functionCall": {
                    "name": tool["name"],
                    "args": tool.get("input", {}),
                    "id": f"fc-{n:04d}{k:02d}",
                }
            }
        )
    tin, tout = tokens(turn)
    return {
        "candidates": [
            {"content": {"role": "model", "parts": parts}, "finishReason": "STOP", "index": 0}
        ],
        "usageMetadata": {
            "promptTokenCount": tin,
            "candidatesTokenCount": tout,
            "totalTokenCount": tin + tout,
        },
        "modelVersion": model,
        "responseId": f"r{n:04d}",
    }


# -- the server ----------------------------------------------------------------------------


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *args):
        pass

    def body(self):
        if "chunked" in (self.headers.get("transfer-encoding") or ""):
            raw = b""
            while True:
                size = int(self.rfile.readline().split(b";")[0], 16)
                chunk = self.rfile.read(size)
                self.rfile.readline()
                if not size:
                    break
                raw += chunk
        else:
            raw = self.rfile.read(int(self.headers.get("content-length") or 0))
        coding = self.headers.get("content-encoding")
        if coding == "gzip":
            raw = gzip.decompress(raw)
        elif coding == "deflate":
            raw = zlib.decompress(raw)
        try:
            return json.loads(raw) if raw else {}
        except ValueError:
            return {"_raw": raw[:2000].decode("latin-1"), "_coding": coding}

    def note(self, body, track=None, reply=None):
        self.server.note(
            {
                "t": time.time(),
                "method": self.command,
                "path": self.path,
                "track": track,
                "reply": reply,
                "headers": {
                    k: ("-" if k.lower() in SECRET_HEADERS else v) for k, v in self.headers.items()
                },
                "body": body,
            }
        )

    def plain(self, obj, status=200):
        raw = json.dumps(obj).encode()
        self.send_response(status)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(raw)))
        self.end_headers()
        self.wfile.write(raw)

    def stream(self, events, named, done=False):
        self.send_response(200)
        self.send_header("content-type", "text/event-stream")
        self.send_header("cache-control", "no-cache")
        self.send_header("connection", "close")
        self.end_headers()
        self.close_connection = True
        for event in events:
            if named:
                kind, data = event
                self.wfile.write((f"event: {kind}\ndata: {json.dumps(data)}\n\n").encode())
            else:
                self.wfile.write((f"data: {json.dumps(event)}\n\n").encode())
            self.wfile.flush()
        if done:
            self.wfile.write(b"data: [DONE]\n\n")

    def do_HEAD(self):
        self.note({})
        self.send_response(200)
        self.send_header("content-length", "0")
        self.end_headers()

    def do_GET(self):
        self.note({})
        path = urlsplit(self.path).path
        if path.endswith("/models"):
            self.plain({"object": "list", "data": [], "models": []})
        else:
            self.plain({"error": {"type": "not_found_error", "message": "no such page"}}, 404)

    def do_POST(self):
        body = self.body()
        path = urlsplit(self.path).path
        gem = re.search(r"/models/([^/:]+):(\w+)$", path)
        if path.endswith("/messages"):
            dialect = "anthropic"
        elif path.endswith("/responses"):
            dialect = "responses"
        elif path.endswith("/chat/completions"):
            dialect = "chat"
        elif gem and gem.group(2) in ("generateContent", "streamGenerateContent"):
            dialect = "gemini"
        elif path.endswith("/count_tokens") or (gem and gem.group(2) == "countTokens"):
            self.note(body)
            return self.plain({"input_tokens": 100, "totalTokens": 100})
        else:
            self.note(body)
            return self.plain(
                {"error": {"type": "not_found_error", "message": "no such call"}}, 404
            )
        track, turn = self.server.script.answer(dialect, body, str(self.headers))
        n = self.server.count()
        self.note(body, track, turn)
        if turn.get("delay"):
            time.sleep(turn["delay"])
        if turn.get("status"):
            return self.plain(
                {
                    "type": "error",
                    "error": {
                        "type": turn.get("error", "api_error"),
                        "message": turn.get("text", "scripted error"),
                    },
                },
                turn["status"],
            )
        model = body.get("model") or (gem.group(1) if gem else "fake")
        if dialect == "anthropic":
            message = anthropic_message(turn, model, n)
            if body.get("stream"):
                return self.stream(anthropic_events(message), True)
            return self.plain(message)
        if dialect == "responses":
            events = list(responses_events(turn, model, n))
            if body.get("stream", True):
                return self.stream(events, True)
            return self.plain(events[-1][1]["response"])
        if dialect == "chat":
            if body.get("stream"):
                return self.stream(chat_chunks(turn, model, n), False, done=True)
            calls = [{k: v for k, v in c.items() if k != "index"} for c in chat_calls(turn, n)]
            return self.plain(
                {
                    "id": f"chatcmpl-{n:04d}",
                    "object": "chat.completion",
                    "created": 0,
                    "model": model,
                    "usage": chat_usage(turn),
                    "choices": [
                        {
                            "index": 0,
                            "finish_reason": "tool_calls" if calls else "stop",
                            "message": dict(
                                {"role": "assistant", "content": turn.get("text")},
                                **({"tool_calls": calls} if calls else {}),
                            ),
                        }
                    ],
                }
            )
        reply = gemini_response(turn, model, n)
        if gem.group(2) == "streamGenerateContent":
            return self.stream([reply], False)
        return self.plain(reply)


class FakeModel(ThreadingHTTPServer):
    daemon_threads = True

    def __init__(self, script, log_path, port=0):
        super().__init__(("127.0.0.1", port), Handler)
        self.script = Script(script)
        self.log_path = Path(log_path)
        self._lock = threading.Lock()
        self._n = 0
        self.log_path.write_text("")

    def handle_error(self, request, client_address):
        pass  # hosts drop connections when they exit

    def count(self):
        with self._lock:
            self._n += 1
            return self._n

    def note(self, entry):
        with self._lock, self.log_path.open("a") as f:
            f.write(json.dumps(entry) + "\n")

    @property
    def url(self):
        return f"http://127.0.0.1:{self.server_address[1]}"

    def __enter__(self):
        threading.Thread(target=self.serve_forever, daemon=True).start()
        return self

    def __exit__(self, *exc):
        self.shutdown()
        self.server_close()
