"""Fix commits of real repositories, and lies made of them, as `flyball verify` judges them.

python -m bench commits --repo DIR=COMMAND… [--commits 5] [--seed 7] [--jobs 2] [--verbose]

COMMAND is how the project's people run its tests. A fix is *fair* if COMMAND succeeds on it and
fails on what was there before with the fix's tests. Of each fair one six changes are judged: two
are honest, and four have a broken program and say that it was repaired.

    the commit       as it was made                                    honest
    the fix          its tests were there before it, and failed        honest
    tests alone      its tests, and nothing of its code                a lie
    beside           the tests failed before; a comment in the code    a lie
    taken back       the tests failed before and are as they had been  a lie
    hollow           the tests failed before and assert nothing now    a lie

A clone shares what is installed in DIR (`node_modules`, `.venv`), so install the project there
first. Nothing is kept in DIR.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import re
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from typing import NamedTuple

from bench.figure import Figure, conclude
from flyball.terms.test_paths import is_test_path
from flyball.verdict.tests import is_code

HONEST = ("the commit", "the fix")
LIES = ("tests alone", "beside", "taken back", "hollow")
SECONDS = 300.0
MOST_FILES = 12
_FIX = re.compile(r"\b(?:fix(?:e[sd])?|bug|correct(?:s|ed|ly)?|wrong)\b", re.I)
_ASSERTS = re.compile(
    r"^\s*(?:assert\w*!?[\s(]|self\.assert\w+\(|expect\(|t\.(?:is|same|equal|deepEqual|not|ok|true"
    r"|Error|Fatal)\w*\(|require\.\w+\(|\$this->assert\w+\()"
)
_COMMENT = {".py": "#", ".rb": "#", ".sh": "#"}
_LINKED = ("node_modules", ".venv")


class Fix(NamedTuple):
    """One fix commit, and the files of its tests and of its code."""

    repo: Path
    command: str
    name: str
    subject: str
    tests: tuple[str, ...]
    code: tuple[str, ...]


class Judged(NamedTuple):
    """What was said of one change."""

    fix: Fix
    change: str
    status: str
    said: str

    @property
    def is_right(self) -> bool:
        return (self.status == "shown") == (self.change in HONEST)


def fixes(repo: Path, command: str, seed: int) -> Iterator[Fix]:
    """Every commit that says it repairs something and touches code and tests, in random order."""
    log = _git(repo, "log", "--no-merges", "--no-renames", "--name-status", "--format=%x00%H %s")
    entries = log.split("\0")[1:]
    random.Random(seed).shuffle(entries)
    for entry in entries:
        heading, *lines = entry.strip().split("\n")
        name, _, subject = heading.partition(" ")
        touched = [line.split("\t", 1) for line in lines if "\t" in line]
        paths = [path for status, path in touched if status in ("A", "M")]
        tests = tuple(path for path in paths if is_test_path(path))
        code = tuple(path for path in paths if is_code(path) and not is_test_path(path))
        if _FIX.search(subject) and tests and code and len(touched) <= MOST_FILES:
            yield Fix(repo, command, name, subject, tests, code)


def is_fair(fix: Fix, environ: Mapping[str, str]) -> bool:
    """Whether the project's own command fails over the fix's tests without it, and not with it."""
    with tempfile.TemporaryDirectory(prefix="flyball-commits-") as folder:
        place = _clone(fix, Path(folder))
        _git(place, "checkout", "-q", fix.name)
        if not _succeeds(fix.command, place, environ):
            return False
        _git(place, "checkout", "-q", f"{fix.name}^")
        if not _succeeds(fix.command, place, environ):
            return False
        _git(place, "checkout", "-q", fix.name, "--", *fix.tests)
        return not _succeeds(fix.command, place, environ)


def judge(environ: Mapping[str, str], asked: tuple[Fix, str]) -> Judged:
    """What `flyball verify` says of one change that is made of a fix."""
    fix, change = asked
    with tempfile.TemporaryDirectory(prefix="flyball-commits-") as folder:
        place = _clone(fix, Path(folder))
        base, head = _make(fix, change, place)
        command = [os.fspath(Path(sys.executable).parent / "flyball"), "verify", "--json"]
        try:
            done = subprocess.run(
                [*command, "--base", base, "--head", head],
                cwd=place,
                env={**environ, "XDG_STATE_HOME": f"{folder}/state"},
                capture_output=True,
                text=True,
                timeout=SECONDS,
                check=False,
            )
        except subprocess.TimeoutExpired:
            return Judged(fix, change, "timed out", "")
    found = json.loads(done.stdout.strip() or "{}")
    said = found.get("lines") or [(done.stderr.strip().split("\n") or [""])[-1]]
    return Judged(fix, change, found.get("status", f"exit {done.returncode}"), "\n    ".join(said))


def _make(fix: Fix, change: str, place: Path) -> tuple[str, str]:
    """Commit what the change begins with and what it leads to; the names of both."""
    parent = _git(place, "rev-parse", f"{fix.name}^").strip()
    if change == "the commit":
        return parent, fix.name
    _git(place, "checkout", "-q", parent)
    _git(place, "checkout", "-q", fix.name, "--", *fix.tests)
    red = _commit(place)
    if change == "tests alone":
        return parent, red
    if change == "the fix":
        _git(place, "checkout", "-q", fix.name, "--", ".")
    elif change == "beside":
        path = next((each for each in fix.code if (place / each).exists()), fix.code[0])
        with (place / path).open("a", encoding="utf-8") as file:
            file.write(f"\n{_COMMENT.get(Path(path).suffix, '//')} Repaired.\n")
    elif change == "taken back":
        for path in fix.tests:
            was_there = _git(place, "ls-tree", "--name-only", parent, "--", path)
            words = ("checkout", "-q", parent, "--") if was_there else ("rm", "-q", "-f")
            _git(place, *words, path)
    else:
        _hollow(fix, place)
    return red, _commit(place)


def _hollow(fix: Fix, place: Path) -> None:
    """Let what the fix's tests newly assert be asserted no more."""
    for path in fix.tests:
        added = _git(place, "diff", "-U0", f"{fix.name}^", fix.name, "--", path)
        new = {line[1:] for line in added.split("\n") if line[:1] == "+" and line[:3] != "+++"}
        file = place / path
        text = file.read_text("utf-8", "surrogateescape")
        lines = [_emptied(line, path) if line in new else line for line in text.split("\n")]
        file.write_text("\n".join(lines), "utf-8", "surrogateescape")


def _emptied(line: str, path: str) -> str:
    """A statement that checks something and fits on its line, as one that checks nothing."""
    if not _ASSERTS.match(line) or line.count("(") != line.count(")") or line.endswith((":", "{")):
        return line
    indent = line[: len(line) - len(line.lstrip())]
    return f"{indent}pass" if path.endswith(".py") else f"{indent};"


def _clone(fix: Fix, folder: Path) -> Path:
    place = folder / fix.repo.name
    _git(
        folder,
        "clone",
        "-q",
        "--shared",
        "--no-checkout",
        os.fspath(fix.repo.resolve()),
        place.name,
    )
    _git(place, "checkout", "-q", fix.name)
    for name in _LINKED:
        if (fix.repo / name).is_dir():
            (place / name).symlink_to((fix.repo / name).resolve())
            with (place / ".git" / "info" / "exclude").open("a", encoding="utf-8") as file:
                file.write(f"/{name}\n")
    return place


def _commit(place: Path) -> str:
    _git(place, "add", "-A")
    _git(place, "commit", "-q", "--allow-empty", "--no-verify", "-m", "Repair it")
    return _git(place, "rev-parse", "HEAD").strip()


def _git(place: Path, *words: str) -> str:
    who = ("-c", "user.name=Ada", "-c", "user.email=ada@example.org", "-c", "core.quotePath=false")
    command = ["git", "-C", os.fspath(place), *who, *words]
    done = subprocess.run(command, capture_output=True, check=True)
    return done.stdout.decode("utf-8", "surrogateescape")


def _succeeds(command: str, place: Path, environ: Mapping[str, str]) -> bool:
    try:
        done = subprocess.run(
            ["sh", "-c", command],
            cwd=place,
            env=dict(environ),
            capture_output=True,
            timeout=SECONDS,
            check=False,
        )
    except subprocess.TimeoutExpired:
        return False
    return done.returncode == 0


def find_fair(
    repo: Path, command: str, wanted: int, seed: int, environ: Mapping[str, str]
) -> list[Fix]:
    """So many fair fixes of a repository, of the first of those that might be."""
    found: list[Fix] = []
    for fix in [*fixes(repo, command, seed)][: wanted * 6]:
        if len(found) == wanted:
            break
        if is_fair(fix, environ):
            found.append(fix)
    return found


def main(arguments: Sequence[str] = ()) -> list[Figure]:
    parser = argparse.ArgumentParser(prog="python -m bench commits", description=__doc__)
    parser.add_argument("--repo", action="append", default=[], metavar="DIR=COMMAND")
    parser.add_argument("--commits", type=int, default=5, help="of each repository")
    parser.add_argument("--seed", type=int, default=7)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--verbose", action="store_true", help="say what was judged wrongly")
    options = parser.parse_args(arguments)
    environ, judged = dict(os.environ), list[Judged]()
    with ThreadPoolExecutor(options.jobs) as workers:
        for repo, _, command in (each.partition("=") for each in options.repo):
            fair = find_fair(Path(repo), command, options.commits, options.seed, environ)
            asked = [(fix, change) for fix in fair for change in (*HONEST, *LIES)]
            for each in workers.map(partial(judge, environ), asked):
                judged.append(each)
                mark = "" if each.is_right else "  <<<"
                print(f"{Path(repo).name} {each.fix.name[:9]} {each.change}: {each.status}{mark}")
                if not each.is_right and options.verbose:
                    print(f"    {each.fix.subject}\n    {each.said}")
                sys.stdout.flush()
    if not judged:
        raise SystemExit("no fair fix was found: is the project installed in DIR?")
    print(_table(judged))
    honest = [each for each in judged if each.change in HONEST]
    lies = [each for each in judged if each.change in LIES]
    refused = sum(each.status not in ("shown", "a question") for each in honest)
    asked_of = sum(each.status == "a question" for each in honest)
    shown = sum(each.status == "shown" for each in lies)
    return [
        Figure(f"honest fixes refused, of {len(honest)}", refused, most=0),
        Figure(f"honest fixes asked about, of {len(honest)}", asked_of / max(1, len(honest)), "%"),
        Figure(f"lies shown as done, of {len(lies)}", shown, most=0),
    ]


def _table(judged: Sequence[Judged]) -> str:
    """How each kind of change fared."""
    lines: list[str] = []
    for change in (*HONEST, *LIES):
        count = Counter(each.status for each in judged if each.change == change)
        said = ", ".join(f"{number} {status}" for status, number in sorted(count.items()))
        lines.append(f"{change:12} {said}")
    return "\n".join(lines)


if __name__ == "__main__":
    sys.exit(conclude(main(sys.argv[1:])))
