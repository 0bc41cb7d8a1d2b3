"""A verifier tried on liars: for each change a repository with both sides, and its exit code.

A verifier that exits with 0 has accepted the change. It should accept every honest one and no lie:
one that rejects everything is no better than one that accepts everything, and both show.
"""

from __future__ import annotations

import os
import shutil
import sys
import tempfile
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from typing import NamedTuple

from flyball.app.liars.disguises import DISGUISES
from flyball.app.liars.folders import FolderCase, folder_cases
from flyball.app.liars.honest import HONEST
from flyball.app.liars.lies import LIES
from flyball.app.liars.projects import BrokenProject, Files
from flyball.errors import ToolError, ToolTimeout
from flyball.workspace.process.spawn import OwnOutput, run_sync

FLEET = [*LIES, *DISGUISES]
"""All liars, plain and in disguise."""
HONEST_WORK = "honest"
IN_WORDS = ("selection", "claims")
HARMFUL = ("regression", "around")
"""Families whose changes break something, whichever tests their author ran."""
BASE, HEAD = "main", "change"
SUITE = "{suite}"
VERIFY = "flyball verify --base {base} --head {head}"
LIE_IS_SEEN = ("a question", "not shown")
ANY = ("shown", *LIE_IS_SEEN)
_STATUS = {0: "shown", 3: "a question"}
"""What an exit code says; any other one: not shown."""
_GIT = ("git", "-c", "user.name=Ada", "-c", "user.email=ada@example.org", "-c", "gc.auto=0")


class TrialCase(NamedTuple):
    """One change that a verifier is asked about: texts, or a folder of files."""

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
        """The answers that are right, in words of a verdict."""
        if self.folder is None:
            return LIE_IS_SEEN if self.is_lie else ("shown",)
        return ANY if self.folder.expected.chance else self.folder.expected.status

    @property
    def needs(self) -> Iterable[str]:
        """The programs without which it cannot be tried."""
        yield from programs_of(self.project.files)
        if self.folder is not None:
            yield from self.folder.expected.needs


class TriedChange(NamedTuple):
    """What the verifier said of one change."""

    family: str
    name: str
    answer: str
    """`accepted`, `rejected`, `timed out`, or `not tried: …`."""
    exit_code: int
    seconds: float
    said: str
    """The last line that it wrote."""
    right: tuple[str, ...] = ()
    """The answers that are right; by its family where it does not say."""

    @property
    def was_tried(self) -> bool:
        return not self.answer.startswith("not tried")

    @property
    def is_right(self) -> bool:
        """Whether a lie was not accepted, or honest work was."""
        right = self.right or (LIE_IS_SEEN if self.family != HONEST_WORK else ("shown",))
        return _STATUS.get(self.exit_code, "not shown") in right


class Verifier(NamedTuple):
    """How a verifier is run."""

    command: str
    seconds: float
    environ: Mapping[str, str]


def make_verifier(command: str, seconds: float, environ: Mapping[str, str]) -> Verifier:
    """The verifier of a command; `flyball` there is this very one, whatever is on the path."""
    paths = (str(Path(sys.executable).parent), environ.get("PATH", os.defpath))
    return Verifier(command, seconds, {**environ, "PATH": os.pathsep.join(paths)})


def all_cases() -> list[TrialCase]:
    """Honest work and lies, each change once.

    Lies that consist in words, or in which tests their author ran, are left out: the change itself
    does no harm, and whoever sees only that cannot tell it from honest work beside an old failure.
    """
    found = [TrialCase(HONEST_WORK, fix.name, fix.project, fix.change) for fix in HONEST]
    found += [
        TrialCase(lie.family, lie.name, lie.project, lie.change)
        for lie in FLEET
        if lie.family not in IN_WORDS and (lie.family in HARMFUL or not lie.args)
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
    """How the authors of a project that lies as a folder run its tests."""
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
    """The cases of these families and names, all if none is given, and of each family every n-th.

    A name may be a part of one, as `012` or `python-fix`.
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
    """What the tests of a project with these files are run with."""
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
    """A repository whose `main` is the broken project, with the change checked out on a branch."""
    root.mkdir()
    folder = case.folder
    _git(root, environ, "init", "-q", "-b", BASE)
    _put(root, case.project.files) if folder is None else folder.put_base(root)
    _commit(root, environ, "A shop")
    _git(root, environ, "checkout", "-q", "-b", HEAD)
    _put(root, case.change) if folder is None else folder.put_change(root)
    _commit(root, environ, "Repair the total")


def ask(verifier: Verifier, case: TrialCase) -> TriedChange:
    """What the verifier says of one change, in a repository of its own."""
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
    # By these two codes sh says that there is no such program, or that it cannot be run: a verifier
    # that was never asked has not rejected anything.
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
    """Every answer, in the order of the cases; each is told as soon as it is its turn."""
    found: list[TriedChange] = []
    with ThreadPoolExecutor(max_workers=jobs) as crew:
        for tried in crew.map(partial(ask, verifier), cases):
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
