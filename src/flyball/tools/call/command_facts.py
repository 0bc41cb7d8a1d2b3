"""What a shell command is judged by: its kind, and the user's files that it names."""

from __future__ import annotations

import os
import shlex
from collections.abc import Iterator, Sequence
from fnmatch import fnmatchcase

from flyball.core.terms.call import Access, CommandFact, PathFact
from flyball.shellcheck import CommandKind, CommandPart, judge
from flyball.tools.call.protocol import CallContext, CallFacts, Form, Text
from flyball.workspace.trees.writer import holds_file

ACCESS = {
    CommandKind.READ_ONLY: Access.READ,
    CommandKind.VERIFICATION: Access.VERIFY,
    CommandKind.MUTATING: Access.MUTATE,
    CommandKind.DESTRUCTIVE: Access.MUTATE,
    CommandKind.UNKNOWN: Access.MUTATE,
}

_CHANGING = frozenset(kind for kind, access in ACCESS.items() if access is Access.MUTATE)


class BashForm(Form, frozen=True, kw_only=True):
    """A command; `confirm` says that a destructive one is meant."""

    cmd: Text
    confirm: bool = False


def command_facts(form: BashForm, context: CallContext, *, fresh: bool = True) -> CallFacts:
    """The judgement for `execute`; what the phase allows is the governor's to say."""
    verdict = judge(
        form.cmd,
        phase="execute",
        allow=context.settings.allow,
        root=os.fspath(context.root.path),
        fresh=fresh,
        secrets=context.settings.secrets,
    )
    doomed = verdict.kind is CommandKind.DESTRUCTIVE and verdict.decision != "deny"
    return CallFacts(
        access=ACCESS[verdict.kind],
        paths=tuple(
            PathFact(path, untracked=True, write=True)
            for path in sorted(_named_untracked(verdict.parts, context))
        ),
        command=CommandFact(
            form.cmd, verdict.kind.value, verdict.decision, verdict.reason, verdict.effect.value
        ),
        destructive=f"destroys something: {verdict.reason}" if doomed else "",
        confirmed=form.confirm,
    )


def _named_untracked(parts: Sequence[CommandPart], context: CallContext) -> Iterator[str]:
    """The user's files outside of git that a part which changes something names.

    By itself, by a folder above it, by a pattern, or as seen from a folder the command went to:
    rather one question too many than one too few. What a program does without being told the name
    is seen afterwards.
    """
    changing = [part.text for part in parts if part.kind in _CHANGING]
    words = {_inside(word, context) for text in changing for word in _words(text)} - {""}
    for path in context.workspace.untracked.paths if words else ():
        if any(_names(word, path) for word in words) and holds_file(context.root.path, path):
            yield path


def _words(text: str) -> list[str]:
    try:
        return shlex.split(text)
    except ValueError:
        return text.split()


def _inside(word: str, context: CallContext) -> str:
    """A word as a path from the root, if it is one."""
    word = word.removeprefix(f"{os.fspath(context.root.path)}/")
    return os.path.normpath(word).removeprefix("../") if word and word != "." else ""


def _names(word: str, path: str) -> bool:
    return (
        path == word
        or path.startswith(f"{word}/")
        or path.endswith(f"/{word}")
        or fnmatchcase(path, word)
    )
