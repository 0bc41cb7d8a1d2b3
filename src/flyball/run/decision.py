"""Decide whether a call may be made: an ordered list of objections, the first of which wins."""

from __future__ import annotations

from collections.abc import Callable, Collection

import msgspec

from flyball.run.state import CardState, Checkpoint, RunState
from flyball.terms.budget import is_reserved, spent_limit
from flyball.terms.call import WEB_SEARCH, Access, Call
from flyball.terms.intent import MAY_MUTATE
from flyball.terms.phase import RECON, Phase
from flyball.terms.tool import FREE_TOOLS, is_reachable


class Allow(msgspec.Struct, frozen=True, tag="allow"):
    """The call may be made."""


class Ask(msgspec.Struct, frozen=True, tag="ask"):
    """A person must approve this exact call."""

    code: str
    reason: str


class Deny(msgspec.Struct, frozen=True, tag="deny"):
    """The call is not made; the reason says what to do instead."""

    code: str
    reason: str


Decision = Allow | Ask | Deny

APPEALABLE = frozenset(
    {"command_refused", "confirmation_missing", "keep_region", "refused_by_a_person", "protected"}
)
"""Objections that a person may set aside; the others are promises."""

CHECKPOINT_FORM = "goal, findings, proposed_action, files, verify_with"

RECOVERY = {
    Phase.ANALYZE_CODE: f"State a checkpoint first: {CHECKPOINT_FORM}.",
    Phase.RESEARCH: f"State a checkpoint first: {CHECKPOINT_FORM}.",
    Phase.DESIGN: "Think, write a note, then state a checkpoint.",
    Phase.CHECKPOINT: f"State the checkpoint now: {CHECKPOINT_FORM}.",
    Phase.EXECUTE: "",
    Phase.VERIFY: "Run `test` or `check`; to change something, state a new checkpoint.",
    Phase.FINAL: "Answer in text; the work is finished.",
    Phase.PAUSED: "A person must answer first.",
    Phase.SUCCEEDED: "The card has ended.",
    Phase.FAILED: "The card has ended.",
    Phase.CANCELLED: "The card has ended.",
}

ROLE_TOOLS: dict[str, frozenset[Access]] = {
    "planner": frozenset({Access.READ, Access.VERIFY}),
    "researcher": frozenset({Access.READ}),
    "reviewer": frozenset({Access.READ}),
    "verifier": frozenset({Access.READ, Access.VERIFY}),
    "executor": frozenset(Access),
}

Objection = Callable[[RunState, CardState, Call], str | None]


def out_of_phase(run: RunState, card: CardState, call: Call) -> str | None:
    if is_reachable(call.tool, call.access, card.phase):
        return None
    where = card.phase.name_for_people
    if not may_build(run, card) and call.access is Access.MUTATE and card.phase.is_in(RECON):
        return (
            f"`{call.name}` {call.access.verb}, but this run is read-only. To propose the change, "
            "state a checkpoint; a person may then let the run make it."
        )
    return (
        f"`{call.name}` {call.access.verb}, and {where} does not allow that. {RECOVERY[card.phase]}"
    )


def out_of_role(_run: RunState, card: CardState, call: Call) -> str | None:
    if call.access in ROLE_TOOLS[card.role]:
        return None
    allowed = " and ".join(sorted(access.value for access in ROLE_TOOLS[card.role]))
    return (
        f"A {card.role} may use only {allowed} tools, so `{call.name}` is not made. "
        "Report what you found instead."
    )


def no_tools(run: RunState, _card: CardState, call: Call) -> str | None:
    if call.tool in FREE_TOOLS or run.budget.limit:
        return None
    return f"This request needs no tools, so `{call.name}` was not made. Answer in text."


def budget_spent(run: RunState, _card: CardState, call: Call) -> str | None:
    if call.tool in FREE_TOOLS:
        return None
    if used_up := spent_limit(run.budget, run.spend):
        return f"`{call.name}` was not made: {used_up}. Summarise what is done and what is left."
    return None


def reserve_only(run: RunState, card: CardState, call: Call) -> str | None:
    if not is_reserved(run.budget, run.spend, call, has_mutated=card.has_changed):
        return None
    return (
        f"`{call.name}` was not made: the last {run.budget.reserve} calls of the budget are kept "
        "for verification. Run `test` or `check`, or stop and say what is left."
    )


def checkpoint_owed(run: RunState, card: CardState, call: Call) -> str | None:
    if call.access is not Access.MUTATE:
        return None
    if card.checkpoint is None:
        return f"`{call.name}` is not made before a checkpoint. {RECOVERY[Phase.CHECKPOINT]}"
    outside = new_drift(card, card.checkpoint, call)
    if len(card.drift) + len(outside) <= run.policy.max_scope_drift:
        return None
    names = ", ".join(outside)
    return (
        f"`{call.name}` would change {names}, which the checkpoint did not name, and "
        f"{len(card.drift)} such files were changed already. "
        "State a new checkpoint that names them."
    )


def outside(_run: RunState, _card: CardState, call: Call) -> str | None:
    for fact in call.paths:
        if not fact.inside:
            return f"{fact.path} is outside the workspace. Name a path inside it, from its root."
    return None


def protected(run: RunState, _card: CardState, call: Call) -> str | None:
    for fact in call.paths:
        if fact.write and fact.protected and not _may_modify_itself(run, fact.path):
            return f"{fact.path} is protected: {fact.protected}. Leave it to the user."
    return None


def keep_region(run: RunState, _card: CardState, call: Call) -> str | None:
    if call.keeps_regions or run.policy.release_keep_regions:
        return None
    return (
        f"`{call.name}` asks to edit inside keep regions, and the policy does not allow that. "
        "Edit outside the VIBE-KEEP markers and leave keepRegions on."
    )


def bash_disabled(run: RunState, _card: CardState, call: Call) -> str | None:
    if call.tool != "bash" or run.policy.bash:
        return None
    return f"{BASH_IS_OFF} Use read, grep, list, edit_diff, test and check instead."


BASH_IS_OFF = (
    "`bash` is off here; a person turns it on with `bash.enabled = true` in "
    "~/.config/flyball/config.toml, or with FLYBALL_ENABLE_BASH=1."
)


def unattended_bash(run: RunState, _card: CardState, call: Call) -> str | None:
    if call.tool != "bash" or run.project.sandbox != "none" or run.policy.bash_without_sandbox:
        return None
    return "`bash` is refused because no sandbox is available on this machine. Use the other tools."


def command_refused(_run: RunState, _card: CardState, call: Call) -> str | None:
    fact = call.command
    if fact is None or fact.decision != "deny":
        return None
    return f"The command is not allowed: {fact.reason} Use a simpler command, or another tool."


def confirmation_missing(_run: RunState, _card: CardState, call: Call) -> str | None:
    if not call.destructive or call.confirmed:
        return None
    return (
        f"`{call.name}` {call.destructive}. If that is meant, repeat the call with confirm: true."
    )


def refused_by_a_person(_run: RunState, card: CardState, call: Call) -> str | None:
    if call.digest not in card.refused:
        return None
    return "A person refused exactly this call. Do something else, or ask them why."


def repeated_after_denial(_run: RunState, card: CardState, call: Call) -> str | None:
    for denial in card.denials:
        if denial.digest == call.digest and denial.times >= 3:
            return f"Denied {denial.times} times already: {denial.reason} Do something else."
    return None


def mutation_in_flight(run: RunState, card: CardState, call: Call) -> str | None:
    # Around a host nobody may be waited for: it does not say when its person refused a call.
    if call.access is not Access.MUTATE or run.policy.hosted:
        return None
    for other in card.in_flight:
        if other.access is Access.MUTATE:
            return f"`{other.name}` is still changing the workspace. Wait for its outcome."
    return None


# The order is what a driver learns first. Where it may not be at all comes before what the call
# would do there, promises before what a person may set aside, and repetition almost last: as long
# as the first reason holds, the driver hears that one and not that it was said before.
OBJECTIONS: tuple[Objection, ...] = (
    out_of_phase,
    out_of_role,
    no_tools,
    budget_spent,
    reserve_only,
    checkpoint_owed,
    outside,
    protected,
    keep_region,
    bash_disabled,
    unattended_bash,
    command_refused,
    confirmation_missing,
    refused_by_a_person,
    repeated_after_denial,
    mutation_in_flight,
)


def decide(state: RunState, call: Call, card: str = "") -> Decision:
    """Decide whether a card, the named one or else the live one, may make this call."""
    for each in state.cards:
        if each.id == card or (not card and each.is_live):
            return judge(state, each, call)
    return Deny("not_live", "No card of this run is live, so nothing may be done in it.")


def judge(run: RunState, card: CardState, call: Call) -> Decision:
    """Return the first objection; without one, a doubtful call needs a person's approval."""
    if call.fault:
        return Deny("malformed", call.fault)
    for objection in OBJECTIONS:
        reason = objection(run, card, call)
        # A person's grant sets one objection aside, not the list: the others are still asked.
        if reason is not None:
            name = objection.__name__
            if not (name in APPEALABLE and call.digest in card.granted):
                return Deny(name, reason)
    if (doubt := _doubt(run, card, call)) and call.digest not in card.granted:
        return Allow() if run.policy.assume_yes else doubt
    return Allow()


def _doubt(run: RunState, card: CardState, call: Call) -> Ask | None:
    if call.destructive:
        return Ask("destructive", f"`{call.name}` {call.destructive.removesuffix('.')}.")
    if call.command is not None and call.command.decision == "ask":
        return Ask("command", f"The command needs a person's approval: {call.command.reason}")
    for fact in call.paths:
        if fact.write and fact.untracked:
            return Ask("untracked", f"{fact.path} is not in git; its content would be lost.")
    if run.policy.preview and call.access is Access.MUTATE and card.phase is Phase.EXECUTE:
        return Ask("preview", f"`{call.name}` waits to be applied.")
    return None


def web_looks(run: RunState, card: CardState) -> int:
    """Return how many web searches and fetches the provider may make in its next reply.

    A provider searches before Flyball can ask anyone, so permission is settled beforehand, as for
    any call that reads; the remaining budget, less its reserve, is the limit.
    """
    if not run.policy.web:
        return 0
    look = Call("", WEB_SEARCH, access=Access.READ)
    if not isinstance(judge(run, card, look), Allow):
        return 0
    kept = run.budget.reserve if card.has_changed else 0
    return min(max(run.budget.limit - run.spend.calls - kept, 0), MOST_LOOKS)


MOST_LOOKS = 8
"""The most web lookups in one reply: after that the driver must say what it found."""


def may_replace_untracked(run: RunState, card: CardState, call: Call, path: str) -> bool:
    """Return whether an allowed call may also delete or overwrite this uncommitted file.

    If the call names the file, a person was asked about it. If a program replaces a file that its
    call does not name, only a person's approval of that exact command covers it: a test run never
    has one.
    """
    if path in call.writes:
        return True
    is_doubtful = bool(call.destructive) or (call.command and call.command.decision == "ask")
    return bool(is_doubtful) and (run.policy.assume_yes or call.digest in card.granted)


def may_build(run: RunState, card: CardState) -> bool:
    """Return whether this card may change anything at all."""
    return Phase.EXECUTE in card.template.phases and (
        run.intent is None or run.intent in MAY_MUTATE
    )


def new_drift(card: CardState, checkpoint: Checkpoint, call: Call) -> tuple[str, ...]:
    """Return the files a call would change that neither the checkpoint nor earlier drift names."""
    named = (*checkpoint.files, *card.drift)
    return tuple([path for path in call.writes if not is_named(path, named)])


def is_named(path: str, names: Collection[str]) -> bool:
    """Return whether a file is named, itself or through a directory above it."""
    if path in names:
        return True
    return any(name.endswith("/") and path.startswith(name) for name in names)


def _may_modify_itself(run: RunState, path: str) -> bool:
    return run.policy.self_modify and (
        path == "flyball.toml" or path.startswith(".flyball/templates/")
    )
