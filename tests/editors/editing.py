"""An editor as `flyball acp` meets it: the protocol's own client before the real process."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, TypeVar

from acp import PROTOCOL_VERSION, spawn_agent_process, text_block
from acp.client.connection import ClientSideConnection
from acp.schema import (
    AllowedOutcome,
    DeniedOutcome,
    FileEditToolCallContent,
    PermissionOption,
    RequestPermissionResponse,
    ToolCallUpdate,
)
from tests.governed import ARGV, Shell

T = TypeVar("T")
DEADLINE = 120


class Editor:
    """Somebody at an editor: keeps what it is told, and answers what it is asked."""

    def __init__(self, *choices: str) -> None:
        self._choices = list(choices)
        """What the person chooses, one after the other: approve, deny, or nothing at all."""
        self.updates: list[Any] = []
        self.asked: list[ToolCallUpdate] = []
        self.offered: list[list[PermissionOption]] = []
        self.agent: ClientSideConnection | None = None
        self.session = ""
        self.heard = asyncio.Event()

    async def session_update(self, session_id: str, update: Any, **_: Any) -> None:
        assert session_id == self.session or not self.session
        self.updates.append(update)
        self.heard.set()

    async def request_permission(
        self, session_id: str, tool_call: ToolCallUpdate, options: list[PermissionOption], **_: Any
    ) -> RequestPermissionResponse:
        self.asked.append(tool_call)
        self.offered.append(options)
        choice = self._choices.pop(0)
        if not choice:
            return RequestPermissionResponse(outcome=DeniedOutcome(outcome="cancelled"))
        outcome = AllowedOutcome(outcome="selected", option_id=choice)
        return RequestPermissionResponse(outcome=outcome)

    def on_connect(self, conn: Any) -> None:
        self.agent = conn

    async def open(self, project: Path) -> None:
        """Begin a conversation in a project."""
        assert self.agent is not None
        hello = await self.agent.initialize(PROTOCOL_VERSION)
        assert hello.protocol_version == PROTOCOL_VERSION
        made = await self.agent.new_session(cwd=str(project), mcp_servers=[])
        self.session = made.session_id
        assert made.modes is not None and made.modes.current_mode_id == "recon"

    async def say(self, text: str) -> str:
        """Send a prompt; why its turn ended."""
        assert self.agent is not None
        done = await self.agent.prompt(session_id=self.session, prompt=[text_block(text)])
        return done.stop_reason

    def of(self, kind: str) -> list[Any]:
        return [each for each in self.updates if each.session_update == kind]

    @property
    def message(self) -> str:
        """Everything that the agent said."""
        return "".join(each.content.text for each in self.of("agent_message_chunk"))

    @property
    def plan(self) -> list[tuple[str, str]]:
        """The plan as it stands now."""
        return [(each.content, each.status) for each in self.of("plan")[-1].entries]

    @property
    def modes(self) -> list[str]:
        return [each.current_mode_id for each in self.of("current_mode_update")]

    @property
    def diffs(self) -> list[FileEditToolCallContent]:
        """Every change that was shown with a call."""
        content = [part for each in self.of("tool_call_update") for part in each.content or ()]
        return [part for part in content if isinstance(part, FileEditToolCallContent)]

    async def until(self, kind: str, is_meant: Callable[[Any], bool]) -> None:
        """Wait until an update has come."""
        while not any(map(is_meant, self.of(kind))):
            self.heard.clear()
            await self.heard.wait()


@asynccontextmanager
async def at_work(editor: Editor, shell: Shell, *words: str) -> AsyncGenerator[Editor]:
    """The editor with a conversation in the shell's project, before the process that it starts."""
    command = [*ARGV, "acp", *words]
    patient = {"shutdown_timeout": DEADLINE}
    async with spawn_agent_process(
        editor, *command, env=shell.env, cwd=shell.cwd.parent, transport_kwargs=patient
    ) as (_, process):
        await editor.open(shell.cwd)
        yield editor
    assert process.returncode == 0, "it ends with its editor"


def play(story: Callable[[], Awaitable[T]]) -> T:
    """Tell a story to its end."""

    async def bounded() -> T:
        return await asyncio.wait_for(story(), DEADLINE)

    return asyncio.run(bounded())
