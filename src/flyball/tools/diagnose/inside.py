"""Ask one language server about a change, inside the sandbox of its check.

Files are opened as they were before the change and then as they are now, in one session:
diagnostics of only the second version were introduced by the change. This text runs in a bare
interpreter, so it uses only the standard library.
"""

from __future__ import annotations

import contextlib
import json
import os
import queue
import subprocess
import sys
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from difflib import SequenceMatcher
from pathlib import Path
from typing import IO, Any, NamedTuple
from urllib.parse import unquote, urlsplit

UNHEARD = 70
"""The exit code for a server that does not respond."""
LIMIT = 90.0
"""Maximum seconds for one version of the files."""
QUIET = 2.0
"""Seconds of silence that end the diagnostics, which servers send in parts."""
PATIENCE = 15.0
"""Seconds of silence before a server has reported on every file; some never report a clean one."""
SEVERITIES = {1: "error", 2: "warning"}
"""Severities that count; information and hints are for editors."""

Message = dict[str, Any]


class ChangedText(NamedTuple):
    """A changed file: its content before and now, and its language."""

    path: str
    language: str
    before: str | None
    after: str


class Diagnostic(NamedTuple):
    """One problem that a server reports in a file."""

    line: int
    column: int
    severity: int
    message: str
    code: str

    @property
    def same(self) -> tuple[str, str]:
        return self.code, self.message


class Server:
    """A language server, connected by pipes."""

    def __init__(self, argv: Sequence[str], settings: Mapping[str, Any]) -> None:
        self._process = subprocess.Popen(
            argv, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
        )
        self._settings = settings
        self._heard: queue.SimpleQueue[Message | None] = queue.SimpleQueue()
        self._busy: set[str] = set()
        self._versions: dict[str, int] = {}
        self._answered: set[int] = set()
        self.published: dict[str, list[Diagnostic]] = {}
        self._listener = threading.Thread(target=self._listen, daemon=True)
        self._listener.start()

    def start(self, root: Path) -> bool:
        """Initialize the server; return whether it responds."""
        folder = {"uri": root.as_uri(), "name": root.name}
        self._send(
            {
                "id": 1,
                "method": "initialize",
                "params": {
                    "processId": os.getpid(),
                    "rootUri": root.as_uri(),
                    "workspaceFolders": [folder],
                    "capabilities": {
                        "window": {"workDoneProgress": True},
                        "workspace": {"configuration": True, "workspaceFolders": True},
                        "textDocument": {
                            "synchronization": {"didSave": True},
                            # No `diagnostic`: a server with pull diagnostics would then send none.
                            "publishDiagnostics": {"versionSupport": True},
                        },
                    },
                },
            }
        )
        deadline = time.monotonic() + LIMIT
        while 1 not in self._answered:
            if not self._take(deadline - time.monotonic(), set()):
                return False
        self._notify("initialized", {})
        self._notify("workspace/didChangeConfiguration", {"settings": self._settings})
        return True

    def show(self, file: ChangedText, root: Path, text: str) -> str:
        """Send a text as the content of a file; return the file's URI."""
        uri = (root / file.path).as_uri()
        version = self._versions.get(uri, 0) + 1
        self._versions[uri] = version
        if version == 1:
            document: Message = {"languageId": file.language, "version": 1, "text": text}
            self._notify("textDocument/didOpen", {"textDocument": {"uri": uri, **document}})
        else:
            changed: Message = {"textDocument": {"uri": uri, "version": version}}
            self._notify("textDocument/didChange", {**changed, "contentChanges": [{"text": text}]})
        self._notify("textDocument/didSave", {"textDocument": {"uri": uri}})
        return uri

    def settle(self, awaited: set[str]) -> dict[str, list[Diagnostic]]:
        """Return the diagnostics, once the server has reported on every file or stays silent."""
        deadline = time.monotonic() + LIMIT
        missing = set(map(_path, awaited))
        while (left := deadline - time.monotonic()) > 0:
            is_through = not missing and not self._busy
            if not self._take(min(QUIET if is_through else PATIENCE, left), missing):
                break
        return dict(self.published)

    def end(self) -> None:
        """Stop the server; its processes end with the sandbox."""
        self._process.kill()
        self._process.wait()
        self._listener.join(QUIET)
        for pipe in (self._process.stdin, self._process.stdout):
            # A child of the server may hold the pipe; the reader is not affected.
            if pipe and not self._listener.is_alive():
                with contextlib.suppress(BrokenPipeError):
                    pipe.close()

    def _take(self, seconds: float, missing: set[str]) -> bool:
        """Read one message; return whether there was one in time."""
        try:
            message = self._heard.get(timeout=max(seconds, 0.0))
        except queue.Empty:
            return False
        if message is None:
            return False
        params: Message = message.get("params") or {}
        match message.get("method"):
            case "textDocument/publishDiagnostics":
                self._published(params, missing)
            case "$/progress":
                token, kind = str(params.get("token")), params.get("value", {}).get("kind")
                (self._busy.discard if kind == "end" else self._busy.add)(token)
            case None:
                self._answered.add(message.get("id", 0))
            case method if "id" in message:
                self._send({"id": message["id"], "result": self._result(method, params)})
            case _:
                pass
        return True

    def _published(self, params: Message, missing: set[str]) -> None:
        path, version = _path(params["uri"]), params.get("version")
        known = {_path(uri): number for uri, number in self._versions.items()}
        if path in known and version in (None, known[path]):
            self.published[path] = [_problem(each) for each in params.get("diagnostics", ())]
            missing.discard(path)

    def _result(self, method: str, params: Message) -> object:
        if method != "workspace/configuration":
            return None
        return [self._settings.get(item.get("section", "")) for item in params.get("items", ())]

    def _notify(self, method: str, params: Message) -> None:
        self._send({"method": method, "params": params})

    def _send(self, message: Message) -> None:
        body = json.dumps({"jsonrpc": "2.0", **message}).encode()
        pipe = self._process.stdin
        # The reader detects that a server has ended; here it only ignores input.
        with contextlib.suppress(BrokenPipeError):
            assert pipe
            pipe.write(b"Content-Length: %d\r\n\r\n%b" % (len(body), body))
            pipe.flush()

    def _listen(self) -> None:
        pipe = self._process.stdout
        assert pipe
        for message in _messages(pipe):
            self._heard.put(message)
        self._heard.put(None)


def _messages(pipe: IO[bytes]) -> Iterator[Message]:
    while True:
        length = 0
        while line := pipe.readline().strip():
            name, _, value = line.partition(b":")
            if name.lower() == b"content-length":
                length = int(value)
        if not length:
            return
        yield json.loads(pipe.read(length))


def _path(uri: str) -> str:
    """Return the path of a URI: servers escape special characters differently."""
    return unquote(urlsplit(uri).path)


def _problem(raw: Message) -> Diagnostic:
    start: Message = raw["range"]["start"]
    words = str(raw.get("message", "")).strip().partition("\n")[0]
    code = " ".join(str(raw[key]) for key in ("source", "code") if raw.get(key))
    return Diagnostic(start["line"], start["character"], raw.get("severity", 1), words, code)


def introduced(
    before: Sequence[Diagnostic], after: Sequence[Diagnostic], old: str, new: str
) -> list[Diagnostic]:
    """Return the problems of a file that were not there before, on any line."""
    moved: dict[int, int] = {}
    matcher = SequenceMatcher(None, old.splitlines(), new.splitlines(), autojunk=False)
    for block in matcher.get_matching_blocks():
        moved |= {block.a + n: block.b + n for n in range(block.size)}
    left = list(before)
    fresh: list[Diagnostic] = []
    # First those on unchanged lines; an edited line keeps its existing problems.
    for is_exact in (True, False):
        rest = after if is_exact else fresh
        fresh = []
        for each in rest:
            known = next(
                (
                    one
                    for one in left
                    if one.same == each.same
                    and (moved.get(one.line) == each.line if is_exact else one.line not in moved)
                ),
                None,
            )
            if known:
                left.remove(known)
            else:
                fresh.append(each)
    return [each for each in fresh if each.severity in SEVERITIES]


def ask(
    argv: Sequence[str], root: Path, files: Sequence[ChangedText], settings: Mapping[str, Any]
) -> list[str] | None:
    """Return a line for each problem that the change introduced; None without an answer."""
    server = Server(argv, settings)
    try:
        if not server.start(root):
            return None
        then = [(each, each.before) for each in files if each.before is not None]
        before = server.settle({server.show(each, root, text) for each, text in then})
        after = server.settle({server.show(each, root, each.after) for each in files})
        if not after:
            return None
    finally:
        server.end()
    lines: list[str] = []
    for file in files:
        path = os.fspath(root / file.path)
        old, new = before.get(path, []), after.get(path, [])
        for each in introduced(old, new, file.before or "", file.after):
            place = f"{file.path}:{each.line + 1}:{each.column + 1}"
            found = f"{place}: {SEVERITIES[each.severity]}: {each.message}"
            lines.append(f"{found} [{each.code}]" if each.code else found)
    return lines


def main(orders: str) -> int:
    """Execute an order file; return 0 if no problem was introduced, and 1 if one was."""
    given = json.loads(Path(orders).read_text())
    files = [ChangedText(*each) for each in given["files"]]
    lines = ask(given["argv"], Path(given["root"]), files, given["settings"])
    if lines is None:
        return UNHEARD
    sys.stdout.write("".join(f"{line}\n" for line in lines))
    return 1 if lines else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
