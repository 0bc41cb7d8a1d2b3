"""What a run asks, as a request for a permission, and the word that the choice stands for."""

from __future__ import annotations

from acp import text_block, tool_content
from acp.schema import (
    ContentToolCallContent,
    FileEditToolCallContent,
    PermissionOption,
    PermissionOptionKind,
    TerminalToolCallContent,
    ToolCallUpdate,
)

from flyball.app.answering import RESTING, Pending, asked, next_steps, no, pending, yes
from flyball.app.driving import Word
from flyball.core.run.event import AnyEvent
from flyball.core.run.state import Asking, Checkpoint, RunState
from flyball.errors import Conflict
from flyball.surfaces.acp.edit import RunFiles, diff_content, locations
from flyball.surfaces.acp.update import call_id, kind_of

LONGEST = 4_000
"""Characters of one argument that a person is shown with the question about it."""
Content = ContentToolCallContent | FileEditToolCallContent | TerminalToolCallContent
YES, NO = "approve", "deny"
KINDS: dict[str, PermissionOptionKind] = {YES: "allow_once", NO: "reject_once"}


def to_choose(state: RunState) -> Pending | None:
    """The question that a yes or a no answers; what words answer is told, and waits for them."""
    waiting = pending(state)
    return waiting[0] if waiting and waiting[0].question.kind not in RESTING else None


def tool_call(run: str, asks: Pending, files: RunFiles) -> ToolCallUpdate:
    """What the person decides about: the exact call, or the question alone."""
    card, question = asks
    call = question.call
    if call is None:
        promise = card.checkpoint if question.kind is Asking.CHECKPOINT else None
        return ToolCallUpdate(
            tool_call_id=call_id(run, card.id, question.id),
            title=question.text,
            kind="other",
            status="pending",
            content=[_words(_promised(promise))] if promise else None,
        )
    diff = call.preview or str(call.args.get("diff", ""))
    shown: list[Content] = [*diff_content(diff, files)]
    args = {name: str(value)[:LONGEST] for name, value in call.args.items()}
    said = "\n".join(f"{name}: {text}" for name, text in args.items())
    return ToolCallUpdate(
        tool_call_id=call_id(run, card.id, call.id),
        title=f"{call.tool}: {question.text}",
        kind=kind_of(call.tool),
        status="pending",
        content=shown or [_words(said)],
        locations=locations([fact.path for fact in call.paths], files),
        raw_input=args,
    )


def options(state: RunState) -> list[PermissionOption]:
    """Yes and no, in the words of what each of them does."""
    steps = {step.command.split()[1]: step.effect for step in next_steps(state, "paused")}
    return [
        PermissionOption(option_id=verb, name=f"{verb.capitalize()}: {steps[verb]}", kind=kind)
        for verb, kind in KINDS.items()
        if verb in steps
    ]


def word(asks: Pending, option: str, by: str) -> Word:
    """A person's choice, for the question that they saw and no other."""

    def said(state: RunState) -> AnyEvent:
        if asked(state).id != asks.question.id:
            raise Conflict(f"Run {state.run} asks something else by now.", "Look at it again.")
        return yes(state, by) if option == YES else no(state, by)

    return said


def _promised(promise: Checkpoint) -> str:
    """A checkpoint, all of it: whoever accepts it has seen it."""
    return "\n\n".join(
        (
            f"Goal: {promise.goal}",
            f"Found: {promise.findings}",
            f"Will: {promise.proposed_action}",
            f"Files: {', '.join(promise.files)}",
            f"Verify with: {', '.join(promise.verify_with)}",
        )
    )


def _words(text: str) -> ContentToolCallContent:
    return tool_content(text_block(text))
