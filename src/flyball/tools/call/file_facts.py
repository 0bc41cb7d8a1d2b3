"""Facts and texts that the file tools share."""

from __future__ import annotations

from flyball.core.terms.call import PathFact
from flyball.patch.apply.keep import changed_regions, regions
from flyball.tools.call.protocol import CallContext
from flyball.workspace.files.paths import PathKind
from flyball.workspace.redaction import HIDDEN
from flyball.workspace.trees.trees import TreeHash


def path_fact(raw: str, context: CallContext, *, write: bool) -> PathFact:
    """What the resolver says about a path, in the terms the judge uses."""
    found = context.root.fact(raw, write=write)
    return PathFact(
        path=found.path or raw,
        inside=found.inside,
        protected=found.protected,
        untracked=write and found.exists and is_users_untracked(found.path, context),
        write=write,
    )


def is_users_untracked(path: str, context: CallContext) -> bool:
    """Whether an in-place run would touch work that the user never gave to git."""
    workspace = context.workspace
    start = workspace.facts.start
    if not (workspace.in_place and start):
        return False
    trees = workspace.trees
    at_first = trees.entries(workspace.base, [path])
    return path in at_first and path not in trees.entries(TreeHash(start), [path])


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
