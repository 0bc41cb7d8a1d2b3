"""Facts and texts that the file tools share."""

from __future__ import annotations

import os
import shlex
from collections.abc import Iterator, Sequence
from fnmatch import fnmatchcase

from flyball.core.terms.call import Access, CommandFact, PathFact
from flyball.core.terms.glob import matches
from flyball.patch import changed_regions, regions
from flyball.shellcheck import CommandKind, CommandPart, judge
from flyball.tools.call.protocol import CallContext, CallFacts, Form, Text
from flyball.workspace.files.paths import PathKind
from flyball.workspace.redaction import HIDDEN
from flyball.workspace.run.clean import committed
from flyball.workspace.trees.trees import TreeHash
from flyball.workspace.trees.writer import holds_file

DEPENDENCY = "dep:"
"""What a path begins with that names the source of an installed dependency."""
READ_ONLY = "installed dependencies are there to be read"


def is_dependency(raw: str) -> bool:
    """Whether a path names something installed; `./dep:x` is a file of the workspace."""
    return raw.startswith(DEPENDENCY)


def path_fact(raw: str, context: CallContext, *, write: bool, deletes: bool = False) -> PathFact:
    """What the resolver says about a path, in the terms the judge uses."""
    if is_dependency(raw):
        return PathFact(path=raw, protected=READ_ONLY if write else "", write=write)
    found = context.root.fact(raw, write=write)
    is_here = found.inside and found.exists
    is_theirs = write and is_here and is_users_untracked(found.path, context)
    return PathFact(
        # Where it would lead outside is no concern of whoever asked, and long.
        path=found.path if found.inside and found.path else raw,
        inside=found.inside,
        protected=found.protected or (why_out_of_bounds(found.path, context) if write else ""),
        # Once a person let the run overwrite a file, it holds the run's words and not the user's;
        # that it may go altogether was not said.
        untracked=is_theirs and (deletes or found.path not in context.changed),
        write=write,
    )


def why_out_of_bounds(path: str, context: CallContext) -> str:
    """Why the user's own list of files that may be written keeps a file from being written."""
    allowed = context.settings.paths
    if not allowed or matches(path, allowed):
        return ""
    return f"the setting `patch.paths` allows only {', '.join(allowed)}"


def is_users_untracked(path: str, context: CallContext) -> bool:
    """Whether a file is work that the user never gave to git: in no commit when the run began.

    In their own checkout that is also a file they ignore, of which no tree knows.
    """
    workspace = context.workspace
    if path in workspace.untracked.paths:
        return True
    if not (workspace.in_place and workspace.facts.start):
        return False
    known = [TreeHash(tree) for tree in (workspace.base, context.tree)]
    return not any(path in workspace.trees.entries(tree, [path]) for tree in known)


def users_secrets_among(paths: Sequence[str], context: CallContext) -> list[str]:
    """Which of these files a driver may not see: in no commit, and not made by the run itself."""
    known = committed(context.workspace, paths)
    return [path for path in paths if path not in known and path not in context.changed]


def present(path: str, context: CallContext) -> bytes | None:
    """What a file holds now, or None where there is none."""
    if context.root.fact(path, write=False).kind is PathKind.MISSING:
        return None
    return context.root.read_bytes(path)


def lost_regions(path: str, before: bytes, after: bytes) -> list[str]:
    """The keep regions that a file no longer has as they were."""
    return [
        f"{path}: keep region {region.name!r}, lines {region.first} to {region.last}, would change."
        for region in changed_regions(regions(before), regions(after))
    ]


def copied_mask(path: str, before: bytes | None, after: bytes | None) -> str:
    """Why a new content is refused: it carries the mask of a secret instead of the secret."""
    mask = HIDDEN.encode()
    if (after or b"").count(mask) <= (before or b"").count(mask):
        return ""
    return (
        f"{path}: {HIDDEN} stands for a secret that is not shown, and must not be written. "
        "Leave such lines as they are and edit around them."
    )


def decoded(data: bytes) -> str | None:
    """A file as text, or None when it is binary."""
    if b"\0" in data[:8192]:
        return None
    return data.decode("utf-8", "replace")


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
