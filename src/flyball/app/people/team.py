"""Open the storage of a team's people, and name projects in grants."""

from __future__ import annotations

import fcntl
import os
from collections.abc import Generator, Iterable, Sequence
from contextlib import contextmanager
from pathlib import Path

import msgspec

from flyball.app.people.decisions import DATABASE
from flyball.app.people.person import Change, People, Person, name_taken, unknown_person
from flyball.app.project import Home, load_extra, project_name
from flyball.app.settling import state_dir
from flyball.errors import JournalError


def open_people(home: Home) -> People:
    """Open the people of the configured database, or of this user's state directory."""
    if home.database:
        return load_extra(DATABASE).PostgresPeople(home.database)
    return FilePeople(state_dir(home.environ))


def scope_of(home: Home) -> str:
    """Return a project's name in grants: in a database, the same on every machine with a clone."""
    return project_name(home) if home.database else home.state.name


FILE = "people.json"


class FilePeople:
    """The people of a state directory; a change applies to the next request."""

    def __init__(self, base: Path) -> None:
        self._file = base / FILE
        self._mark: tuple[int, ...] = ()
        self._known: tuple[Person, ...] = ()

    def all(self) -> Sequence[Person]:
        """Return all people, sorted by name; raise if the file is damaged."""
        try:
            fact = self._file.stat()
            mark = (fact.st_ino, fact.st_mtime_ns, fact.st_size)
            if mark != self._mark:
                self._known, self._mark = self._read(), mark
        except FileNotFoundError:
            self._known, self._mark = (), ()
        except (OSError, msgspec.MsgspecError) as error:
            raise JournalError(
                f"{self._file} cannot be read: {error}.",
                "Restore a copy of it; it contains the roles.",
            ) from error
        return self._known

    def add(self, person: Person) -> None:
        """Add a person; raise `Conflict` if the name is taken."""
        with self._locked():
            found = self.all()
            if any(each.name == person.name for each in found):
                raise name_taken(person.name)
            self._write((*found, person))

    def change(self, name: str, action: Change) -> Person:
        """Apply `action` to a person and store the result; raise `NotFound` if the name is
        unknown.
        """
        with self._locked():
            found = {each.name: each for each in self.all()}
            if name not in found:
                raise unknown_person(name)
            changed = action(found[name])
            self._write({**found, name: changed}.values())
            return changed

    def remove(self, name: str) -> bool:
        """Remove a person immediately; return whether they existed."""
        with self._locked():
            found = self.all()
            self._write(each for each in found if each.name != name)
            return any(each.name == name for each in found)

    def close(self) -> None:
        """Do nothing: the file is open only while it is read or written."""

    def _read(self) -> tuple[Person, ...]:
        return msgspec.json.decode(self._file.read_bytes(), type=tuple[Person, ...])

    def _write(self, people: Iterable[Person]) -> None:
        kept = sorted(people, key=lambda each: each.name)
        new = self._file.with_suffix(".new")
        fd = os.open(new, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
        with os.fdopen(fd, "wb") as out:
            out.write(msgspec.json.format(msgspec.json.encode(kept)) + b"\n")
            out.flush()
            os.fsync(out.fileno())
        new.replace(self._file)

    @contextmanager
    def _locked(self) -> Generator[None]:
        """Lock the file, so that two concurrent additions are both stored."""
        self._file.parent.mkdir(parents=True, exist_ok=True)
        fd = os.open(self._file.with_suffix(".lock"), os.O_RDWR | os.O_CREAT, 0o600)
        try:
            fcntl.flock(fd, fcntl.LOCK_EX)
            yield
        finally:
            os.close(fd)
