"""Facts and texts that the file tools share."""

from __future__ import annotations

import os
import shlex
from collections.abc import Iterator, Sequence
from fnmatch import fnmatchcase

from flyball.patch import changed_regions, regions
from flyball.shell import CommandKind, CommandPart, judge
from flyball.terms.call import Access, CommandFact, PathFact
from flyball.terms.glob import matches
from flyball.tools.call.protocol import CallContext, CallFacts, Form, Text
from flyball.workspace.files.paths import PathKind
from flyball.workspace.redaction import HIDDEN
from flyball.workspace.run.clean import committed
from flyball.workspace.trees.trees import TreeHash
from flyball.workspace.trees.writer import holds_file

DEPENDENCY = "dep:"
"""The prefix of paths in the source of an installed dependency."""
READ_ONLY = "installed dependencies are there to be read"


def is_dependency(raw: str) -> bool:
    """Return whether a path names an installed dependency; `./dep:x` is a file of the workspace."""
    return raw.startswith(DEPENDENCY)


def path_fact(raw: str, context: CallContext, *, write: bool, deletes: bool = False) -> PathFact:
    """Return the resolver's facts about a path, in the judge's terms."""
    if is_dependency(raw):
        return PathFact(path=raw, protected=READ_ONLY if write else "", write=write)
    found = context.root.fact(raw, write=write)
    is_here = found.inside and found.exists
    is_theirs = write and is_here and is_users_untracked(found.path, context)
    return PathFact(
        # Where it leads outside is irrelevant to the driver, and long.
        path=found.path if found.inside and found.path else raw,
        inside=found.inside,
        protected=found.protected or (why_out_of_bounds(found.path, context) if write else ""),
        # After a person allowed the run to overwrite a file, it holds the run's content and not the
        # user's; deleting it was not allowed.
        untracked=is_theirs and (deletes or found.path not in context.changed),
        write=write,
    )


def why_out_of_bounds(path: str, context: CallContext) -> str:
    """Return why the user's own list of writable files excludes a file."""
    allowed = context.settings.paths
    if not allowed or matches(path, allowed):
        return ""
    return f"the setting `patch.paths` allows only {', '.join(allowed)}"


def is_users_untracked(path: str, context: CallContext) -> bool:
    """Return whether a file is the user's uncommitted work: in no commit when the run began.

    In their own checkout this includes ignored files, which are in no tree.
    """
    workspace = context.workspace
    if path in workspace.untracked.paths:
        return True
    if not (workspace.in_place and workspace.facts.start):
        return False
    known = [TreeHash(tree) for tree in (workspace.base, context.tree)]
    return not any(path in workspace.trees.entries(tree, [path]) for tree in known)


def users_secrets_among(paths: Sequence[str], context: CallContext) -> list[str]:
    """Return the secret files hidden from a driver: uncommitted, and not made by the run."""
    known = committed(context.workspace, paths)
    return [path for path in paths if path not in known and path not in context.changed]


def present(path: str, context: CallContext) -> bytes | None:
    """Return a file's current content; None if it is missing."""
    if context.root.fact(path, write=False).kind is PathKind.MISSING:
        return None
    return context.root.read_bytes(path)


def lost_regions(path: str, before: bytes, after: bytes) -> list[str]:
    """Return the keep regions of a file that were changed."""
    return [
        f"{path}: keep region {region.name!r}, lines {region.first} to {region.last}, would change."
        for region in changed_regions(regions(before), regions(after))
    ]


def copied_mask(path: str, before: bytes | None, after: bytes | None) -> str:
    """Return why new content is refused: it contains the mask of a secret instead of the secret."""
    mask = HIDDEN.encode()
    if (after or b"").count(mask) <= (before or b"").count(mask):
        return ""
    return (
        f"{path}: {HIDDEN} stands for a secret that is not shown, and must not be written. "
        "Leave such lines as they are and edit around them."
    )


def decoded(data: bytes) -> str | None:
    """Return a file as text; None if it is binary."""
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
    """A command; `confirm` says that a destructive one is intended."""

    cmd: Text
    confirm: bool = False


def command_facts(form: BashForm, context: CallContext, *, fresh: bool = True) -> CallFacts:
    """Return the judgement for `execute`; the governor decides what the phase allows."""
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
    """Yield the user's uncommitted files that are named by a part which changes something.

    A file is named directly, by a parent directory, by a pattern, or relative to a directory that
    the command changed to; a redundant question is better than a missing one. Changes to files that
    are not named are detected afterwards.
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
    """Return a word as an absolute path, if it is one."""
    word = word.removeprefix(f"{os.fspath(context.root.path)}/")
    return os.path.normpath(word).removeprefix("../") if word and word != "." else ""


def _names(word: str, path: str) -> bool:
    return (
        path == word
        or path.startswith(f"{word}/")
        or path.endswith(f"/{word}")
        or fnmatchcase(path, word)
    )
