"""Hash trees in git's object format, which names content and trees.

`object_name` is the hash, `tree_content` what is hashed for a directory, `graft` turns a change in
a few files into the hash of the whole tree. Everything here names objects exactly as git does, so
that a project has one hash for one state, before and after a `git init`.

Below that, the parsers of git's output for objects, differences and merges.
"""

from __future__ import annotations

import hashlib
import os
import tempfile
import zlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from flyball.regex import regex
from flyball.workspace.errors import explain_disk_errors
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

DIRECTORY = "40000"
SHA1_WIDTH, SHA256_WIDTH = 40, 64


class Child(NamedTuple):
    """One line of a tree."""

    mode: str
    name: str


Children = dict[str, Child]


def object_name(kind: str, content: bytes, width: int = SHA1_WIDTH) -> str:
    """Return the hash by which git names an object: of its kind, its length and its content."""
    # SHA-1 because git names objects so; a FIPS build of Python forbids it except for uses that are
    # not for security. Repositories created with SHA-256 have names of 64 digits.
    digest = hashlib.sha1(usedforsecurity=False) if width == SHA1_WIDTH else hashlib.sha256()
    digest.update(f"{kind} {len(content)}\0".encode() + content)
    return digest.hexdigest()


def tree_content(children: Mapping[str, Child]) -> bytes:
    """Return a tree in git's format: sorted as if directories ended in a slash."""
    rows = ((os.fsencode(path), child) for path, child in children.items())
    # Git sorts a directory as if its name ended in a slash; sorted by plain names, `a.txt` and a
    # folder `a` would be swapped, and the hash would differ from git's.
    ordered = sorted(rows, key=lambda row: row[0] + b"/" * (row[1].mode == DIRECTORY))
    return b"".join(
        child.mode.encode() + b" " + path + b"\0" + bytes.fromhex(child.name)
        for path, child in ordered
    )


def parse_tree(content: bytes, width: int = SHA1_WIDTH) -> Children:
    """Parse a stored tree; return its children by name."""
    found: Children = {}
    at = 0
    while at < len(content):
        space = content.index(b" ", at)
        zero = content.index(b"\0", space)
        end = zero + 1 + width // 2
        child = Child(content[at:space].decode(), content[zero + 1 : end].hex())
        found[os.fsdecode(content[space + 1 : zero])] = child
        at = end
    return found


def write_loose(store: Path, kind: str, content: bytes, width: int = SHA1_WIDTH) -> str:
    """Write an object to an object directory unless it exists; return its name."""
    name = object_name(kind, content, width)
    place = store / name[:2] / name[2:]
    if not place.exists():
        with explain_disk_errors(os.fspath(store)):
            place.parent.mkdir(exist_ok=True)
            header = f"{kind} {len(content)}\0".encode()
            # Fast rather than small: an object is written before every mutation and seldom read.
            # The name depends only on the content, so the compression level does not matter.
            replace_whole(place, zlib.compress(header + content, 1))
    return name


def replace_whole(place: Path, data: bytes) -> None:
    """Write a file atomically."""
    fd, spare = tempfile.mkstemp(dir=place.parent)
    try:
        with os.fdopen(fd, "wb") as file:
            file.write(data)
        Path(spare).replace(place)
    except OSError:
        Path(spare).unlink(missing_ok=True)
        raise


def folders_above(paths: Sequence[str]) -> list[str]:
    """Return every directory that contains one of these paths, deepest first, the top last."""
    found = {""}
    for path in paths:
        while path := path.rpartition("/")[0]:
            found.add(path)
    return sorted(found, key=lambda folder: (-folder.count("/") - bool(folder), folder))


def graft(
    folders: Mapping[str, Children],
    entries: Mapping[str, TreeEntry | None],
    write: Callable[[bytes], str],
) -> str:
    """Add entries to a tree, or remove those that are None; return the new tree's name.

    `folders` holds the current children of every folder above the entries; nothing else is read.
    """
    built = {folder: dict(children) for folder, children in folders.items()}
    for path, entry in sorted(entries.items(), key=lambda item: item[1] is not None):
        folder, _, name = path.rpartition("/")
        built[folder].pop(name, None)
        if entry:
            built[folder][name] = Child(*entry)
    # From the deepest up, because a folder's line contains the hash of its content.
    for folder in folders_above(list(entries))[:-1]:
        above, _, name = folder.rpartition("/")
        if built[folder]:
            built[above][name] = Child(DIRECTORY, write(tree_content(built[folder])))
        # Git has no empty folders; but this may be a file that was just added.
        elif built[above].get(name, Child("", "")).mode == DIRECTORY:
            del built[above][name]
    return write(tree_content(built[""]))


def split_batch(out: bytes) -> Iterator[tuple[str, bytes] | None]:
    """Yield the answers of `git cat-file --batch`: kind and content of each object, or None."""
    at = 0
    while at < len(out):
        end = out.index(b"\n", at)
        header = out[at:end]
        if header.endswith(b" missing"):
            yield None
            at = end + 1
            continue
        _, kind, size = header.split()
        yield kind.decode(), out[end + 1 : end + 1 + int(size)]
        at = end + int(size) + 2


_MOVED_ASIDE = regex(r"~[0-9a-f]{40,64}(_\d+)?$")
"""The suffix that git adds to a file's name when a directory is in its way."""
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
    """Yield the changes listed by `git diff-tree --raw --numstat -z`, without submodules."""
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
        # Files inside a submodule are captured one by one, so its own line would report the same
        # change twice.
        if any(entry and entry.mode == SUBMODULE for entry in (before, after)):
            continue
        added, removed = counts.get(path, (b"0", b"0"))
        binary = added == b"-"
        lines = (0, 0) if binary else (int(added), int(removed))
        yield Changed(path, kind_of(before, after), before, after, *lines, binary)


def parse_merge(fields: list[str], code: int) -> MergedTree:
    """Parse the output of `git merge-tree --name-only -z --messages`."""
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
            # Of several messages about a path the first one counts.
            reasons = dict.fromkeys(about, said) | reasons
        at += 3 + count
    return MergedTree(tree, tuple(Clash(path, *reasons.get(path, _BOTH)) for path in paths))
