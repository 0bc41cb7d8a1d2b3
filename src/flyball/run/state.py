"""A run and its cards, as values. The journal folds into these; nothing else assigns them."""

from __future__ import annotations

from enum import StrEnum
from typing import NamedTuple

import msgspec

from flyball.guards.guard import Trip
from flyball.guards.guard_memory import Memory
from flyball.guards.ledger import Failure, Mistake
from flyball.plan.coordinator import Coordinator
from flyball.plan.escalation import Trouble
from flyball.plan.flow import Flow
from flyball.plan.message import UserResponse
from flyball.plan.plan import StepExecution
from flyball.plan.template import Escalation, Role, Template
from flyball.plan.verdict import Ruling
from flyball.run.effect import AnyEffect, CardEffect, CloseCard, Owed
from flyball.run.policy import Policy, Project
from flyball.terms.budget import Budget, Spend
from flyball.terms.call import Call
from flyball.terms.change_verdict import ChangeVerdict
from flyball.terms.conflict import ConflictReport
from flyball.terms.evidence import AnyEvidence, Strength, TreeHash, VerdictReport
from flyball.terms.evidence_rows import latest_of, strongest
from flyball.terms.intent import Intent
from flyball.terms.phase import ENDINGS, Phase


class Checkpoint(msgspec.Struct, frozen=True):
    """The driver's plan, stated before it may write."""

    goal: str
    findings: str
    proposed_action: str
    files: tuple[str, ...]
    verify_with: tuple[str, ...]
    tree: TreeHash = ""


class Asking(StrEnum):
    """What a paused card is waiting for."""

    CALL = "call"
    CHECKPOINT = "checkpoint"
    EXTENSION = "extension"
    PROMOTION = "promotion"
    WEAKENED_TESTS = "weakened-tests"
    APPEAL = "appeal"
    REVIEW = "review"
    GUARD = "guard"
    DRIVER = "driver"
    CONTENT_FILTER = "content-filter"
    LIMIT = "limit"
    PERSON = "person"
    FAILURE = "failure"
    CONFLICT = "conflict"


class Question(msgspec.Struct, frozen=True, omit_defaults=True):
    """A question to a person, and how the card continues."""

    id: str
    kind: Asking
    text: str
    call: Call | None = None
    appeal: str = ""
    guard: str = ""
    """The guard that asks, where one does."""
    conflict: ConflictReport | None = None
    """The two quotes that a driver could not satisfy together."""


class Ending(StrEnum):
    """How a run or a card ended; `core.run.ending` derives it, and cards store the facts it
    needs."""

    SUCCEEDED = "succeeded"
    ANSWERED = "answered"
    UNCHANGED = "unchanged"
    UNVERIFIED = "unverified"
    NEEDS_YOU = "needs-you"
    STOPPED = "stopped"
    FAILED = "failed"
    CANCELLED = "cancelled"
    """Stored only: a person cancelled the card. It is shown as stopped."""

    @property
    def words(self) -> str:
        """Return the ending as shown to people."""
        return "nothing changed" if self is Ending.UNCHANGED else self.value.replace("-", " ")


class GovernorMessage(msgspec.Struct, frozen=True, omit_defaults=True):
    """Something the governor says to the driver: the answer to a call, or a line in the thread."""

    kind: str
    text: str
    call: str = ""
    guard: str = ""
    """The guard that speaks, if any."""


class Denial(msgspec.Struct, frozen=True, omit_defaults=True):
    """A call that was refused, kept to recognise a repeat or an appeal."""

    call: str
    tool: str
    digest: str
    code: str
    reason: str
    times: int = 1
    appealed: bool = False


BY_PROVIDER = "by_provider"
"""The code of a call that a model's provider made inside a reply; the reason is what it asked."""


class Judged(msgspec.Struct, frozen=True, omit_defaults=True):
    """The answer to one call, for the record."""

    call: str
    tool: str
    answer: str
    code: str = ""
    reason: str = ""


class Clock(msgspec.Struct, frozen=True, omit_defaults=True):
    """Seconds spent in each outer region; pauses do not count."""

    plan: float = 0.0
    build: float = 0.0
    warned: tuple[str, ...] = ()


class Remark(msgspec.Struct, frozen=True, omit_defaults=True):
    """A note on the card."""

    role: str
    text: str = ""
    risk: str = ""
    assumptions: tuple[str, ...] = ()


LONGEST_SUBJECT = 100


class CardState(msgspec.Struct, frozen=True, omit_defaults=True):
    """One unit of work and all that the governor remembers about it."""

    id: str
    template: Template
    title: str
    base: TreeHash
    tree: TreeHash
    step: str = ""
    """The step of the plan that this card works on; planner and verifier have none."""
    place: str = ""
    """The parallel worktree that this card works in, if it has one."""
    phase: Phase = Phase.ANALYZE_CODE
    was: Phase = Phase.ANALYZE_CODE
    attempt: int = 1
    turns: int = 0
    at: float = 0.0

    checkpoint: Checkpoint | None = None
    drift: tuple[str, ...] = ()
    queue: tuple[Call, ...] = ()
    in_flight: tuple[Call, ...] = ()
    question: Question | None = None
    granted: tuple[str, ...] = ()
    refused: tuple[str, ...] = ()
    released: tuple[str, ...] = ()
    """Files whose keep regions were released, by the policy or a person."""
    denials: tuple[Denial, ...] = ()

    evidence: tuple[AnyEvidence, ...] = ()
    claims: dict[str, object] = msgspec.field(default_factory=dict[str, object])
    changed: tuple[str, ...] = ()
    """The files that this card's calls have changed."""
    made: tuple[str, ...] = ()
    """Those of them that only programs made, and no tool has written."""
    mutated_at: int = 0
    verified_at: int = 0
    calls: int = 0
    memory: Memory = Memory()
    clock: Clock = Clock()

    thread_tokens: int = 0
    """How much the driver had to read when it last replied, and when this thread began."""
    opening_tokens: int = 0
    continues: int = 0
    driver_errors: int = 0
    rejections: int = 0
    rejected_trees: tuple[TreeHash, ...] = ()
    """The trees at which a stop was rejected, in a host that can stop as often as it likes."""
    idle_stops: int = 0
    is_summing_up: bool = False
    is_cut_short: bool = False
    """Whether the answer was given because the budget was spent."""
    is_reviewing: bool = False
    is_reviewed: bool = False
    accepted_weakening: TreeHash = ""
    asked_for_red: bool = False
    """Whether a test that fails without the change was asked for; it is, once."""
    accepted_review: TreeHash = ""
    remarks: tuple[Remark, ...] = ()
    answer: str = ""
    ending: Ending | None = None
    ending_reason: str = ""
    failures_in_row: int = msgspec.field(default=0, name="setbacks")
    """How often the card failed its own gates."""
    form_slips: int = 0
    halted: Trip | None = None
    """Why a guard stopped the card while calls were still under way."""
    verdicts: tuple[Ruling, ...] = ()
    """What each gate answered when it was last asked."""
    trouble: Trouble | None = None
    """The class of the last setback."""
    escalation: Escalation | None = None
    """What the card's end asks for, if the template's policy says so."""
    failures: tuple[Failure, ...] = ()
    """The failures so far, in the form the ledger keeps."""
    commit: str = ""
    commit_message: str = ""
    """The driver's proposed commit message."""
    is_taken_back: bool = False

    said: tuple[GovernorMessage, ...] = ()
    judged: tuple[Judged, ...] = ()
    tripped: tuple[Trip, ...] = ()

    @property
    def is_live(self) -> bool:
        return self.phase not in ENDINGS

    def asks_about(self, digest: str) -> bool:
        """Return whether a person is being asked about this exact call."""
        question = self.question
        return question is not None and question.call is not None and question.call.digest == digest

    @property
    def held_call(self) -> Call | None:
        """Return the call that waits for a person's approval, if any."""
        return self.question.call if self.question else None

    @property
    def has_changed(self) -> bool:
        """Return whether the tree differs from where the card began."""
        return self.tree != self.base

    @property
    def subject(self) -> str:
        """Return the first line of its commit message: what the change does, not the complaint
        behind it.

        The title is the last choice, since that of a run's only card is the request.
        """
        goal = self.checkpoint.goal if self.checkpoint else ""
        for text in (self.commit_message, goal, self.title):
            if line := text.strip().partition("\n")[0].strip().removesuffix("."):
                return line if len(line) <= LONGEST_SUBJECT else _cut(line)
        return self.id

    @property
    def role(self) -> str:
        """Return the driver's current role."""
        if self.is_reviewing:
            return Role.REVIEWER
        template = self.template
        if self.phase is Phase.ANALYZE_CODE and Phase.RESEARCH in template.phases:
            return Role.RESEARCHER if template.may_mutate else template.role
        return template.role

    @property
    def review(self) -> Remark:
        """Return the notes of risk and assumptions, or else a reviewer's own words."""
        risks = [remark.risk for remark in self.remarks if remark.risk]
        said = [remark.text for remark in self.remarks if remark.role == Role.REVIEWER]
        assumed = dict.fromkeys(each for remark in self.remarks for each in remark.assumptions)
        risk = "; ".join(risks or filter(None, said))
        return Remark(Role.REVIEWER, risk=risk, assumptions=(*assumed,))

    @property
    def strength(self) -> Strength:
        """Return how much is shown of the current tree."""
        return strongest(self.evidence, self.tree, self.base)

    @property
    def verdict(self) -> ChangeVerdict | None:
        """Return Flyball's verdict on the current change, if it was taken."""
        found = latest_of(self.evidence, VerdictReport)
        return found.verdict if found is not None and found.tree == self.tree else None

    @property
    def label(self) -> str:
        """Describe how much is shown of the current tree, in words that every surface uses."""
        verdict = self.verdict
        return verdict.headline if verdict is not None else self.strength.label

    @property
    def status(self) -> str:
        """Return the board column of this card."""
        if self.is_taken_back:
            return "reverted"
        if self.phase is Phase.SUCCEEDED:
            return "done"
        if self.phase is Phase.FAILED:
            is_open = self.ending is Ending.STOPPED and self.has_changed
            return "review" if is_open or self.ending is Ending.UNVERIFIED else "failed"
        if self.phase is Phase.CANCELLED:
            return "failed"
        if self.phase is Phase.PAUSED:
            return "paused"
        if self.phase is Phase.FINAL:
            return "review"
        return "verifying" if self.phase is Phase.VERIFY else "doing"


def _cut(line: str) -> str:
    """Shorten a line to as many whole words as fit."""
    return f"{line[:LONGEST_SUBJECT].rpartition(' ')[0] or line[:LONGEST_SUBJECT]}…"


class RunStage(StrEnum):
    """The stage of a run between request and response, derived from what is known of it."""

    NEW = "new"
    READING = "reading"
    OPENING = "opening"
    WORKING = "working"
    ENDED = "ended"

    @property
    def words(self) -> str:
        """Explain why an event is not legal in this stage."""
        return {
            RunStage.NEW: "the run has not started",
            RunStage.READING: "the intent is not known yet",
            RunStage.OPENING: "the run has no workspace yet",
            RunStage.WORKING: "the run is under way",
            RunStage.ENDED: "the run has ended",
        }[self]


class RunState(msgspec.Struct, frozen=True, omit_defaults=True):
    """One governed request."""

    run: str = ""
    seq: int = 0
    at: float = 0.0
    request: str = ""
    images: tuple[str, ...] = ()
    intent: Intent | None = None
    budget: Budget = Budget(calls=0)
    spend: Spend = Spend()
    policy: Policy = Policy()
    project: Project = Project()
    base: TreeHash = ""
    tree: TreeHash = ""
    snapshot: TreeHash = ""
    """The tree that the present plan began from."""
    since: int = 0
    """How many cards there were by then."""
    branch: str = ""
    target: str = ""
    flow: Flow | None = None
    templates: tuple[Template, ...] = ()
    ledger: tuple[Mistake, ...] = ()
    wished_budget: int | None = None
    decided: tuple[str, ...] = ()
    """Files that a person decided against in a conflict: what their tests say may be changed."""
    cards: tuple[CardState, ...] = ()
    executions: tuple[StepExecution, ...] = msgspec.field(default=(), name="errands")
    coordinator: Coordinator | None = None
    owed: tuple[Owed, ...] = ()
    effects: int = 0
    response: UserResponse | None = None

    @property
    def stage(self) -> RunStage:
        # Derived and not stored: a field beside what it follows from could disagree with it.
        if not self.run:
            return RunStage.NEW
        if self.response is not None:
            return RunStage.ENDED
        if self.intent is None:
            return RunStage.READING
        return RunStage.OPENING if self.coordinator is None else RunStage.WORKING

    def verdict_on(self, tree: TreeHash) -> ChangeVerdict | None:
        """Return Flyball's verdict on everything the run changed up to a tree, if it was taken."""
        for card in self.cards:
            for item in card.evidence:
                if isinstance(item, VerdictReport) and (item.base, item.tree) == (self.base, tree):
                    return item.verdict
        return None

    @property
    def has_ended(self) -> bool:
        return self.response is not None

    @property
    def paused(self) -> tuple[CardState, ...]:
        """Return the cards that wait for a person."""
        return tuple([card for card in self.cards if card.phase is Phase.PAUSED])

    @property
    def is_at_rest(self) -> bool:
        """Return whether nothing more happens until a person acts."""
        return self.has_ended or not self.due

    @property
    def due(self) -> tuple[Owed, ...]:
        """Return the effects that the shell must perform now, in order.

        Paused cards keep their effects for later, and parallel cards are closed in the order in
        which they were opened.
        """
        waiting = [card.id for card in self.cards if card.phase is Phase.PAUSED]
        beside = [card.id for card in self.cards if card.place and card.is_live]
        if not waiting and len(beside) < 2:
            return self.owed
        return tuple(owed for owed in self.owed if not _must_wait(owed.effect, waiting, beside))

    def left_behind(self, card: str = "") -> tuple[str, ...]:
        """Return files of cards up to this one that programs made and no tool wrote: not
        committed."""
        found: dict[str, None] = {}
        for each in self.cards:
            written = {*each.changed} - {*each.made}
            found = {path: None for path in found if path not in written}
            found |= dict.fromkeys(each.made)
            if each.id == card:
                break
        return tuple(found)

    def card(self, id: str) -> CardState | None:
        for card in self.cards:
            if card.id == id:
                return card
        return None


def _must_wait(effect: AnyEffect, paused: list[str], beside: list[str]) -> bool:
    if not isinstance(effect, CardEffect):
        return False
    is_behind = isinstance(effect, CloseCard) and effect.card in beside[1:]
    return is_behind or effect.card in paused


class Transition(NamedTuple):
    """The result of an event: the next state, and the newly owed effects."""

    state: RunState
    effects: tuple[AnyEffect, ...]
