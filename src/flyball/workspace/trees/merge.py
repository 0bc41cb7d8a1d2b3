"""Three-way merge of trees path by path, where git is too old to merge trees."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

from flyball.patch import merge3
from flyball.workspace.trees.git_objects import object_name
from flyball.workspace.trees.trees import (
    LINK,
    Changed,
    ChangeKind,
    Clash,
    ClashKind,
    MergedTree,
    TreeEntry,
    TreeHash,
)

if TYPE_CHECKING:
    from flyball.workspace.trees.depot_trees import DepotTrees

_EMPTY = frozenset(object_name("blob", b"", width) for width in (40, 64))
"""Empty files are all identical, so they are never detected as moved."""


def merge_by_path(
    trees: DepotTrees, base: TreeHash, ours: TreeHash, theirs: TreeHash
) -> MergedTree:
    """Apply the change from base to theirs to ours; a file moved unchanged is followed."""
    mine, yours = trees.changes(base, ours), trees.changes(base, theirs)
    sides = _Sides({change.path: change for change in mine}, _moves(mine), _moves(yours))
    result: dict[str, TreeEntry | None] = {}
    clashes: list[Clash] = []
    for change in yours:
        target = sides.our_moves.get(change.path, change.path)
        present = trees.entries(ours, [target]).get(target)
        settled = _follow_move(sides, change, present)
        if settled is _AS_IT_IS:
            settled = _settle_path(trees, change, present)
        if isinstance(settled, _Refusal):
            clashes.append(Clash(target, *settled))
        else:
            result[target] = settled
    merged = trees.overlay(ours, result)
    # Adding a file removes everything below a folder of its name, so implicit removals are detected
    # afterwards.
    pushed_out = [c.path for c in trees.changes(ours, merged) if c.path not in result]
    blocked = "a file and a directory have the same name"
    clashes += [Clash(path, blocked, ClashKind.IN_THE_WAY) for path in pushed_out]
    return MergedTree(ours if clashes else merged, tuple(clashes))


class _Refusal(NamedTuple):
    """The reason why a path cannot be merged."""

    reason: str
    kind: ClashKind


_RENAMED = _Refusal("one side renamed it, the other deleted it", ClashKind.RENAMED)
_ADDED = _Refusal("both sides added it differently", ClashKind.ADDED)


class _Sides(NamedTuple):
    our_changes: Mapping[str, Changed]
    our_moves: Mapping[str, str]
    their_moves: Mapping[str, str]


_AS_IT_IS = TreeEntry("", "")
"""The file was not moved: its path alone decides."""


def _follow_move(
    sides: _Sides, change: Changed, present: TreeEntry | None
) -> TreeEntry | _Refusal | None:
    """Return the merged entry of a file that one side moved."""
    if change.path in sides.our_moves and change.after is None:
        return _RENAMED
    if change.path in sides.their_moves:
        return None
    origin = next((old for old, new in sides.their_moves.items() if new == change.path), None)
    ours = sides.our_changes.get(origin) if origin else None
    if ours is None or present == change.after:
        return _AS_IT_IS
    if ours.after is None:
        return _RENAMED
    return _ADDED if present else ours.after


def _settle_path(
    trees: DepotTrees, change: Changed, present: TreeEntry | None
) -> TreeEntry | _Refusal | None:
    """Return the merged entry of a path, or why it cannot be merged."""
    if present in (change.before, change.after):
        return change.after
    if change.before is None:
        return _ADDED
    if change.after is None:
        return _Refusal("one side deleted it, the other changed it", ClashKind.DELETED)
    if present is None:
        return _Refusal("one side changed it, the other deleted it", ClashKind.DELETED)
    if LINK in (change.before.mode, change.after.mode, present.mode):
        return _Refusal("both sides changed it, and one of them is a link", ClashKind.RETYPED)
    mode = change.after.mode if present.mode == change.before.mode else present.mode
    if change.before.blob in (present.blob, change.after.blob):
        blob = change.after.blob if present.blob == change.before.blob else present.blob
        return TreeEntry(mode, blob)
    contents = trees.contents([change.before.blob, present.blob, change.after.blob])
    old, mine, yours = (contents[e.blob] for e in (change.before, present, change.after))
    if b"\0" in old + mine + yours:
        return _Refusal("both sides changed it, and it is binary", ClashKind.BINARY)
    merged = merge3(old, mine, yours)
    if merged.ok:
        return TreeEntry(mode, trees.keep(merged.data))
    first, last, *_ = merged.clashes[0]
    return _Refusal(f"both sides changed lines {first} to {last}", ClashKind.LINES)


def _moves(changes: Sequence[Changed]) -> dict[str, str]:
    """Return files that were only moved, if the new path is unambiguous."""
    gone = _by_entry(changes, ChangeKind.DELETED)
    come = _by_entry(changes, ChangeKind.ADDED)
    return {
        paths[0]: come[entry][0]
        for entry, paths in gone.items()
        # With two files of the same content the correspondence is ambiguous; git guesses there, we
        # do not.
        if len(paths) == 1 and len(come.get(entry, ())) == 1
    }


def _by_entry(changes: Sequence[Changed], kind: ChangeKind) -> dict[TreeEntry, list[str]]:
    found: dict[TreeEntry, list[str]] = {}
    for change in changes:
        entry = change.before if kind is ChangeKind.DELETED else change.after
        if change.kind is kind and entry and entry.blob not in _EMPTY:
            found.setdefault(entry, []).append(change.path)
    return found
