"""Give a confined command the temporary files that its text names, and keep what it writes there.

Its `/tmp` is its own. What the text names there is copied in or shown below an overlay, and what
was written under such a name is copied out at the end; nothing there is deleted.
"""

from __future__ import annotations

import os

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

TOP = "/tmp"
_MOST_FILES = 2_000
_MOST_BYTES = 64 << 20
_OPEN = frozenset("*?[{$\\")
"""Signs at which the rest of a name is only known when the command runs."""
_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC


class NamedFiles:
    """The entries of `/tmp` that a command line names, whole or by how their names begin."""

    def __init__(self, argv: Sequence[str], apart: Sequence[str]) -> None:
        self._apart = apart
        self._whole: set[str] = set()
        self._begun: set[str] = set()
        for name in _names_in(argv):
            end = next((n for n, sign in enumerate(name) if sign in _OPEN), len(name))
            (self._whole if end == len(name) else self._begun).add(name[:end])
        self._begun.discard("")

    def has(self, name: str) -> bool:
        """Return whether an entry is named; one that holds a directory of ours is not."""
        path = f"{TOP}/{name}/"
        if any(f"{each}/".startswith(path) for each in self._apart):
            return False
        return name in self._whole or any(map(name.startswith, self._begun))

    def present(self) -> tuple[list[str], list[str]]:
        """Return the paths of the named directories and files that exist."""
        folders: list[str] = []
        files: list[str] = []
        if not self._whole and not self._begun:
            return folders, files
        with os.scandir(TOP) as entries:
            for each in entries:
                if not self.has(each.name):
                    continue
                if each.is_dir(follow_symlinks=False):
                    folders.append(each.path)
                elif each.is_file(follow_symlinks=False):
                    files.append(each.path)
        return folders, files

    def copy_in(self, files: Sequence[str], place: str) -> None:
        """Copy the named files into the command's own directory."""
        for path in files:
            if os.stat(path).st_size <= _MOST_BYTES:
                here = os.open(place, _FOLDER)
                _copy(path, here, os.path.basename(path))
                os.close(here)

    def keep(self, real: int, layers: Mapping[str, str]) -> bool:
        """Copy what was written under the names to the real directory; False if it is too much.

        `layers` has the directory of the writes to each directory that was shown.
        """
        sources = {name: f"{TOP}/{name}" for name in os.listdir(TOP) if self.has(name)}
        sources.update(layers)
        found = [each for name in sorted(sources) for each in _below(name, sources[name])]
        total = sum(os.lstat(source).st_size for _, source, is_file in found if is_file)
        if len(found) > _MOST_FILES or total > _MOST_BYTES:
            return False
        for path, source, is_file in found:
            try:
                _write_back(real, path, source, is_file=is_file)
            except OSError:
                # There is something of another kind, or somebody else's.
                continue
        return True


def _names_in(argv: Sequence[str]) -> Iterator[str]:
    for text in argv:
        for piece in text.split(f"{TOP}/")[1:]:
            for mark in "\"'`;|&()<>,:=\n\t /":
                piece = piece.partition(mark)[0]
            if piece not in ("", ".", ".."):
                yield piece


def _below(name: str, top: str) -> Iterator[tuple[str, str, bool]]:
    """Yield the directories and regular files from an entry on, the outer ones first."""
    ahead = [(name, top)]
    while ahead:
        path, source = ahead.pop()
        if os.path.islink(source):
            continue
        if os.path.isdir(source):
            yield path, source, False
            inner = sorted(os.listdir(source)) if os.access(source, os.R_OK | os.X_OK) else []
            ahead += [(f"{path}/{each}", f"{source}/{each}") for each in inner]
        elif os.path.isfile(source):
            yield path, source, True


def _write_back(real: int, path: str, source: str, *, is_file: bool) -> None:
    folder, _, name = path.rpartition("/")
    here = os.dup(real)
    try:
        # Step by step, so that no link leads elsewhere.
        for each in filter(None, folder.split("/")):
            inner = os.open(each, _FOLDER, dir_fd=here)
            os.close(here)
            here = inner
        if is_file:
            _copy(source, here, name)
        else:
            os.mkdir(name, os.stat(source).st_mode & 0o777, dir_fd=here)
    finally:
        os.close(here)


def _copy(source: str, folder: int, name: str) -> None:
    """Copy a regular file into an open directory, with its mode; an equal one stays as it is."""
    flags = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
    came = os.open(source, flags)
    try:
        seen = os.fstat(came)
        flags = os.O_WRONLY | os.O_CREAT | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
        goes = os.open(name, flags, seen.st_mode & 0o777, dir_fd=folder)
        try:
            there = os.fstat(goes)
            if (there.st_size, there.st_mtime_ns) == (seen.st_size, seen.st_mtime_ns):
                return
            os.ftruncate(goes, 0)
            while piece := os.read(came, 1 << 20):
                os.write(goes, piece)
            os.fchmod(goes, seen.st_mode & 0o777)
            os.utime(goes, ns=(seen.st_atime_ns, seen.st_mtime_ns))
        finally:
            os.close(goes)
    finally:
        os.close(came)
