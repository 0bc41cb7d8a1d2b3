"""Hook events of hosts (other vendors' agents), in the same terms for all of them."""

from __future__ import annotations

from enum import StrEnum

import msgspec


class Moment(StrEnum):
    """The moment at which a host calls its hook."""

    SESSION_STARTED = "session-started"
    EXPANDING = "expanding"
    """A slash command is about to be expanded into a prompt, and may run a shell on the way."""
    PROMPTED = "prompted"
    BEFORE_CALL = "before-call"
    AFTER_CALL = "after-call"
    STOPPING = "stopping"
    AGENT_STOPPING = "agent-stopping"
    COMPACTING = "compacting"
    CONFIG_CHANGED = "config-changed"
    SESSION_ENDED = "session-ended"
    OTHER = "other"


NAMELESS = "without a name"
"""The session of a host that does not identify its sessions."""


class HostEvent(msgspec.Struct, frozen=True, omit_defaults=True):
    """One thing that happened in a host's session."""

    host: str
    moment: Moment
    session: str
    cwd: str
    name: str = ""
    """The host's own name for the moment."""
    agent: str = ""
    """The sub-agent in which it happened, if any."""
    tool: str = ""
    args: dict[str, object] = msgspec.field(default_factory=dict[str, object])
    call: str = ""
    text: str = ""
    """The person's prompt, the model's last message, or the result of a call."""
    ok: bool = True
    is_interrupted: bool = False
    works_on: bool = False
    """Whether sub-agents are still running in the background."""
    file: str = ""
    """The settings file that changed."""
    is_anew: bool = False
    """Whether a session continues with compacted memory."""
    process: str = ""
    """The host's own process, as the operating system identifies it."""
    hook: int = 0
    """The pid of the hook process that the host started; none if the host asks directly."""
    transcript: str = ""
    """The file in which the host keeps the conversation and its costs."""
    agent_transcript: str = ""
    """The same for the sub-agent that has just stopped."""


class HostAnswer(msgspec.Struct, frozen=True, omit_defaults=True):
    """The governor's answer to a moment: whether it is allowed, and texts for model and person."""

    is_refused: bool = False
    text: str = ""
    """For the model: why it was refused, or what it should know."""
    notice: str = ""
    """For the person."""
    args: dict[str, object] | None = None
    """The arguments with which the host should call its tool instead of the requested ones."""
    is_granted: bool = False
    """Whether the host need not ask its person: the call is safe, or can be undone to the byte."""
    asks: bool = False
    """Whether the host should ask its person in its own way."""


GO_ON = HostAnswer()
