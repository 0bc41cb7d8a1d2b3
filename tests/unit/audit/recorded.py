"""Sessions of the real hosts against a scripted model, as they lie on a disk.

Made with Claude Code 2.1.325, Codex 0.166.0, Gemini CLI 0.61.0 and opencode 1.18.18; cleaned of the
names of the machine, of what the host sent to its model, and with ids that differ between sessions.
"""

from __future__ import annotations

import json
import shutil
import sqlite3
from pathlib import Path

RECORDED = Path(__file__).parents[2] / "golden" / "sessions"
HOSTS = ("claude", "codex", "gemini", "opencode")
PLACES = {
    "claude": ".claude/projects/-home-dev-shop/{name}.jsonl",
    "codex": ".codex/sessions/2026/11/16/rollout-{name}.jsonl",
    "gemini": ".gemini/tmp/shop/chats/session-{name}.jsonl",
    "opencode": ".local/share/opencode/opencode.db",
}
TABLES = """
CREATE TABLE session (id, directory, parent_id, time_created);
CREATE TABLE message (id, session_id, time_created, data);
CREATE TABLE part (id, message_id, session_id, time_created, data);
"""
SINS = {
    "done-unchecked": "unchecked",
    "weakened-test": "weakened-tests",
    "loosened-assert": "weakened-tests",
    "cannot-fail": "cannot-fail",
    "blind-write": "blind-write",
    "loop": "loop",
    "failing-edits": "failing-edits",
    "same-error": "same-error",
    "destructive": "destructive",
    "secret-printed": "secret-printed",
    "outside-edit": "outside-edit",
    "question-edited": "question-edited",
}
"""What was planted in which session; all others are clean."""


def lay_out(home: Path, *hosts: str) -> None:
    """Put every recorded session where its host would keep it."""
    for host in hosts:
        for file in sorted((RECORDED / host).glob("*.jsonl")):
            place = home / PLACES[host].format(name=file.stem)
            place.parent.mkdir(parents=True, exist_ok=True)
            if host == "opencode":
                _fill(place, file)
            else:
                shutil.copy(file, place)


def _fill(place: Path, file: Path) -> None:
    is_new = not place.exists()
    with sqlite3.connect(place) as db:
        if is_new:
            db.executescript(TABLES)
        for line in file.read_text().splitlines():
            row = json.loads(line)
            table = row.pop("table")
            if "data" in row:
                row["data"] = json.dumps(row["data"])
            marks = ", ".join("?" * len(row))
            names = ", ".join(row)
            db.execute(f"INSERT INTO {table} ({names}) VALUES ({marks})", [*row.values()])
    db.close()


def session_names(host: str) -> dict[str, str]:
    """The session that each recorded file tells of, by the file's name."""
    found: dict[str, str] = {}
    for file in sorted((RECORDED / host).glob("*.jsonl")):
        for line in map(json.loads, file.read_text().splitlines()):
            payload = line.get("payload") or {}
            id = line.get("sessionId") or payload.get("session_id") or line.get("session_id")
            id = id or (line.get("id") if line.get("table") == "session" else None)
            if id:
                found[id] = file.stem
                break
    return found
