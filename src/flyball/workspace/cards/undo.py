"""Undo single edits: the replaced contents are stored before an edit, and found by its id.

An edit made outside a run (`flyball patch apply`, an undo itself) is recorded in a log of the
project, with every content that it replaces. An edit inside a run has the run's snapshot before it.
"""

from __future__ import annotations

import json
import os
import secrets
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

import msgspec

from flyball.errors import Conflict, NotFound, UsageError
from flyball.workspace.cards.use_cases import ProjectPlaces, kept_runs
from flyball.workspace.errors import Diverged, WorkspaceHeld, explain_disk_errors
from flyball.workspace.run.lock import WorkspaceLock
from flyball.workspace.run.opening import find_workspace, open_workspace, peek_workspace
from flyball.workspace.run.snapshot import MAX_AGE, MAX_COUNT, append_line, read_lines
from flyball.workspace.run.workspace import Workspace
from flyball.workspace.trees.git_objects import replace_whole
from flyball.workspace.trees.git_trees import open_private
from flyball.workspace.trees.trees import REGULAR, Changed, TreeEntry, TreeHash, kind_of
from flyball.workspace.trees.writer import Writer, entry_on_disk

SHORTEST = 4
"""Minimum length of a prefix that identifies a snapshot, if it is unique."""


class EditedFile(msgspec.Struct, frozen=True):
    """One file of an edit, before and after it."""

    path: str
    before: TreeEntry | None
    after: TreeEntry | None


class EditRecord(msgspec.Struct, frozen=True):
    """One edit that can be undone."""

    id: str
    title: str
    root: str
    at: float
    files: tuple[EditedFile, ...]
    undoes: str = ""
    """The edit that this one undid, if it is an undo."""
    run: str = ""


class Undone(NamedTuple):
    """An undone edit: what was written, and the id by which the undo can be undone."""

    edit: EditRecord
    writes: tuple[Changed, ...]
    lost: tuple[str, ...]
    snapshot: str


class UndoLog:
    """The edits of a project made outside its runs, oldest first, with their contents."""

    def __init__(self, state_dir: Path, clock: Callable[[], float] = time.time) -> None:
        self.directory = state_dir / "undo"
        self.clock = clock
        self._file = self.directory / "edits.jsonl"
        self._store = open_private(self.directory, self.directory, program="git")

    def records(self) -> tuple[EditRecord, ...]:
        """Return every stored edit, oldest first."""
        return tuple(read_lines(self._file, EditRecord))

    def note(
        self, title: str, root: Path, contents: Mapping[str, tuple[bytes | None, bytes | None]]
    ) -> str:
        """Store what an edit is about to replace and to write; return the edit's id.

        Call it before the first file is written, so that an interrupted edit can be undone as well.
        """
        files: list[EditedFile] = []
        for path, (before, after) in contents.items():
            there = entry_on_disk(root, path)
            mode = there.mode if there else REGULAR
            files.append(EditedFile(path, self._keep(mode, before), self._keep(mode, after)))
        return self.append(title, root, files).id

    def append(
        self, title: str, root: Path, files: Sequence[EditedFile], undoes: str = ""
    ) -> EditRecord:
        """Record an edit whose contents are already stored."""
        at = self.clock()
        record = EditRecord(
            secrets.token_hex(6), title, os.fspath(root), at, tuple(files), undoes=undoes
        )
        with explain_disk_errors(os.fspath(self.directory)):
            append_line(self._file, record)
            # Only now: before it was recorded, the new edit's objects would have been unreferenced.
            self._forget_old(at)
        return record

    def undo(self, edit: EditRecord, *, force: bool) -> Undone:
        """Restore the files of an edit; refuse if they changed since, unless forced."""
        root = Path(edit.root)
        # A killed undo is finished first: otherwise its plan would be overwritten.
        writer = Writer(self._store, root, self.directory / "pending.json")
        writer.finish()
        now = {file.path: entry_on_disk(root, file.path) for file in edit.files}
        drifted = [f.path for f in edit.files if now[f.path] not in (f.before, f.after)]
        if drifted and not force:
            raise Diverged(
                f"{', '.join(drifted)} changed since edit {edit.id}.",
                "Nothing was changed. Repeat with --force to bring the old content back anyway.",
                drifted,
            )
        back = [f for f in edit.files if now[f.path] != f.before]
        files = [EditedFile(f.path, self._keep_present(root, f, now), f.before) for f in back]
        writes = tuple(
            Changed(f.path, kind_of(f.before, f.after), f.before, f.after) for f in files
        )
        if not writes:
            return Undone(edit, (), (), "")
        record = self.append(f"undo of {edit.title}", root, files, edit.id)
        writer.perform(f"Undoing {edit.id}", writes)
        return Undone(edit, writes, tuple(drifted), record.id)

    def take_over(self, edit: EditRecord, contents: Mapping[str, bytes]) -> EditRecord:
        """Copy an edit of a run here with its contents, under the names that they have here."""
        names = {blob: self._store.keep(content) for blob, content in contents.items()}
        files = tuple(
            EditedFile(f.path, _renamed(f.before, names), _renamed(f.after, names))
            for f in edit.files
        )
        return msgspec.structs.replace(edit, files=files)

    def _keep(self, mode: str, content: bytes | None) -> TreeEntry | None:
        return None if content is None else TreeEntry(mode, self._store.keep(content))

    def _keep_present(
        self, root: Path, file: EditedFile, now: Mapping[str, TreeEntry | None]
    ) -> TreeEntry | None:
        """Store the current content, so that the undo can be undone."""
        entry = now[file.path]
        if entry is None or entry == file.after:
            return entry
        place = root / file.path
        link = os.fsencode(place.readlink()) if place.is_symlink() else None
        return TreeEntry(entry.mode, self._store.keep(link or place.read_bytes()))

    def _forget_old(self, now: float) -> None:
        records = self.records()
        kept = [each for each in records if each.at > now - MAX_AGE][-MAX_COUNT:]
        if len(kept) == len(records):
            return
        lines = [json.dumps(msgspec.to_builtins(each)) + "\n" for each in kept]
        replace_whole(self._file, "".join(lines).encode())
        entries = [entry for r in kept for f in r.files for entry in (f.before, f.after)]
        needed = {entry.blob for entry in entries if entry}
        for file in self.directory.glob("**/objects/??/*"):
            if file.parent.name + file.name not in needed:
                file.unlink()


def _renamed(entry: TreeEntry | None, names: Mapping[str, str]) -> TreeEntry | None:
    return entry and TreeEntry(entry.mode, names[entry.blob])


def edits(places: ProjectPlaces) -> tuple[EditRecord, ...]:
    """Return the edits in the user's checkout that can be undone, newest first."""
    records = UndoLog(places.state_dir).records()
    inner = [each for run in _runs_in_place(places) for each in _edits_of_run(places, run)]
    undone = _undone(records)
    found = [each for each in (*records, *inner) if not each.undoes and each.id not in undone]
    unreverted = [each for each in found if _would_write(each)]
    return tuple(sorted(unreverted, key=lambda each: each.at, reverse=True))


def find_edit(places: ProjectPlaces, snapshot: str = "") -> EditRecord:
    """Return the edit with this snapshot, also in a run's worktree; by default the last."""
    if not snapshot:
        if found := edits(places):
            return found[0]
        raise UsageError(
            "There is no edit to undo in this checkout.",
            "Name a snapshot to reach into the worktree of a run, or see `flyball card revert`.",
        )
    known = [*UndoLog(places.state_dir).records()]
    known += [each for run in kept_runs(places) for each in _edits_of_run(places, run, snapshot)]
    meant = {each.id: each for each in known if each.id.startswith(snapshot)}
    if len(meant) == 1 and len(snapshot) >= SHORTEST:
        return next(iter(meant.values()))
    hint = "Several begin like that; write more of it." if meant else "`flyball undo --list` helps."
    raise NotFound("snapshot", snapshot, hint)


def undo(places: ProjectPlaces, edit: EditRecord, *, force: bool = False) -> Undone:
    """Undo one edit where it was made."""
    log = UndoLog(places.state_dir)
    name = f"locks/{edit.run}" if edit.run and not _is_in_place(places, edit.run) else ""
    lock = WorkspaceLock(places.state_dir / (name or "checkout.lock"), edit.root)
    try:
        if edit.run:
            workspace = peek_workspace(edit.run, places.state_dir, home=places.home)
            _refuse_committed(workspace, edit)
            edit = log.take_over(edit, workspace.trees.contents(_blobs(edit)))
        return log.undo(edit, force=force)
    finally:
        lock.release()


def _would_write(edit: EditRecord) -> bool:
    root = Path(edit.root)
    return root.is_dir() and any(
        _differs(entry_on_disk(root, file.path, _width(file)), file.before) for file in edit.files
    )


def _differs(one: TreeEntry | None, other: TreeEntry | None) -> bool:
    return one != other


def _width(file: EditedFile) -> int:
    return len((file.before or file.after or TreeEntry("", "0" * 40)).blob)


def _undone(records: Iterable[EditRecord]) -> set[str]:
    """Return the undone edits, and the undone undos."""
    found: set[str] = set()
    for record in records:
        if record.undoes:
            found.add(record.undoes)
            # Undoing an undo restores the edit.
            found -= {r.undoes for r in records if r.id == record.undoes}
    return found


def _runs_in_place(places: ProjectPlaces) -> Iterator[str]:
    for run in kept_runs(places):
        if _is_in_place(places, run):
            yield run


def _is_in_place(places: ProjectPlaces, run: str) -> bool:
    facts = find_workspace(run, places.state_dir)
    return facts is not None and facts.in_place


def _edits_of_run(places: ProjectPlaces, run: str, id: str = "") -> Iterator[EditRecord]:
    """Yield what a run changed between consecutive snapshots; the last one of each id.

    Yield nothing for an active run: only its holder may read its tree.
    """
    facts = find_workspace(run, places.state_dir)
    if facts is None or not Path(facts.root).is_dir():
        return
    try:
        known = peek_workspace(run, places.state_dir, home=places.home).snapshots.records()
    except NotFound:
        # It was prepared for a run that never began, and deleted since it was listed.
        return
    if not any(record.tree.startswith(id) for record in known):
        return
    project, home = Path(facts.project), places.home
    with (
        suppress(WorkspaceHeld),
        open_workspace(project, run, places.state_dir, in_place=facts.in_place, home=home) as own,
    ):
        records = own.snapshots.records()
        trees = [*(record.tree for record in records[1:]), own.tree_hash()]
        found: dict[str, EditRecord] = {}
        for record, after in zip(records, trees, strict=True):
            if changes := own.trees.changes(record.tree, after):
                files = tuple(EditedFile(c.path, c.before, c.after) for c in changes)
                found[record.tree] = EditRecord(
                    record.tree, f"a call of run {run}", facts.root, record.at, files, run=run
                )
        yield from found.values()


def _blobs(edit: EditRecord) -> list[str]:
    return [entry.blob for f in edit.files for entry in (f.before, f.after) if entry]


def _refuse_committed(workspace: Workspace, edit: EditRecord) -> None:
    """Refuse a committed edit of a worktree: revert its card, or the next merge restores it."""
    if workspace.in_place:
        return
    paths = [file.path for file in edit.files]
    entries = workspace.trees.entries(TreeHash(workspace.committed_tree()), paths)
    if any(entries.get(file.path) != file.after for file in edit.files):
        return
    for record in reversed(workspace.cards()):
        touched = {change.path for change in workspace.trees.changes(record.before, record.after)}
        if touched.intersection(paths):
            raise Conflict(
                f"That edit is part of card {record.card}, which is committed.",
                f"Revert it with `flyball card revert {workspace.run} {record.card} --paths "
                f"{' '.join(paths)}`.",
            )
