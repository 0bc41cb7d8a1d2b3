"""Combine findings into one answer for a phase."""

from __future__ import annotations

from collections.abc import Sequence

from flyball.shell.judgement import (
    AllowRule,
    Answer,
    CommandKind,
    CommandPart,
    Finding,
    Judgement,
)
from flyball.shell.walk.walk import Walk
from flyball.shell.words.place import Scope

PHASES = ("recon", "checkpoint", "execute", "verify", "final")

_LOOKS: dict[CommandKind, Answer] = {
    CommandKind.READ_ONLY: "allow",
    CommandKind.VERIFICATION: "allow",
}
ANSWERS: dict[str, dict[CommandKind, Answer]] = {
    "recon": _LOOKS,
    "checkpoint": {},
    "execute": {**_LOOKS, CommandKind.MUTATING: "allow", CommandKind.DESTRUCTIVE: "ask"},
    "verify": _LOOKS,
    "final": {},
}
"""Each phase's answer to each class; missing ones are denied."""

_ADVICE = {
    CommandKind.READ_ONLY: "State the checkpoint or give the answer; no command runs here.",
    CommandKind.VERIFICATION: "State the checkpoint or give the answer; no command runs here.",
    CommandKind.MUTATING: (
        "Only read and verify here; changes are allowed in execute, after a checkpoint."
    ),
    CommandKind.DESTRUCTIVE: (
        "Only read and verify here; in execute this also needs a person's approval."
    ),
    CommandKind.UNKNOWN: "Write it as plain commands whose words are known beforehand.",
}


def phase_of(name: str) -> str | None:
    """Return the phase of a name: `recon`, or dotted as in `plan.recon.research`."""
    parts = name.strip().lower().split(".")
    return next((part for part in reversed(parts) if part in PHASES), None)


def judge(
    command: str,
    *,
    phase: str = "execute",
    allow: Sequence[AllowRule] = (),
    root: str = "",
    fresh: bool = True,
    secrets: Sequence[str] = (),
) -> Judgement:
    """Judge a shell command for a phase.

    `root` is the absolute path of the workspace, so that absolute paths in it count as inside. The
    command is assumed to start there, in a `fresh` shell without state from earlier commands.
    `secrets` are the user's patterns of secret files, in addition to the built-in table.
    """
    place = phase_of(phase)
    if place is None:
        raise ValueError(f"unknown phase {phase!r}; known are {', '.join(PHASES)}")
    findings = findings_of(command, allow=allow, root=root, fresh=fresh, secrets=secrets)
    worst = max(findings, key=lambda f: (f.veto, f.kind.severity, f.effect.severity))
    kind = max((f.kind for f in findings), key=lambda k: k.severity)
    answer = "deny" if worst.veto else ANSWERS[place].get(kind, "deny")
    return Judgement(
        decision=answer,
        kind=kind,
        reason=_sentence(worst, answer, place),
        parts=tuple(CommandPart(f.text, f.kind, f.reason, f.effect) for f in findings),
        effect=max((f.effect for f in findings), key=lambda e: e.severity),
    )


def findings_of(
    command: str,
    *,
    allow: Sequence[AllowRule] = (),
    root: str = "",
    fresh: bool = True,
    secrets: Sequence[str] = (),
) -> tuple[Finding, ...]:
    """Return all findings about a command, at least one."""
    if not command.strip():
        return (Finding(command, CommandKind.UNKNOWN, "there is no command"),)
    scope = Scope(root.rstrip("/"), secrets=tuple(secrets))
    found = Walk(scope, allow, fresh=fresh).over(command)
    return tuple(found) or (Finding(command, CommandKind.READ_ONLY, "it runs nothing"),)


def commands_in(command: str, *, root: str = "") -> tuple[tuple[str, ...], ...]:
    """Return the words of every simple command that would run, including those inside `sh -c` or
    `env`.

    Of an unknown word only its known beginning is returned; of unparsed text, nothing.
    """
    walk = Walk(Scope(root.rstrip("/")))
    walk.over(command)
    return tuple(walk.commands)


def _sentence(worst: Finding, answer: Answer, phase: str) -> str:
    text = worst.text if len(worst.text) <= 80 else worst.text[:77] + "…"
    fact = f"`{text}` is {worst.kind}: {worst.reason}."
    if answer == "allow":
        return fact
    if answer == "ask":
        return f"{fact} A person must agree first."
    if worst.veto:
        return f"{fact} Stay inside the workspace and leave secrets alone."
    return f"{fact} The {phase} phase does not allow that. {_ADVICE[worst.kind]}"
