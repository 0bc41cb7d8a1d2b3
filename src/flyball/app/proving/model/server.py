"""The model server: on 127.0.0.1, at a port the system chooses, logging every request."""

from __future__ import annotations

import gzip
import json
import threading
import time
import zlib
from collections.abc import Iterable
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from flyball.app.proving.model.anthropic import anthropic_message, anthropic_stream
from flyball.app.proving.model.openai import chat_completion, chat_stream, responses_stream
from flyball.app.proving.model.request import Body, WireFormat
from flyball.app.proving.model.turns import Turn, TurnScript, tokens_of
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
        """Ignore the error: hosts drop connections when they exit."""

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
        """Print nothing: every request is in the log."""

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
