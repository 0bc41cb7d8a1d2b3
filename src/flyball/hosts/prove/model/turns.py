"""Select the turn of a script that answers a request.

    {"tracks": [{"when": "SUBTASK", "turns": [TURN, ...]},  the first track whose "when" is in
                {"turns": [TURN, ...]}],                     the user's first message
     "after": TURN}                                          when a track has run out

A track may have "header", which must be in the request's headers (Codex names a subagent there),
and "aux", which selects it for requests that offer no tools.

    TURN = {"capture": {"SID": "session ID (\\d+)"},         from the request; @SID@ below
            "text": "...", "tools": [{"name": "Write", "input": {...}}, ...],
            "tokens": [in, out],                             usage to claim
            "status": 529, "delay": 0.2}                     an HTTP error, a pause

A Codex tool may be "custom", which takes text, or be in a "namespace". A request that offers no
tools is a side request (a title, a summary): it gets "aux" and does not advance a track.
"""

from __future__ import annotations

import json
import re
import threading
from typing import Any

from flyball.hosts.prove.model.request import (
    Body,
    WireFormat,
    dullest,
    offered_tools,
    user_texts,
    wanted_schema,
)

Turn = dict[str, Any]
DONE: Turn = {"text": "All done."}


class TurnScript:
    """A script in progress."""

    def __init__(self, script: dict[str, Any]) -> None:
        self.tracks: list[dict[str, Any]] = script.get("tracks") or [
            {"turns": script.get("turns", [])}
        ]
        self.after: Turn = script.get("after", DONE)
        self.aux: str = script.get("aux", "ok")
        self._at = [0] * len(self.tracks)
        self._lock = threading.Lock()

    def answer(self, format: WireFormat, body: Body, headers: str = "") -> tuple[str, Turn]:
        """Return the turn for a request, and its position in the script."""
        if not offered_tools(format, body):
            return self._aside(body)
        head = "\n".join(user_texts(format, body)[:3])
        with self._lock:
            for n, track in enumerate(self.tracks):
                is_meant = track.get("when", "") in head and track.get("header", "") in headers
                if is_meant and not track.get("aux"):
                    at, turns = self._at[n], track["turns"]
                    self._at[n] += 1
                    turn = turns[at] if at < len(turns) else track.get("after", self.after)
                    return f"{n}/{at}", _filled(turn, body)
        return "none", self.after

    def _aside(self, body: Body) -> tuple[str, Turn]:
        for n, track in enumerate(self.tracks):
            if track.get("aux") and track["aux"] in json.dumps(body):
                return f"aux:{n}", _filled(track["turns"][0], body)
        schema = wanted_schema(body)
        return "aux", {"text": json.dumps(dullest(schema)) if schema else self.aux}


def _filled(turn: Turn, body: Body) -> Turn:
    """Return a turn with the values it captures from the request inserted."""
    if not turn.get("capture"):
        return turn
    said = json.dumps(body)
    text = json.dumps({key: value for key, value in turn.items() if key != "capture"})
    for key, pattern in turn["capture"].items():
        found = re.findall(pattern, said)
        value = found[-1] if found else ""
        text = text.replace(f'"@#{key}@"', value or "0").replace(f"@{key}@", value)
    return json.loads(text)


def tokens_of(turn: Turn) -> tuple[int, int]:
    """Return the usage that a turn claims, in and out."""
    spent = turn.get("tokens") or (100, 20)
    return spent[0], spent[1]
