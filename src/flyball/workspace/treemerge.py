"""Three-way merging of trees path by path, for where git cannot be asked."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from flyball.patch.merge import merge3
from flyball.workspace.trees import (
    LINK,
    Changed,
    ChangeKind,
    Clash,
    Entry,
    Merged,
    TreeHash,
    Trees,
)


def merge_by_path(trees: Trees, base: TreeHash, ours: TreeHash, theirs: TreeHash) -> Merged:
    """Bring the change from base to theirs into ours; a file moved unchanged is followed."""
    mine = trees.changes(base, ours)
    yours = trees.changes(base, theirs)
    moved_by_us = _moves(mine)
    moved_by_them = _moves(yours)
    changed_by_us = {change.path: change for change in mine}
    result: dict[str, Entry | None] = {}
    clashes: list[Clash] = []
    for change in yours:
        origin = next((old for old, new in moved_by_them.items() if new == change.path), None)
        if origin and (other := changed_by_us.get(origin)) and other.after:
            result[change.path] = other.after
            continue
        if change.path in moved_by_them and change.path in changed_by_us:
            result[change.path] = None
            continue
        target = moved_by_us.get(change.path, change.path)
        present = trees.entries(ours, [target]).get(target)
        settled = _settle(trees, change, present)
        if isinstance(settled, str):
            clashes.append(Clash(target, settled))
        else:
            result[target] = settled
    clashes += _blocked(trees, ours, result)
    return Merged(ours if clashes else trees.overlay(ours, result), tuple(clashes))


def _settle(trees: Trees, change: Changed, present: Entry | None) -> Entry | str | None:
    """What a path becomes, or why that cannot be said."""
    if present in (change.before, change.after):
        return change.after
    if change.before is None:
        return "both sides added it differently"
    if change.after is None:
        return "one side deleted it, the other changed it"
    if present is None:
        return "one side changed it, the other deleted it"
    if LINK in (change.before.mode, change.after.mode, present.mode):
        return "both sides changed it, and one of them is a link"
    mode = change.after.mode if present.mode == change.before.mode else present.mode
    if change.before.blob in (present.blob, change.after.blob):
        blob = change.after.blob if present.blob == change.before.blob else present.blob
        return Entry(mode, blob)
    contents = trees.contents([change.before.blob, present.blob, change.after.blob])
    old, mine, yours = (contents[e.blob] for e in (change.before, present, change.after))
    if b"\0" in old + mine + yours:
        return "both sides changed it, and it is binary"
    merged = merge3(old, mine, yours)
    if merged.ok:
        return Entry(mode, trees.keep(merged.data))
    return f"both sides changed lines {merged.clashes[0].first} to {merged.clashes[0].last}"


def _moves(changes: Sequence[Changed]) -> dict[str, str]:
    """Files that only went elsewhere, where there can be no doubt which."""
    gone = _by_entry(changes, ChangeKind.DELETED)
    come = _by_entry(changes, ChangeKind.ADDED)
    return {
        paths[0]: come[entry][0]
        for entry, paths in gone.items()
        if len(paths) == 1 and len(come.get(entry, ())) == 1
    }


def _by_entry(changes: Sequence[Changed], kind: ChangeKind) -> dict[Entry, list[str]]:
    found: dict[Entry, list[str]] = {}
    for change in changes:
        entry = change.before if kind is ChangeKind.DELETED else change.after
        if change.kind is kind and entry:
            found.setdefault(entry, []).append(change.path)
    return found


def _blocked(trees: Trees, ours: TreeHash, result: Mapping[str, Entry | None]) -> list[Clash]:
    """New files whose place is taken by a file or directory that stays."""
    after = trees.overlay(ours, {path: None for path, entry in result.items() if entry is None})
    clashes: list[Clash] = []
    for path, entry in result.items():
        if entry is None:
            continue
        above = ["/".join(path.split("/")[:n]) for n in range(1, path.count("/") + 1)]
        if in_the_way := trees.entries(after, above):
            clashes.append(Clash(path, f"{next(iter(in_the_way))} is a file there"))
    return clashes
