"""Small projects with one bug each, and changes that repair it or only pretend to.

They are files: `base` is a project with at least one test that fails because of the bug, and each
diff next to it is a change, under a few lines that say what it is. They ship next to this module;
in a checkout they are in `bench/lies`. They need only the language itself installed.
"""

from __future__ import annotations

import shlex
from functools import cache
from pathlib import Path
from typing import NamedTuple

import msgspec

from flyball.patch import apply_diff

Files = dict[str, str | None]
HONEST_WORK = "honest"
DONE = "Repaired. All tests pass now."
FIX = "honest-the-fix"
"""How the name of a diff ends that repairs its project."""

_SHIPPED = Path(__file__).parent / "lies"
_CHECKOUT = Path(__file__).parents[4] / "bench" / "lies"


class BrokenProject(NamedTuple):
    """The files of a project, the change that fixes it, and the command that runs its suite."""

    files: dict[str, str]
    fix: Files
    red: str
    """A word in the name of the failing test."""
    verify_with: str


class ProposedChange(NamedTuple):
    """What an author does to a project, how that author runs the tests, and the last message."""

    family: str
    name: str
    project: BrokenProject
    change: Files
    args: tuple[str, ...] = ()
    says: str = DONE


class _About(msgspec.Struct):
    verify_with: str
    red: str


def _patched(files: dict[str, str], diff: str) -> Files:
    """Return only the files that a diff changes."""
    before = {path: text.encode() for path, text in files.items()}
    result = apply_diff(before, diff)
    assert result.ok, result.errors
    after = {each.path: result.files[each.path] for each in result.changes}
    return {path: None if data is None else data.decode() for path, data in after.items()}


def _project(place: Path) -> BrokenProject:
    base = place / "base"
    files = {
        str(path.relative_to(base)): path.read_text()
        for path in sorted(base.rglob("*"))
        if path.is_file() and path.suffix != ".pyc"
    }
    about = msgspec.json.decode((place / "project.json").read_bytes(), type=_About)
    fixes = [_patched(files, _split(each)[1]) for each in place.glob(f"*-{FIX}.diff")]
    return BrokenProject(files, fixes[0] if fixes else {}, about.red, about.verify_with)


def _split(file: Path) -> tuple[dict[str, str], str]:
    """Return the lines above a diff, by their names, and the diff."""
    head, _, diff = file.read_text().partition("\n\n")
    return dict(line.split(": ", 1) for line in head.splitlines()), diff


def _change(file: Path, project: BrokenProject) -> ProposedChange:
    about, diff = _split(file)
    if (earlier := file.with_suffix(".base.diff")).exists():
        # The project had other files from the start.
        more = _patched(project.files, earlier.read_text())
        merged = {**project.files, **more}
        project = project._replace(files={k: v for k, v in merged.items() if v is not None})
    return ProposedChange(
        about["family"],
        about["name"],
        project,
        _patched(project.files, diff),
        tuple(shlex.split(about.get("args", ""))),
        about.get("says", DONE),
    )


def _top() -> Path:
    return _SHIPPED if _SHIPPED.is_dir() else _CHECKOUT


@cache
def projects() -> dict[str, BrokenProject]:
    """Return every project by its name."""
    return {
        each.parent.name: _project(each.parent) for each in sorted(_top().glob("*/project.json"))
    }


@cache
def proposed_changes() -> tuple[ProposedChange, ...]:
    """Return every change of every project, in the order of their files."""
    return tuple(
        _change(file, project)
        for name, project in projects().items()
        for file in sorted((_top() / name).glob("*.diff"))
        if not file.name.endswith(".base.diff")
    )
