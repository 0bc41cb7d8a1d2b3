"""What a host (somebody else's agent) tells its hooks, in the same words for all of them."""

from __future__ import annotations

from enum import StrEnum

import msgspec


class Moment(StrEnum):
    """When a host speaks to us."""

    SESSION_STARTED = "session-started"
    EXPANDING = "expanding"
    """A slash command is about to be made a prompt, and may run a shell on the way."""
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
"""The session of a host that does not tell its sessions apart."""


class HostEvent(msgspec.Struct, frozen=True, omit_defaults=True):
    """One thing that happened in a host's session."""

    host: str
    moment: Moment
    session: str
    cwd: str
    name: str = ""
    """The host's own name for the moment."""
    agent: str = ""
    """The sub-agent that it happened in, if it was one."""
    tool: str = ""
    args: dict[str, object] = msgspec.field(default_factory=dict[str, object])
    call: str = ""
    text: str = ""
    """The person's prompt, the model's last words, or what a call came to."""
    ok: bool = True
    is_interrupted: bool = False
    works_on: bool = False
    """Whether sub-agents are still at work in the background."""
    file: str = ""
    """The settings file that changed."""
    is_anew: bool = False
    """Whether a session goes on with a shortened memory."""
    process: str = ""
    """The host's own process, as the machine knows it."""
    hook: int = 0
    """The number of the process that the host has called; none where it asks by itself."""
    transcript: str = ""
    """The file in which the host keeps what was said, and what it was billed for."""
    agent_transcript: str = ""
    """The same of the sub-agent that has just stopped."""


class HostAnswer(msgspec.Struct, frozen=True, omit_defaults=True):
    """What the governor says to a moment: whether it may be, and words for model and person."""

    is_refused: bool = False
    text: str = ""
    """For the model: why not, or what it should know."""
    notice: str = ""
    """For the person."""
    args: dict[str, object] | None = None
    """The arguments that the host shall call its tool with, in the place of those it asked for."""
    is_granted: bool = False
    """Whether the host need not ask its person: the call is safe, or can be undone to the byte."""
    asks: bool = False
    """Whether the host shall ask its person in its own way."""


GO_ON = HostAnswer()
