"""Events of a run: facts in the past tense.

Time, ids, token counts and hashes arrive inside events. An event that answers an effect carries the
effect's number; an event from outside (a person, a clock, another process) carries none.
"""

from __future__ import annotations

from enum import StrEnum

import msgspec

from flyball.guards.ledger import Mistake
from flyball.plan.flow import Flow
from flyball.plan.message import AnyMessage
from flyball.plan.template import Template
from flyball.run.policy import Policy, Project
from flyball.terms.budget import Usage
from flyball.terms.call import Call, Outcome, WebLook
from flyball.terms.conflict import Choice, ConflictReport
from flyball.terms.evidence import AnyEvidence, TreeHash
from flyball.terms.intent import Intent, Turn


class Event(msgspec.Struct, frozen=True, kw_only=True, tag_field="type", omit_defaults=True):
    """A fact, the time of it, and the effect that it answers."""

    at: float = 0.0
    effect: int = 0


class CardEvent(Event, frozen=True, kw_only=True):
    """A fact about one card."""

    card: str


def _require(owner: str, **fields: object) -> None:
    for name, value in fields.items():
        if not value or (isinstance(value, str) and not value.strip()):
            raise ValueError(f"{owner}: `{name}` is empty; say what it is")


class RunStarted(Event, frozen=True, kw_only=True, tag="run-started"):
    """A person asked for something."""

    run: str
    request: str
    policy: Policy = Policy()
    images: tuple[str, ...] = ()
    history: tuple[Turn, ...] = ()
    intent: Intent | None = None
    budget: int | None = None
    target: str = ""
    flow: Flow | None = None
    templates: tuple[Template, ...] = ()
    """The project's own templates that its user trusts."""
    shell: dict[str, str] = {}
    """What the shell needs to resume the run in another process; the core ignores it."""

    def __post_init__(self) -> None:
        _require("run-started", run=self.run, request=self.request)


class IntentRead(Event, frozen=True, kw_only=True, tag="intent-read"):
    """The request was classified; `by` says whether rules, a model or the user decided."""

    intent: Intent
    budget: int
    confidence: float = 1.0
    reasons: tuple[str, ...] = ()
    by: str = "rules"


class WorkspaceReady(Event, frozen=True, kw_only=True, tag="workspace-ready"):
    """The run has its own tree, and the ways to verify the project are known."""

    tree: TreeHash
    project: Project = Project()
    branch: str = ""
    ledger: tuple[Mistake, ...] = ()
    """The project's mistakes, as in the ledger when the run begins."""
    has_carried: bool = False
    """Whether the user's uncommitted work came along, as the first commit of the branch."""


class WorkspaceFailed(Event, frozen=True, kw_only=True, tag="workspace-failed"):
    """The run could not be given a tree to work in."""

    error: str


class RolledBack(Event, frozen=True, kw_only=True, tag="rolled-back"):
    """The work of a failed iteration was reverted."""

    tree: TreeHash
    cards: tuple[str, ...] = ()


class Messaged(Event, frozen=True, kw_only=True, tag="messaged"):
    """A message passed over the bus between coordinator, planner, executor and verifier."""

    message: AnyMessage


class Finish(StrEnum):
    """Why a driver ended its reply."""

    STOP = "stop"
    TOOL_CALLS = "tool_calls"
    LENGTH = "length"
    CONTENT_FILTER = "content_filter"
    ERROR = "error"


class DriverReplied(CardEvent, frozen=True, kw_only=True, tag="driver-replied"):
    """The driver replied and may have requested calls."""

    text: str = ""
    calls: tuple[Call, ...] = ()
    finish: Finish = Finish.STOP
    usage: Usage = Usage()
    model: str = ""
    estimate: int = 0
    """How many tokens the request held, by our own estimate, where the driver reports none."""
    looks: tuple[WebLook, ...] = ()
    """What its provider searched and fetched for this reply, on the driver's behalf."""


class DriverFailed(CardEvent, frozen=True, kw_only=True, tag="driver-failed"):
    """The driver gave no reply."""

    error: str
    retryable: bool = True


class CallReturned(CardEvent, frozen=True, kw_only=True, tag="call-returned"):
    """A call was performed; this is its result and the resulting tree."""

    call: str
    outcome: Outcome
    tree: TreeHash
    evidence: tuple[AnyEvidence, ...] = ()
    changed: tuple[str, ...] = ()
    undone: tuple[str, ...] = ()
    snapshot: str = ""
    put_back: tuple[str, ...] = ()
    """Files of the user's, in no commit, that the call removed or overwrote unasked."""
    created: tuple[str, ...] = ()
    """Files that a program made where none was."""
    base: TreeHash = ""
    """The new base of the card: others have changed the same checkout."""


class CallInterrupted(CardEvent, frozen=True, kw_only=True, tag="call-interrupted"):
    """A call was in progress when the process died; its effect is unknown."""

    call: str
    tree: TreeHash
    detail: str = ""
    put_back: tuple[str, ...] = ()
    created: tuple[str, ...] = ()


class CheckpointStated(CardEvent, frozen=True, kw_only=True, tag="checkpoint-stated"):
    """The driver stated what it found and what it will do."""

    goal: str
    findings: str
    proposed_action: str
    files: tuple[str, ...]
    verify_with: tuple[str, ...]
    call: str = ""

    def __post_init__(self) -> None:
        _require(
            "checkpoint",
            goal=self.goal,
            findings=self.findings,
            proposed_action=self.proposed_action,
            files=self.files,
            verify_with=self.verify_with,
        )


class Noted(CardEvent, frozen=True, kw_only=True, tag="noted"):
    """A driver attached a note to the card: text, or risk and assumptions."""

    call: str = ""
    text: str = ""
    risk: str = ""
    assumptions: tuple[str, ...] = ()


class Appealed(CardEvent, frozen=True, kw_only=True, tag="appealed"):
    """A driver asked a person to review a denied call."""

    call: str
    about: str
    reason: str


class ConflictStated(CardEvent, frozen=True, kw_only=True, tag="conflict-stated"):
    """A driver said why its task cannot be done as asked; Flyball has looked the quotes up.

    Without a report there is only the fault: what Flyball did not find.
    """

    call: str = ""
    report: ConflictReport | None = None
    fault: str = ""

    def __post_init__(self) -> None:
        if (self.report is None) == (not self.fault):
            raise ValueError("conflict-stated: give either what was found or what was not")


class EvidenceTaken(CardEvent, frozen=True, kw_only=True, tag="evidence-taken"):
    """Flyball made its own observation; `undone` lists the changes that this made to the tree."""

    evidence: tuple[AnyEvidence, ...]
    undone: tuple[str, ...] = ()
    changed: tuple[str, ...] = ()
    """The files that changed since the inspection began: somebody else modified them."""


class EvidenceSubmitted(CardEvent, frozen=True, kw_only=True, tag="evidence-submitted"):
    """A driver filled in the template's evidence form: a claim."""

    fields: dict[str, object]


class Answered(Event, frozen=True, kw_only=True, tag="answered"):
    """A person answered a question."""

    question: str
    granted: bool
    by: str
    note: str = ""
    choice: Choice | None = None
    """What to follow, where the question is about a conflict."""


class Extended(Event, frozen=True, kw_only=True, tag="extended"):
    """A person added calls to the budget."""

    by: str
    calls: int
    why: str

    def __post_init__(self) -> None:
        _require("extended", by=self.by, why=self.why)
        if self.calls < 1:
            raise ValueError("extended: `calls` must be at least 1")


class PauseAsked(Event, frozen=True, kw_only=True, tag="pause-asked"):
    """A person asked for the run to pause."""

    by: str


class Resumed(Event, frozen=True, kw_only=True, tag="resumed"):
    """A person resumed the run; `tree` is the current state of the workspace.

    `places` has the trees of the cards that work in parallel.
    """

    by: str
    tree: TreeHash = ""
    places: dict[str, TreeHash] = {}

    def tree_of(self, place: str) -> TreeHash:
        """Return the current tree of a card, or None if it has not been inspected."""
        return self.places.get(place, "") if place else self.tree


class Tightened(Event, frozen=True, kw_only=True, tag="tightened"):
    """The machine that now drives the run has its own policy, which applies as well."""

    by: str
    policy: Policy = Policy()
    has_sandbox: bool = True


class Cancelled(Event, frozen=True, kw_only=True, tag="cancelled"):
    """A person ended the run."""

    by: str
    why: str = ""


class ThreadReset(CardEvent, frozen=True, kw_only=True, tag="thread-reset"):
    """The card continues in a new thread that starts from a hand-over."""

    reason: str
    text: str


class CardClosed(CardEvent, frozen=True, kw_only=True, tag="card-closed"):
    """The card's work is committed and its artifacts are written.

    `tree` is the run's tree after the work of a parallel card was merged.
    """

    commit: str = ""
    error: str = ""
    tree: TreeHash = ""


AnyEvent = (
    RunStarted
    | IntentRead
    | WorkspaceReady
    | WorkspaceFailed
    | RolledBack
    | Messaged
    | DriverReplied
    | DriverFailed
    | CallReturned
    | CallInterrupted
    | CheckpointStated
    | Noted
    | Appealed
    | ConflictStated
    | EvidenceTaken
    | EvidenceSubmitted
    | Answered
    | Extended
    | PauseAsked
    | Resumed
    | Tightened
    | Cancelled
    | ThreadReset
    | CardClosed
)

EVENTS: tuple[type[Event], ...] = AnyEvent.__args__


def name_of(kind: type[Event]) -> str:
    """Return an event's name in the journal, the diagram and the documents."""
    return str(kind.__struct_config__.tag)
