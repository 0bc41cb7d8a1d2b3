"""What git answers when asked for differences and merges, read into our own values."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Sequence

from flyball.workspace.trees.trees import (
    SUBMODULE,
    Changed,
    Clash,
    ClashKind,
    MergedTree,
    TreeEntry,
    TreeHash,
    kind_of,
)

_MOVED_ASIDE = re.compile(r"~[0-9a-f]{40,64}(_\d+)?$")
"""What git adds to a file's name when a directory is in its way."""
_BOTH = ("later changes touch the same place", ClashKind.OTHER)
_REASONS = {
    "add/add": ("it was added in two ways", ClashKind.ADDED),
    "binary": ("it is binary, and later changes touch it too", ClashKind.BINARY),
    "contents": ("later changes touch the same lines", ClashKind.LINES),
    "modify/delete": ("one side deleted it, the other changed it", ClashKind.DELETED),
    "rename/delete": ("one side renamed it, the other deleted it", ClashKind.RENAMED),
    "rename/rename": ("it was renamed in two ways", ClashKind.RENAMED),
    "file/directory": ("a file and a directory have the same name", ClashKind.IN_THE_WAY),
    "distinct modes": ("it became something else in two ways", ClashKind.RETYPED),
    "directory rename": ("its directory was renamed", ClashKind.RENAMED),
}


def parse_changes(fields: Sequence[bytes]) -> Iterator[Changed]:
    """The changes that `git diff-tree --raw --numstat -z` lists; submodules are left out."""
    at = 0
    pairs: list[tuple[str, TreeEntry | None, TreeEntry | None]] = []
    while at < len(fields) and fields[at].startswith(b":"):
        old_mode, new_mode, old, new, _ = fields[at][1:].decode().split()
        before = None if set(old) == {"0"} else TreeEntry(old_mode, old)
        after = None if set(new) == {"0"} else TreeEntry(new_mode, new)
        pairs.append((os.fsdecode(fields[at + 1]), before, after))
        at += 2
    counts: dict[str, tuple[bytes, bytes]] = {}
    for field in fields[at:]:
        if field:
            added, removed, name = field.split(b"\t", 2)
            counts[os.fsdecode(name)] = (added, removed)
    for path, before, after in pairs:
        # Files inside a submodule are captured one by one, so its own line would tell the same
        # change twice.
        if any(entry and entry.mode == SUBMODULE for entry in (before, after)):
            continue
        added, removed = counts.get(path, (b"0", b"0"))
        binary = added == b"-"
        lines = (0, 0) if binary else (int(added), int(removed))
        yield Changed(path, kind_of(before, after), before, after, *lines, binary)


def parse_merge(fields: list[str], code: int) -> MergedTree:
    """The outcome that `git merge-tree --name-only -z --messages` reports."""
    tree = TreeHash(fields[0])
    if code == 0:
        return MergedTree(tree, ())
    end = fields.index("", 1)
    paths = dict.fromkeys(_MOVED_ASIDE.sub("", path) for path in fields[1:end])
    reasons: dict[str, tuple[str, ClashKind]] = {}
    at = end + 1
    while at < len(fields) and fields[at].isdigit():
        count = int(fields[at])
        about = fields[at + 1 : at + 1 + count]
        kind = fields[at + 1 + count]
        if kind.startswith("CONFLICT"):
            # Two files added under one name are called a conflict of contents, except in prose.
            clue = kind + fields[at + 2 + count].partition(":")[0]
            said = next((words for mark, words in _REASONS.items() if mark in clue), _BOTH)
            # Of several messages about a path the first one stands.
            reasons = dict.fromkeys(about, said) | reasons
        at += 3 + count
    return MergedTree(tree, tuple(Clash(path, *reasons.get(path, _BOTH)) for path in paths))
