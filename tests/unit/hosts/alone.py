"""A host and its governor in one process."""

from __future__ import annotations

import asyncio
import json
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any, NamedTuple

from msgspec.structs import replace
from tests.governed import environment, shop
from tests.unit.workspace.trees.test_footprint import settle

from flyball.agents.event import HostAnswer
from flyball.app.project import open_home
from flyball.app.sessions import Session
from flyball.hosts.answering import read_payload
from flyball.hosts.governor import HostGovernor
from flyball.run.codec import decode_event
from flyball.run.event import AnyEvent, DriverReplied
from flyball.run.state import RunState
from flyball.terms.call import Call


class AloneHost(NamedTuple):
    """A host whose moments are answered in this process."""

    repo: Path
    env: dict[str, str]
    name: str = "claude"

    def data(self, event: str, **fields: Any) -> bytes:
        common = {"session_id": "s1", "cwd": str(self.repo), "hook_event_name": event}
        return json.dumps(common | fields).encode()

    def before(self, path: str, tool: str = "Read", **more: Any) -> bytes:
        args = {"tool_name": tool, "tool_input": {"file_path": path}, "tool_use_id": path}
        return self.data("PreToolUse", **args, **more)

    def after(self, path: str, response: object = "text", **more: Any) -> bytes:
        args = {"tool_name": "Read", "tool_input": {"file_path": path}, "tool_use_id": path}
        return self.data("PostToolUse", **args, tool_response=response, **more)

    def look(self, command: str, event: str = "PreToolUse", **more: Any) -> bytes:
        """A command, or with `PostToolUse` its end."""
        args = {"tool_name": "Bash", "tool_input": {"command": command}, "tool_use_id": command}
        return self.data(event, **(args | more))

    @property
    def governor(self) -> HostGovernor:
        return HostGovernor(open_home(self.repo, self.env, {}))

    def judged(self, data: bytes, *, process: str = "") -> HostAnswer:
        event = replace(read_payload(self.name, data), process=process)
        return asyncio.run(self.governor.answer(event))

    def session(self) -> Session:
        return self.governor.sessions.find(self.name, "s1")

    def state(self) -> RunState:
        found = asyncio.run(self.governor.runs.live_state(self.session()))
        assert found
        return found

    def events(self) -> list[AnyEvent]:
        """What is in the journal, in its order."""
        with closing(sqlite3.connect(self.governor.home.journal_path)) as db:
            rows = db.execute("SELECT body FROM events ORDER BY at, seq").fetchall()
        return [decode_event(body) for (body,) in rows]


def alone_in(place: Path, name: str = "claude") -> AloneHost:
    """A host in a shop, whose person has asked for a fix."""
    (place / "home").mkdir(exist_ok=True)
    found = AloneHost(shop(place / "shop"), environment(place / "home"), name)
    settle(*found.repo.rglob("*"))
    found.judged(found.data("UserPromptSubmit", prompt="the total is wrong, fix it"))
    return found


def journaled(host: AloneHost) -> list[Call]:
    """The calls in the journal, in their order."""
    events = host.events()
    return [call for event in events if isinstance(event, DriverReplied) for call in event.calls]
