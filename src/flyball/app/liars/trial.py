"""Try a verifier on liars: make a repository with both sides of each change, read its exit code.

A verifier that exits with 0 has accepted the change. It should accept every honest one and no lie.
The table shows both, as a verifier that rejects everything is no better than one that accepts
everything.
"""

from __future__ import annotations

import os
import py_compile
import shutil
import sys
import tempfile
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from typing import NamedTuple

import msgspec

from flyball.app.liars.changes import HONEST_WORK, BrokenProject, Files, proposed_changes
from flyball.errors import ToolError, ToolTimeout
from flyball.workspace.process.spawn import OwnOutput, run_sync

IN_WORDS = ("selection", "claims")
HARMFUL = ("regression", "around")
"""Families whose changes break something, whichever tests their author ran."""
BASE, HEAD = "main", "change"
SUITE = "{suite}"
VERIFY = "flyball verify --base {base} --head {head}"
LIE_IS_SEEN = ("a question", "not shown")
ANY = ("shown", *LIE_IS_SEEN)
_STATUS = {0: "shown", 3: "a question"}
"""The meaning of an exit code; any other one: not shown."""
_GIT = ("git", "-c", "user.name=Ada", "-c", "user.email=ada@example.org", "-c", "gc.auto=0")


class TrialCase(NamedTuple):
    """One change to try a verifier on: texts, or a folder of files."""

    family: str
    name: str
    project: BrokenProject
    change: Files
    folder: FolderCase | None = None

    @property
    def is_lie(self) -> bool:
        return self.family != HONEST_WORK

    @property
    def right(self) -> tuple[str, ...]:
        """Return the correct results, as statuses of a verdict."""
        if self.folder is None:
            return LIE_IS_SEEN if self.is_lie else ("shown",)
        return ANY if self.folder.expected.chance else self.folder.expected.status

    @property
    def needs(self) -> Iterable[str]:
        """Return the programs that the case requires."""
        yield from programs_of(self.project.files)
        if self.folder is not None:
            yield from self.folder.expected.needs


class TriedChange(NamedTuple):
    """The verifier's answer to one change."""

    family: str
    name: str
    answer: str
    """`accepted`, `rejected`, `timed out`, or `not tried: …`."""
    exit_code: int
    seconds: float
    said: str
    """The last line of the verifier's output."""
    right: tuple[str, ...] = ()
    """The correct answers; by default, those of its family."""

    @property
    def was_tried(self) -> bool:
        return not self.answer.startswith("not tried")

    @property
    def is_right(self) -> bool:
        """Return whether a lie was rejected, or honest work was accepted."""
        right = self.right or (LIE_IS_SEEN if self.family != HONEST_WORK else ("shown",))
        return _STATUS.get(self.exit_code, "not shown") in right


class Verifier(NamedTuple):
    """A verifier and the command that runs it."""

    command: str
    seconds: float
    environ: Mapping[str, str]


def make_verifier(command: str, seconds: float, environ: Mapping[str, str]) -> Verifier:
    """Return the verifier of a command; `flyball` means this installation."""
    paths = (str(Path(sys.executable).parent), environ.get("PATH", os.defpath))
    return Verifier(command, seconds, {**environ, "PATH": os.pathsep.join(paths)})


def all_cases() -> list[TrialCase]:
    """Return honest work and lies, each change once.

    Lies that consist of words, or of which tests their author ran, are excluded: the change itself
    does no harm, and from the change alone it looks like honest work next to an old failure.
    """
    found = [
        TrialCase(each.family, each.name, each.project, each.change)
        for each in proposed_changes()
        if each.family in (HONEST_WORK, *HARMFUL) or (each.family not in IN_WORDS and not each.args)
    ]
    seen: list[tuple[dict[str, str], Files]] = []
    kept: list[TrialCase] = []
    for case in found:
        change = (case.project.files, case.change)
        if change not in seen:
            seen.append(change)
            kept.append(case)
    return [*kept, *map(_of_folder, folder_cases())]


def _of_folder(case: FolderCase) -> TrialCase:
    files = dict.fromkeys(case.files, "")
    project = BrokenProject(files, {}, "", _suite_of(files))
    return TrialCase(case.family, case.name, project, {}, case)


def _suite_of(files: Mapping[str, str]) -> str:
    """Return how the authors of a project in a folder run its tests."""
    return next(suite for name, suite in _SUITES.items() if name in files)


_SUITES = {
    "package.json": "npm test",
    "go.mod": "go test ./...",
    "Cargo.toml": "cargo test",
    "phpunit.xml": "phpunit",
    "Rakefile": "rake",
    "Makefile": "make test",
    "pyproject.toml": "python -m pytest",
}


def chosen(
    cases: Sequence[TrialCase], families: Sequence[str], every: int, only: Sequence[str] = ()
) -> list[TrialCase]:
    """Select cases by family and name (default: all), and of each family every n-th.

    Part of a name is enough, such as `012` or `python-fix`.
    """
    found: list[TrialCase] = []
    count: dict[str, int] = {}
    for case in cases:
        if families and case.family not in families:
            continue
        if only and not any(part in case.name for part in only):
            continue
        if count.setdefault(case.family, 0) % every == 0:
            found.append(case)
        count[case.family] += 1
    return found


def programs_of(files: Iterable[str]) -> Iterator[str]:
    """Yield the programs that run the tests of a project with these files."""
    names = {path.rpartition("/")[2] for path in files}
    if "package.json" in names:
        yield from ("node", "npm")
    if "go.mod" in names:
        yield "go"
    if "Makefile" in names:
        yield "make"
    if "Cargo.toml" in names:
        yield "cargo"
    if any(name.endswith(".c") for name in names):
        yield "cc"


def make_repository(root: Path, case: TrialCase, environ: Mapping[str, str]) -> None:
    """Create a repository whose `main` is the broken project, with the change on a branch."""
    root.mkdir()
    folder = case.folder
    _git(root, environ, "init", "-q", "-b", BASE)
    _put(root, case.project.files) if folder is None else folder.put_base(root)
    _commit(root, environ, "A shop")
    _git(root, environ, "checkout", "-q", "-b", HEAD)
    _put(root, case.change) if folder is None else folder.put_change(root)
    _commit(root, environ, "Repair the total")


def ask(verifier: Verifier, case: TrialCase) -> TriedChange:
    """Run the verifier on one change, in a repository of its own."""
    if case.folder is not None:
        verifier = verifier._replace(environ={**verifier.environ, **case.folder.expected.env})
    for program in case.needs:
        if not shutil.which(program, path=verifier.environ.get("PATH")):
            return _told(case, f"not tried: {program} is not installed", -1)
    with tempfile.TemporaryDirectory(prefix="flyball-liars-") as place:
        repo = Path(place) / "repo"
        make_repository(repo, case, verifier.environ)
        try:
            done = _run(verifier, case, repo)
        except ToolTimeout:
            return _told(case, "timed out", -1, verifier.seconds)
    lines = (done.stdout + done.stderr).decode("utf-8", "replace").split("\n")
    said = next((line.strip() for line in reversed(lines) if line.strip()), "")
    # With these two exit codes sh reports that a program is missing or cannot be run: a verifier
    # that never ran has not rejected anything.
    if done.exit_code in (126, 127):
        return _told(case, f"not tried: {said or 'the verifier cannot be run'}", done.exit_code)
    answer = "rejected" if done.exit_code else "accepted"
    return _told(case, answer, done.exit_code, done.elapsed, said[:200])


def ask_all(
    verifier: Verifier,
    cases: Sequence[TrialCase],
    jobs: int,
    on_answer: Callable[[TriedChange], None],
) -> list[TriedChange]:
    """Return every answer in the order of the cases; report each one in that order."""
    found: list[TriedChange] = []
    with ThreadPoolExecutor(max_workers=jobs) as workers:
        for tried in workers.map(partial(ask, verifier), cases):
            on_answer(tried)
            found.append(tried)
    return found


def _told(
    case: TrialCase, answer: str, exit_code: int, seconds: float = 0.0, said: str = ""
) -> TriedChange:
    return TriedChange(case.family, case.name, answer, exit_code, seconds, said, case.right)


def _run(verifier: Verifier, case: TrialCase, repo: Path) -> OwnOutput:
    words = {
        "{base}": BASE,
        "{head}": HEAD,
        "{repo}": str(repo),
        SUITE: case.project.verify_with,
    }
    command = verifier.command
    for name, word in words.items():
        command = command.replace(name, word)
    told = {"LIARS_BASE": BASE, "LIARS_HEAD": HEAD, "LIARS_REPO": str(repo)}
    told["LIARS_SUITE"] = case.project.verify_with
    return run_sync(
        ["sh", "-c", command],
        cwd=repo,
        env={**verifier.environ, **told},
        seconds=verifier.seconds,
    )


def _put(root: Path, files: Mapping[str, str | None]) -> None:
    for name, text in files.items():
        place = root / name
        if text is None:
            place.unlink()
            continue
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text(text, encoding="utf-8")


def _commit(root: Path, environ: Mapping[str, str], words: str) -> None:
    _git(root, environ, "add", "-A")
    _git(root, environ, "commit", "-q", "-m", words)


def _git(root: Path, environ: Mapping[str, str], *args: str) -> None:
    alone = {name: value for name, value in environ.items() if not name.startswith("GIT_")}
    alone |= {"GIT_CONFIG_GLOBAL": "/dev/null", "GIT_CONFIG_NOSYSTEM": "1"}
    done = run_sync([*_GIT, *args], cwd=root, env=alone)
    if done.exit_code:
        said = done.stderr.decode("utf-8", "replace").strip()
        raise ToolError(f"git {args[0]} failed in the liars' repository: {said}")


# Read the changes stored as folders of files: `base`, `head` and `expected.json` each.
#
# They ship next to this module; in a checkout they are in `bench/verdicts`.

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
    "K": "weakening",
    "honest": "honest",
}
"""The names in the table for the classes of `expected.json`."""
_SHIPPED = Path(__file__).parent / "cases"
_CHECKOUT = Path(__file__).parents[4] / "bench" / "verdicts"


class Expected(msgspec.Struct, frozen=True, rename={"kind": "class"}):
    """The expected answer to a change, from `expected.json`."""

    kind: str
    status: tuple[str, ...]
    """The correct answers: `shown`, `a question`, `not shown`."""
    gone: tuple[str, ...] = ()
    """Files that the change deletes."""
    compile: str = ""
    """The path of a compiled file that contains the fix while the source does not."""
    env: dict[str, str] = {}
    needs: tuple[str, ...] = ()
    chance: bool = False
    """Whether the change passes only sometimes: then every answer is correct."""
    note: str = ""


class FolderCase(msgspec.Struct, frozen=True):
    """One change, stored as a folder."""

    name: str
    place: Path
    expected: Expected

    @property
    def family(self) -> str:
        return FAMILIES[self.expected.kind]

    @property
    def files(self) -> tuple[str, ...]:
        """Return the files of the project before the change."""
        base = self.place / "base"
        return tuple(str(each.relative_to(base)) for each in base.rglob("*") if each.is_file())

    def put_base(self, repo: Path) -> None:
        """Copy the project as it was before the change."""
        _copy(self.place / "base", repo)

    def put_change(self, repo: Path) -> None:
        """Apply the change to a copy of the project."""
        if self.expected.compile:
            _put_compiled(repo, self.expected.compile)
        for path in self.expected.gone:
            (repo / path).unlink()
        # git keeps no empty folder, so a change that only deletes has none.
        if (self.place / "head").is_dir():
            _copy(self.place / "head", repo)


def folder_cases() -> Sequence[FolderCase]:
    """Return every change stored as a folder, in numerical order."""
    top = _SHIPPED if _SHIPPED.is_dir() else _CHECKOUT
    decode = msgspec.json.Decoder(Expected).decode
    return [
        FolderCase(each.parent.name, each.parent, decode(each.read_bytes()))
        for each in sorted(top.glob("*/expected.json"))
    ]


def _copy(place: Path, repo: Path) -> None:
    # If the file kept its time, git would consider a file of the same length unchanged.
    shutil.copytree(place, repo, copy_function=shutil.copy, dirs_exist_ok=True)


def _put_compiled(repo: Path, place: str) -> None:
    """Compile the fixed cart and keep the source unchanged."""
    source = repo / "shop" / "cart.py"
    text = source.read_text()
    source.write_text(text.replace("+= price\n", "+= price * quantity\n"))
    unchecked = py_compile.PycInvalidationMode.UNCHECKED_HASH
    cached = None if place.endswith("__pycache__") else str(repo / place)
    py_compile.compile(str(source), cached, doraise=True, invalidation_mode=unchecked)
    source.write_text(text)
