"""Real commits of a git repository as cases for the patch benches: before, diff, after."""

from __future__ import annotations

import random
import subprocess
from pathlib import Path
from typing import NamedTuple

REPOSITORY = Path(__file__).parents[1]
"""This one: a history that is always at hand."""


class Case(NamedTuple):
    """One commit: its files before, its diff as git writes it, its files after."""

    name: str
    before: dict[str, bytes]
    diff: str
    after: dict[str, bytes]


def cases(repo: Path, limit: int, seed: int = 7) -> list[Case]:
    """Up to `limit` commits that touch only regular text files, in random order, but not none."""
    try:
        listed = _git(repo, "rev-list", "--no-merges", "--min-parents=1", "HEAD").decode().split()
    except subprocess.CalledProcessError as trouble:
        raise SystemExit(
            f"{repo} has no history to take diffs from; name another with --repo."
        ) from trouble
    random.Random(seed).shuffle(listed)
    found: list[Case] = []
    for commit in listed:
        case = _case(repo, commit)
        if case is not None:
            found.append(case)
        if len(found) == limit:
            break
    if not found:
        raise SystemExit(f"no commit of {repo} can be used; name another with --repo.")
    return found


def _case(repo: Path, commit: str) -> Case | None:
    raw = _git(repo, "diff-tree", "-r", "-z", "--no-renames", f"{commit}^", commit)
    fields = raw.decode("utf-8", "surrogateescape").split("\0")[:-1]
    before: dict[str, bytes] = {}
    after: dict[str, bytes] = {}
    for meta, path in zip(fields[::2], fields[1::2], strict=True):
        old_mode, new_mode, old, new, status = meta[1:].split(" ")
        kept = old_mode == new_mode == "100755"
        if not kept and {old_mode, new_mode} - {"100644", "000000"}:
            return None
        for side, name in ((before, old), (after, new)):
            if set(name) != {"0"}:
                side[path] = _git(repo, "cat-file", "blob", name)
        if status not in "AMD" or any(not c.isprintable() for c in path):
            return None
    contents = [*before.values(), *after.values()]
    if not contents or any(b"\0" in data or not data for data in contents):
        return None
    arguments = ("diff-tree", "-p", "-r", "--no-renames", "--full-index", f"{commit}^", commit)
    diff = _git(repo, *arguments)
    if len(diff) > 300_000:
        return None
    return Case(commit[:12], before, diff.decode("utf-8", "surrogateescape"), after)


def _git(repo: Path, *arguments: str) -> bytes:
    command = ["git", "-C", str(repo), "-c", "core.quotePath=false", *arguments]
    return subprocess.run(command, capture_output=True, check=True).stdout
