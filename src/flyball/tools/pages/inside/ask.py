"""Send one request and print the response as JSON; run by a bare interpreter, in the sandbox.

The input is JSON: host, port, target, seconds, kept, and whether to wait until a server responds.
"""

from __future__ import annotations

import base64
import http.client
import json
import sys
import time

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


def ask(task: dict[str, Any], deadline: float) -> dict[str, Any]:
    """Return the result of one request: status, type, body and error."""
    left = max(0.1, deadline - time.monotonic())
    connection = http.client.HTTPConnection(task["host"], task["port"], timeout=left)
    try:
        headers = {"User-Agent": "flyball", "Connection": "close"}
        connection.request("GET", task["target"], headers=headers)
        answer = connection.getresponse()
        body = b""
        while len(body) <= task["kept"] and time.monotonic() < deadline:
            piece = answer.read1(task["kept"] or 1)
            if not piece:
                break
            body += piece
        kind = answer.headers.get_content_type()
        return {"status": answer.status, "kind": kind, "body": body, "error": ""}
    except (OSError, http.client.HTTPException) as error:
        text = str(error) or type(error).__name__
        return {"status": 0, "kind": "", "body": b"", "error": text}
    finally:
        connection.close()


def main() -> None:
    """Send the request in the input, and print the response."""
    task = json.load(sys.stdin)
    deadline = time.monotonic() + task["seconds"]
    found = ask(task, deadline)
    while task["waits"] and found["error"] and time.monotonic() < deadline:
        time.sleep(0.05)
        found = ask(task, deadline)
    body = base64.b64encode(found["body"]).decode()
    sys.stdout.write(json.dumps({**found, "body": body}) + "\n")


if __name__ == "__main__":
    main()
