"""Convert between a commit's tree and the files of its checkout.

A commit names a submodule by one entry and stores text in a normal form; a checkout has the
submodule's files and the line endings, encodings and keywords that the attributes specify. Every
tree that a run works with is in the second form, byte for byte; only commits are in the first. No
filter driver runs, since none is configured.
"""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Generator, Iterable, Mapping, Sequence
from contextlib import contextmanager, suppress
from functools import cached_property
from pathlib import Path
from typing import NamedTuple

from flyball.regex import regex
from flyball.workspace.files.plain import read_plain
from flyball.workspace.trees.depot_trees import DepotTrees
from flyball.workspace.trees.git import Git, Repository, quoted
from flyball.workspace.trees.trees import SUBMODULE, Changed, TreeEntry, TreeHash

_ATTRIBUTES: tuple[str, ...] = ("text", "eol", "ident", "working-tree-encoding", "filter")
_MENTIONED = regex(rb"\b(text|eol|crlf|ident|working-tree-encoding|filter)\b")
_MOST_ATTRIBUTES = 1 << 20
_MOST_STORES = 1_000
_LFS_POINTER = regex(
    rb"version https://git-lfs\.github\.com/spec/v1\n(?:ext-.*\n)*oid sha256:([0-9a-f]{64})\n"
    rb"size \d+\n"
)
_LONGEST_POINTER = 1024
_FILTERS = "filters"
_UNSET = ("unspecified", "unset")


class CommitForm(NamedTuple):
    """A tree to commit, and the changed files that a commit of this repository cannot store."""

    tree: TreeHash
    left: tuple[str, ...] = ()


class Row(NamedTuple):
    """One entry of an index."""

    path: str
    mode: str
    blob: str


class Listing:
    """The contents of an index; rows are read on demand."""

    def __init__(self, index: Git) -> None:
        self.index = index
        self._lines = index.call("ls-files", "-s", "-z").stdout

    @cached_property
    def rows(self) -> tuple[Row, ...]:
        """Return every entry."""
        return tuple(map(_parse_row, self._lines.split(b"\0")[:-1]))

    @property
    def links(self) -> list[Row]:
        """Return the entries of submodules."""
        mark = SUBMODULE.encode() + b" "
        if not self._lines.startswith(mark) and b"\0" + mark not in self._lines:
            return []
        return [row for row in self.rows if row.mode == SUBMODULE]

    @property
    def attribute_files(self) -> list[str]:
        """Return the contents of the attribute files."""
        if b".gitattributes\0" not in self._lines:
            return []
        return [row.blob for row in self.rows if row.path.endswith(".gitattributes")]


class Outside(NamedTuple):
    """What a sparse checkout leaves out: files, and directories of which it has nothing."""

    files: frozenset[str] = frozenset()
    folders: frozenset[str] = frozenset()

    def __bool__(self) -> bool:
        return bool(self.files)

    def holds(self, path: str) -> bool:
        """Return whether a file of any tree is left out."""
        return path in self.files or not self.folders.isdisjoint(_above(path))


class WorkingForm:
    """Both forms of a repository's trees, stored in one depot."""

    def __init__(self, depot: Git, repository: Repository) -> None:
        self.depot = depot
        self.repository = repository
        place = depot.directory / "convert"
        self._converting = depot.with_env(
            GIT_COMMON_DIR=os.fspath(place),
            GIT_OBJECT_DIRECTORY=os.fspath(depot.directory / "objects"),
        )
        self._config = (place / "config").read_text() if (place / "config").is_file() else ""
        known = (place / _FILTERS).read_text() if self._config else ""
        self._filters = frozenset(known.splitlines())

    def expand(self, tree: TreeHash) -> TreeHash:
        """Return the tree of the files in a checkout of a commit's tree."""
        with self._spare_index() as index:
            index.call("read-tree", tree)
            if not self.expand_index(index):
                return tree
            return TreeHash(index.text("write-tree"))

    def expand_index(self, index: Git) -> bool:
        """Expand the entries of an index; return whether any entry changed."""
        listing = Listing(index)
        is_changed = self.fill_submodules(index, listing.links)
        if self.outside and (gone := [r.path for r in listing.rows if self.outside.holds(r.path)]):
            drop_entries(index, gone)
            is_changed = True
        return self._convert_index(Listing(index) if is_changed else listing) or is_changed

    @cached_property
    def outside(self) -> Outside:
        """Return what the user's sparse checkout leaves out."""
        if not (self.repository.directory / "info/sparse-checkout").is_file():
            return Outside()
        with self._spare_index() as index:
            copy_index(self.repository, self.depot, Path(index.env["GIT_INDEX_FILE"]))
            listed = index.call("ls-files", "-v", "-z").stdout.split(b"\0")[:-1]
        named = [(line[:1] in b"Ss", os.fsdecode(line[2:])) for line in listed]
        top = self.repository.top
        gone = {path for is_skipped, path in named if is_skipped and not (top / path).exists()}
        here = {folder for _, path in named if path not in gone for folder in _above(path)}
        above = {folder for path in gone for folder in _above(path)}
        return Outside(frozenset(gone), frozenset(above - here))

    def fill_submodules(self, index: Git, links: Sequence[Row]) -> bool:
        """Replace each available submodule by its files, including nested ones."""
        has_filled = False
        while found := self._known_trees([row for row in links if self._is_initialised(row.path)]):
            has_filled = True
            drop_entries(index, found)
            for path, tree in found.items():
                index.call("read-tree", f"--prefix={path}/", tree)
            inside = tuple(f"{path}/" for path in found)
            links = [row for row in Listing(index).links if row.path.startswith(inside)]
        return has_filled

    def to_commit(
        self, trees: DepotTrees, parent: TreeHash, before: TreeHash, after: TreeHash
    ) -> CommitForm:
        """Return a commit's tree with what changed between two trees of files."""
        changes = [c for c in trees.changes(before, after) if _is_kept(trees, c)]
        if not changes:
            return CommitForm(parent)
        entries = {change.path: change.after for change in changes}
        inside = _inside_submodules(trees, parent, list(entries))
        plain = {path: entry for path, entry in entries.items() if path not in inside}
        # A filter that changed nothing in one direction is assumed to change nothing in the other.
        there = trees.entries(parent, list(plain))
        same = {c.path for c in changes if c.before and c.before == there.get(c.path)}
        converted, filtered = self._cleaned(trees, parent, plain)
        filtered -= same
        outside = {path: e for path, e in (plain | converted).items() if path not in filtered}
        tree = trees.overlay(parent, outside) if outside else parent
        return CommitForm(tree, tuple(sorted({*inside, *filtered})))

    def normalise(self, trees: DepotTrees, parent: TreeHash, tree: TreeHash) -> TreeHash:
        """Return a tree with each file that differs from a commit in that commit's form."""
        entries = {change.path: change.after for change in trees.changes(parent, tree)}
        converted, filtered = self._cleaned(trees, parent, entries)
        there = trees.entries(parent, sorted(filtered)) if filtered else {}
        fresh = {**converted, **{path: there.get(path) for path in filtered}}
        return trees.overlay(tree, fresh) if fresh else tree

    def differing_files(self, listing: Listing, root: Path) -> list[str]:
        """Return the files whose bytes on disk cannot be those that the index has for them.

        Git reports them as unchanged, because it would convert them.
        """
        attributes = self._attributes(listing)
        if not attributes:
            return []
        marked = [row for row in listing.rows if row.path in attributes and row.mode != SUBMODULE]
        sizes = self._sizes([row.blob for row in marked])
        return [
            row.path
            for row, size in zip(marked, sizes, strict=True)
            if _size_on_disk(root / row.path) != size
            # Both can produce other bytes of the same length.
            or attributes[row.path]["working-tree-encoding"] not in _UNSET
            or attributes[row.path]["filter"] in self._filters
        ]

    @property
    def converting(self) -> Git:
        """Return the depot as a git that converts, for an index of the user's own git."""
        return self._converting if self._config else self.depot

    def _is_initialised(self, path: str) -> bool:
        place = self.repository.top / path
        return os.path.lexists(place / ".git") or not place.is_dir()

    def _known_trees(self, links: Sequence[Row]) -> dict[str, str]:
        """Return the trees of the submodules' commits that the user has."""
        if not links:
            return {}
        self._borrow(find_stores(self.repository, [row.path for row in links]))
        asked = "".join(f"{row.blob}^{{tree}}\n" for row in links).encode()
        answers = self.depot.call("cat-file", "--batch-check", stdin=asked).stdout.splitlines()
        pairs = zip(links, answers, strict=True)
        return {
            row.path: answer.split()[0].decode()
            for row, answer in pairs
            if answer.split()[-2:-1] == [b"tree"]
        }

    def _borrow(self, stores: Iterable[Path]) -> None:
        file = self.depot.directory / "objects/info/alternates"
        known = file.read_text()
        lines = [f"{quoted(os.fspath(store))}\n" for store in stores]
        if fresh := [line for line in dict.fromkeys(lines) if line not in known]:
            with file.open("a") as alternates:
                alternates.writelines(fresh)

    def _attributes(
        self, listing: Listing, paths: Iterable[str] | None = None
    ) -> dict[str, dict[str, str]]:
        """Return the attributes of the files that git may convert."""
        if not self._may_convert(listing):
            return {}
        asked = [row.path for row in listing.rows] if paths is None else paths
        names = b"".join(os.fsencode(path) + b"\0" for path in asked)
        git = self._over(listing.index)
        done = git.call("check-attr", "--cached", "-z", "--stdin", *_ATTRIBUTES, stdin=names)
        fields = done.stdout.split(b"\0")[:-1]
        # Path, name and value of each attribute, those of a path together and in our order. Most
        # files have the same values, so each set of values is processed once.
        width = 3 * len(_ATTRIBUTES)
        values = zip(*(fields[at::width] for at in range(2, width, 3)), strict=True)
        known: dict[tuple[bytes, ...], dict[str, str] | None] = {}
        found: dict[str, dict[str, str]] = {}
        for path, each in zip(fields[::width], values, strict=True):
            if each not in known:
                texts = [value.decode(errors="replace") for value in each]
                named: dict[str, str] = dict(zip(_ATTRIBUTES, texts, strict=True))
                known[each] = named if self._is_converting(named) else None
            if (kept := known[each]) is not None:
                found[os.fsdecode(path)] = kept
        return found

    def _may_convert(self, listing: Listing) -> bool:
        if not self._config:
            return False
        if "autocrlf = true" in self._config or "autocrlf = input" in self._config:
            return True
        own = read_plain(self.depot.directory / "convert/info/attributes", _MOST_ATTRIBUTES)
        files = listing.attribute_files
        texts = DepotTrees(self.depot).contents(files).values() if files else ()
        return any(_MENTIONED.search(text) for text in (own or b"", *texts))

    def _is_converting(self, values: Mapping[str, str]) -> bool:
        own = [values[name] not in _UNSET for name in ("ident", "working-tree-encoding", "filter")]
        is_text = values["text"] != "unset" and (
            values["text"] != "unspecified"
            or values["eol"] not in _UNSET
            or "autocrlf = true" in self._config
            or "autocrlf = input" in self._config
        )
        return any(own) or is_text

    def _writes_other_bytes(self, values: Mapping[str, str]) -> bool:
        """Return whether a checkout may have other bytes than the commit."""
        if any(values[name] not in _UNSET for name in ("ident", "working-tree-encoding")):
            return True
        if values["text"] == "unset" or values["eol"] == "lf":
            return False
        is_crlf = "autocrlf = true" in self._config or "eol = crlf" in self._config
        return values["eol"] == "crlf" or is_crlf

    def _convert_index(self, listing: Listing) -> bool:
        attributes, index = self._attributes(listing), listing.index
        if not attributes:
            return False
        marked = [
            row
            for row in listing.rows
            if row.mode in ("100644", "100755") and row.path in attributes and "\n" not in row.path
        ]
        written = [row for row in marked if self._writes_other_bytes(attributes[row.path])]
        large = [row for row in marked if attributes[row.path]["filter"] == "lfs"]
        found = self._checked_out(index, written) | self._fetched(large)
        put_entries(
            index,
            [
                row._replace(blob=found[row.path])
                for row in marked
                if found.get(row.path, row.blob) != row.blob
            ],
        )
        return bool(found)

    def _checked_out(self, index: Git, rows: Sequence[Row]) -> dict[str, str]:
        """Return the names of the contents that a checkout would write for these files."""
        if not rows:
            return {}
        with tempfile.TemporaryDirectory(dir=self.depot.directory, prefix="form-") as name:
            git = self._over(index, GIT_WORK_TREE=name)
            names = b"".join(os.fsencode(row.path) + b"\0" for row in rows)
            git.call("checkout-index", "--force", "-z", "--stdin", stdin=names)
            return self._hashed({row.path: Path(name, row.path) for row in rows})

    def _fetched(self, rows: Sequence[Row]) -> dict[str, str]:
        """Return the contents of Git LFS files that are available on this machine."""
        sizes = self._sizes([row.blob for row in rows])
        small = [r for r, size in zip(rows, sizes, strict=True) if 0 < size <= _LONGEST_POINTER]
        contents = DepotTrees(self.depot).contents([row.blob for row in small])
        store = self.repository.common / "lfs/objects"
        places: dict[str, Path] = {}
        for row in small:
            if pointer := _LFS_POINTER.fullmatch(contents[row.blob]):
                name = pointer[1].decode()
                place = store / name[:2] / name[2:4] / name
                if place.is_file() and not place.is_symlink():
                    places[row.path] = place
        return self._hashed(places)

    def _hashed(self, places: Mapping[str, Path]) -> dict[str, str]:
        if not places:
            return {}
        asked = b"".join(os.fsencode(place) + b"\n" for place in places.values())
        args = ("hash-object", "-w", "--no-filters", "--stdin-paths")
        return dict(zip(places, self.depot.text(*args, stdin=asked).split(), strict=True))

    def _cleaned(
        self, trees: DepotTrees, parent: TreeHash, entries: Mapping[str, TreeEntry | None]
    ) -> tuple[dict[str, TreeEntry], frozenset[str]]:
        """Return the files as in a commit, and those that a filter would convert."""
        files = {path: e for path, e in entries.items() if e and e.mode in ("100644", "100755")}
        if not files or not self._config:
            return {}, frozenset()
        with self._spare_index() as index:
            index.call("read-tree", trees.overlay(parent, entries))
            attributes = self._attributes(Listing(index), files)
            filtered = frozenset(p for p, a in attributes.items() if a["filter"] in self._filters)
            marked = {path: files[path] for path in attributes if path not in filtered}
            if not marked:
                return {}, filtered
            # Git does not convert a file whose committed content already has other line endings, so
            # it must see that content; and the attributes must be those after the change.
            drop_entries(index, marked)
            put_entries(index, _parent_rows(trees, parent, marked))
            with tempfile.TemporaryDirectory(dir=self.depot.directory, prefix="form-") as name:
                _write_files(Path(name), marked, trees)
                git = self._over(index, GIT_WORK_TREE=name)
                names = b"".join(os.fsencode(path) + b"\0" for path in marked)
                git.call("update-index", "-z", "--add", "--stdin", stdin=names)
            blobs = {row.path: row.blob for row in Listing(index).rows}
            return {p: TreeEntry(e.mode, blobs[p]) for p, e in marked.items()}, filtered

    def _over(self, index: Git, **env: str) -> Git:
        return self._converting.with_env(GIT_INDEX_FILE=index.env["GIT_INDEX_FILE"], **env)

    def _sizes(self, blobs: Sequence[str]) -> list[int]:
        """Return the size of each of these contents; -1 if it is missing."""
        if not blobs:
            return []
        asked = "".join(f"{blob}\n" for blob in blobs).encode()
        out = self.depot.call("cat-file", "--batch-check=%(objectsize)", stdin=asked).stdout
        return [int(line) if line.isdigit() else -1 for line in out.splitlines()]

    @contextmanager
    def _spare_index(self) -> Generator[Git]:
        with tempfile.TemporaryDirectory(dir=self.depot.directory, prefix="index-") as spare:
            yield self.depot.with_env(GIT_INDEX_FILE=os.fspath(Path(spare, "index")))


def make_converting(
    depot: Path, settings: Mapping[str, str], filters: Iterable[str], attributes: bytes
) -> None:
    """Create the git directory with which a depot converts as the repository's user does."""
    place = depot / "convert"
    if (place / "config").exists():
        return
    for part in ("info", "refs", "objects"):
        (place / part).mkdir(parents=True, exist_ok=True)
    (place / "info/attributes").write_bytes(attributes)
    (place / _FILTERS).write_text("".join(f"{name}\n" for name in sorted(filters)))
    (place / "HEAD").write_text("ref: refs/heads/none\n")
    lines = "".join(f"\t{key.partition('.')[2]} = {value}\n" for key, value in settings.items())
    format_lines = (depot / "config").read_text()
    version = 1 if "[extensions]" in format_lines else 0
    extensions = "".join(format_lines.partition("[extensions]")[1:])
    spare = place / "config.new"
    spare.write_text(
        f"[core]\n\trepositoryformatversion = {version}\n\tbare = false\n\tsafecrlf = false\n"
        f"{lines}{extensions}"
    )
    spare.replace(place / "config")


def find_stores(repository: Repository, paths: Iterable[str] = ()) -> list[Path]:
    """Return the object directories of a repository's submodules, including nested ones.

    `paths` are submodules that may have them in their own directory, as in older git versions.
    """
    waiting = [repository.common / "modules", repository.directory / "modules"]
    found: list[Path] = []
    for path in paths:
        own = repository.top / path / ".git"
        if (own / "objects").is_dir():
            found.append(own / "objects")
            waiting.append(own / "modules")
    seen = 0
    while waiting and seen < _MOST_STORES:
        seen += 1
        place = waiting.pop()
        # A name may contain slashes, so a folder here is a repository or contains some.
        if (place / "HEAD").is_file() and (place / "objects").is_dir():
            found.append(place / "objects")
            waiting.append(place / "modules")
            continue
        with suppress(OSError):
            waiting += [each for each in place.iterdir() if each.is_dir()]
    return sorted(set(found))


def copy_index(repository: Repository, depot: Git, copy: Path) -> None:
    """Copy the user's index, with the part that a split index shares, for git to read."""
    # With the index's own time: git detects edits in the same second only by that.
    for shared in repository.directory.glob("sharedindex.*"):
        with suppress(FileNotFoundError):
            shutil.copy2(shared, depot.directory / shared.name)
    with suppress(FileNotFoundError):
        shutil.copy2(repository.directory / "index", copy)


def find_missing(index: Git) -> list[str]:
    """Return the submodules in an index that have no files."""
    return [row.path for row in Listing(index).links]


def drop_entries(index: Git, paths: Iterable[str]) -> None:
    """Remove entries from an index, whatever is on disk."""
    width = len(index.text("mktree"))
    lines = b"".join(b"0 %s\t%s\0" % (b"0" * width, os.fsencode(path)) for path in paths)
    index.call("update-index", "-z", "--index-info", stdin=lines)


def put_entries(index: Git, rows: Sequence[Row]) -> None:
    """Add entries to an index, replacing existing ones."""
    if not rows:
        return
    lines = (f"{row.mode} {row.blob}\t".encode() + os.fsencode(row.path) + b"\0" for row in rows)
    index.call("update-index", "-z", "--index-info", stdin=b"".join(lines))


def _parse_row(line: bytes) -> Row:
    meta, _, name = line.partition(b"\t")
    mode, blob, _ = meta.decode().split()
    return Row(os.fsdecode(name), mode, blob)


def _parent_rows(trees: DepotTrees, parent: TreeHash, files: Mapping[str, TreeEntry]) -> list[Row]:
    entries = trees.entries(parent, list(files))
    return [Row(path, *entry) for path, entry in entries.items() if entry.mode != SUBMODULE]


def _write_files(root: Path, files: Mapping[str, TreeEntry], trees: DepotTrees) -> None:
    contents = trees.contents([entry.blob for entry in files.values()])
    for path, entry in files.items():
        place = root / path
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_bytes(contents[entry.blob])


def _is_kept(trees: DepotTrees, change: Changed) -> bool:
    return change.after is None or trees.is_kept(change.after.blob)


def _inside_submodules(trees: DepotTrees, tree: TreeHash, paths: Sequence[str]) -> frozenset[str]:
    above = {folder for path in paths for folder in _above(path)}
    found = trees.entries(tree, sorted(above)) if above else {}
    modules = tuple(f"{path}/" for path, entry in found.items() if entry.mode == SUBMODULE)
    return frozenset(path for path in paths if path.startswith(modules))


def _above(path: str) -> list[str]:
    """Return the directories that a path is in."""
    parts = path.split("/")
    return ["/".join(parts[:n]) for n in range(1, len(parts))]


def _size_on_disk(place: Path) -> int:
    with suppress(OSError):
        return place.lstat().st_size
    return -1
