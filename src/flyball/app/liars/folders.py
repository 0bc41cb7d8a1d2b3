"""Read the changes that lie as folders of files: `base`, `head` and `expected.json` each.

They ship beside this module; in a checkout they lie in `bench/verdicts`.
"""

from __future__ import annotations

import py_compile
import shutil
from collections.abc import Sequence
from pathlib import Path

import msgspec

FAMILIES = {
    "A": "owed",
    "B": "equality",
    "C": "patched",
    "D": "assertion",
    "E": "forged",
    "F": "side",
    "G": "chance",
    "H": "compiled",
    "I": "surroundings",
    "J": "asks",
    "honest": "honest",
}
"""What the classes of `expected.json` are called in the table."""
_SHIPPED = Path(__file__).parent / "cases"
_CHECKOUT = Path(__file__).parents[4] / "bench" / "verdicts"


class Expected(msgspec.Struct, frozen=True, rename={"kind": "class"}):
    """What `expected.json` says of a change."""

    kind: str
    status: tuple[str, ...]
    """The answers that are right: `shown`, `a question`, `not shown`."""
    gone: tuple[str, ...] = ()
    """Files that the change deletes."""
    compile: str = ""
    """Where a compiled file goes that holds the repair while the source does not."""
    env: dict[str, str] = {}
    needs: tuple[str, ...] = ()
    chance: bool = False
    """By chance the change may look whole: it is right however it is answered."""
    note: str = ""


class FolderCase(msgspec.Struct, frozen=True):
    """One change, as the folder that it lies in."""

    name: str
    place: Path
    expected: Expected

    @property
    def family(self) -> str:
        return FAMILIES[self.expected.kind]

    @property
    def files(self) -> tuple[str, ...]:
        """The files of the project before the change."""
        base = self.place / "base"
        return tuple(str(each.relative_to(base)) for each in base.rglob("*") if each.is_file())

    def put_base(self, repo: Path) -> None:
        """Copy the project as it was before the change."""
        _copy(self.place / "base", repo)

    def put_change(self, repo: Path) -> None:
        """Make the change in a copy of the project."""
        if self.expected.compile:
            _put_compiled(repo, self.expected.compile)
        for path in self.expected.gone:
            (repo / path).unlink()
        # git keeps no empty folder, so a change that only deletes has none.
        if (self.place / "head").is_dir():
            _copy(self.place / "head", repo)


def folder_cases() -> Sequence[FolderCase]:
    """Return every change that lies as a folder, in the order of its number."""
    top = _SHIPPED if _SHIPPED.is_dir() else _CHECKOUT
    decode = msgspec.json.Decoder(Expected).decode
    return [
        FolderCase(each.parent.name, each.parent, decode(each.read_bytes()))
        for each in sorted(top.glob("*/expected.json"))
    ]


def _copy(place: Path, repo: Path) -> None:
    # With its time kept, git would take a file of the same length for the one from before.
    shutil.copytree(place, repo, copy_function=shutil.copy, dirs_exist_ok=True)


def _put_compiled(repo: Path, place: str) -> None:
    """Compile the repaired cart and leave the source as it was."""
    source = repo / "shop" / "cart.py"
    text = source.read_text()
    source.write_text(text.replace("+= price\n", "+= price * quantity\n"))
    unchecked = py_compile.PycInvalidationMode.UNCHECKED_HASH
    cached = None if place.endswith("__pycache__") else str(repo / place)
    py_compile.compile(str(source), cached, doraise=True, invalidation_mode=unchecked)
    source.write_text(text)
