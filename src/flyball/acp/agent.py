"""The ACP agent: its sessions are conversations, its prompts are runs."""

from __future__ import annotations

import importlib.metadata
import secrets
from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple, cast

from acp import PROTOCOL_VERSION, RequestError, run_agent, update_user_message_text
from acp.interfaces import Agent, Client
from acp.schema import (
    AgentCapabilities,
    AudioContentBlock,
    EmbeddedResourceContentBlock,
    ImageContentBlock,
    Implementation,
    InitializeResponse,
    LoadSessionResponse,
    NewSessionResponse,
    PromptCapabilities,
    PromptResponse,
    ResourceContentBlock,
    TextContentBlock,
    TextResourceContents,
)

from flyball.acp.turn import PromptTurn
from flyball.acp.update import EditorUpdates, RunFiles, Words, modes
from flyball.app.answering import pending
from flyball.app.driving import RunRequest
from flyball.app.project import Home, open_home
from flyball.app.runs.following import retold, turns_of
from flyball.app.runs.journals import Record, list_runs, record_of
from flyball.errors import Conflict, FlyballError, NotFound, UsageError
from flyball.run.state import RunState
from flyball.terms.intent import Turn

CONVERSATION = "conversation"
"""The key in a run's start for the session that it belongs to."""
GOVERNED = "A phase follows from what was done and shown; it cannot be chosen."

Block = (
    TextContentBlock
    | ImageContentBlock
    | AudioContentBlock
    | ResourceContentBlock
    | EmbeddedResourceContentBlock
)


class EditorSession:
    """One conversation: its project, its messages, and its current run."""

    def __init__(self, name: str, home: Home, said: Sequence[RunState] = ()) -> None:
        self.name = name
        self.home = home
        self.history: tuple[Turn, ...] = ()
        self.last = RunState()
        self.turn: PromptTurn | None = None
        for state in said:
            self.add(state)

    async def waiting(self) -> str:
        """Return the run that waits for a message, unless it was answered elsewhere."""
        if not pending(self.last):
            return ""
        self.last = (await record_of(self.home, self.last.run)).state
        return self.last.run if pending(self.last) else ""

    def add(self, state: RunState) -> None:
        """Record a run's result, or its resting state."""
        self.last = state
        if state.has_ended:
            self.history += turns_of(state)


class EditorAgent:
    """Answers an editor's requests with the same functions as the command line.

    The library rejects a method that is not defined here as unknown.
    """

    def __init__(
        self, options: RunRequest, environ: Mapping[str, str], by: str, tell: Callable[[], Words]
    ) -> None:
        self._tell = tell
        self._options = options
        self._environ = environ
        self._by = by
        self._sessions: dict[str, EditorSession] = {}
        self._client: Client | None = None

    def on_connect(self, conn: Client) -> None:
        self._client = conn

    async def initialize(self, protocol_version: int, **_: Any) -> InitializeResponse:  # noqa: ARG002
        """Return the agent's capabilities and its protocol version."""
        version = importlib.metadata.version("flyball")
        prompts = PromptCapabilities(image=True, embedded_context=True)
        return InitializeResponse(
            protocol_version=PROTOCOL_VERSION,
            agent_capabilities=AgentCapabilities(load_session=True, prompt_capabilities=prompts),
            agent_info=Implementation(name="flyball", title="Flyball", version=version),
        )

    async def new_session(self, cwd: str, **_: Any) -> NewSessionResponse:
        """Start a conversation in a project."""
        name = f"session-{secrets.token_hex(8)}"
        with _as_client_errors():
            self._sessions[name] = EditorSession(name, self._home(cwd))
        return NewSessionResponse(session_id=name, modes=modes())

    async def load_session(self, cwd: str, session_id: str, **_: Any) -> LoadSessionResponse:
        """Replay a conversation from the journal, and continue it."""
        with _as_client_errors():
            home = self._home(cwd)
            records = await _records(home, session_id)
            for record in records:
                await self._replay_history(session_id, home, record)
            said = [record.state for record in records]
            self._sessions[session_id] = EditorSession(session_id, home, said)
        return LoadSessionResponse(modes=modes())

    async def set_session_mode(self, mode_id: str, session_id: str, **_: Any) -> None:
        """Refuse the request: modes are phases."""
        with _as_client_errors():
            self._session(session_id)
            raise Conflict(f"The mode {mode_id!r} cannot be set here.", GOVERNED)

    async def prompt(self, session_id: str, prompt: Sequence[Block], **_: Any) -> PromptResponse:
        """Start a run with the prompt, or answer the run that waits for a message."""
        with _as_client_errors():
            session = self._session(session_id)
            if session.turn is not None:
                raise Conflict("The previous prompt is still in progress.", "Cancel it, or wait.")
            said = read_blocks(prompt)
            client, words = self._connected, self._tell()
            session.turn = turn = PromptTurn(session.home, session_id, client, self._by, words)
            try:
                if run := await session.waiting():
                    reason = await turn.answer(run, said.text)
                else:
                    reason = await turn.start(self._wanted(session, said))
                session.add(turn.state)
            finally:
                session.turn = None
        return PromptResponse(stop_reason=reason)

    async def cancel(self, session_id: str, **_: Any) -> None:
        """Cancel the run that a session's prompt started."""
        with _as_client_errors():
            if (turn := self._session(session_id).turn) is not None:
                await turn.cancel()

    @property
    def _connected(self) -> Client:
        if self._client is None:
            raise Conflict("No editor is connected.")
        return self._client

    def _home(self, cwd: str) -> Home:
        return open_home(Path(cwd), self._environ, {})

    def _session(self, name: str) -> EditorSession:
        if name not in self._sessions:
            raise NotFound("session", name, "Begin a new one.")
        return self._sessions[name]

    def _wanted(self, session: EditorSession, said: PromptWords) -> RunRequest:
        return self._options._replace(
            request=said.text,
            images=said.images,
            history=session.history,
            by=self._by,
            extra_data={CONVERSATION: session.name},
        )

    async def _replay_history(self, session: str, home: Home, record: Record) -> None:
        story = EditorUpdates(RunFiles(home, is_live=False), self._tell())
        await self._connected.session_update(
            session, update_user_message_text(record.state.request)
        )
        for line in retold(record.entries):
            for update in story.tell(line):
                await self._connected.session_update(session, update)


class PromptWords(NamedTuple):
    """The text of a prompt, and the pictures in it."""

    text: str
    images: tuple[str, ...]


def read_blocks(blocks: Sequence[Block]) -> PromptWords:
    """Return a prompt as a request: text, references, and pictures."""
    texts: list[str] = []
    images: list[str] = []
    for block in blocks:
        match block:
            case TextContentBlock():
                texts.append(block.text)
            case ImageContentBlock():
                images.append(f"data:{block.mime_type};base64,{block.data}")
            case ResourceContentBlock():
                texts.append(f"({block.name}: {block.uri})")
            case EmbeddedResourceContentBlock():
                if isinstance(block.resource, TextResourceContents):
                    texts.append(f"{block.resource.uri}:\n{block.resource.text}")
            case AudioContentBlock():
                raise UsageError("Flyball does not accept audio.", "Say it in writing.")
    text = "\n".join(texts).strip()
    if not text:
        raise UsageError("The prompt is empty.", "Say what you want.")
    return PromptWords(text, tuple(images))


async def _records(home: Home, session: str) -> list[Record]:
    """Return the runs of a conversation, oldest first."""
    records = [await record_of(home, each.run) for each in reversed(await list_runs(home))]
    found = [each for each in records if each.started.shell.get(CONVERSATION) == session]
    if not found:
        raise NotFound("session", session, "Start a new one; the runs of old ones are kept.")
    return found


@contextmanager
def _as_client_errors() -> Generator[None]:
    """Convert errors to the shape that every surface uses."""
    try:
        yield
    except FlyballError as error:
        told = {"code": error.code, "message": error.message, "hint": error.hint}
        code = -32602 if isinstance(error, UsageError | NotFound) else -32603
        raise RequestError(code, f"{error.message} {error.hint}".strip(), told) from error


async def serve(agent: EditorAgent) -> None:
    """Serve an agent over standard input and output until the editor disconnects."""
    await run_agent(cast("Agent", agent))
