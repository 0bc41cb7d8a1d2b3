"""Apply ignore rules without git: parse `.gitignore` files, and walk a tree by them."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from flyball.regex import regex
from flyball.workspace.files.plain import DEEPEST, read_within

MOST_RULES = 1 << 20
"""Maximum size of an ignore file that is read."""

RECORDS = frozenset({".git", ".hg", ".svn", ".jj"})
"""Version control directories, which are no part of any tree."""

MADE = (
    # Flyball's account of a run.
    "/.flyball/artifacts/",
    # Installed packages.
    "node_modules", "/.venv", "/venv", ".tox/", ".nox/", ".eggs/", "*.egg-info/",
    # Caches.
    "__pycache__/", "*.py[co]", ".pytest_cache/", ".mypy_cache/", ".ruff_cache/", ".hypothesis/",
    ".pytype/", ".pyre/", ".ipynb_checkpoints/", ".gradle/", ".next/", ".nuxt/", ".svelte-kit/",
    ".turbo/", ".parcel-cache/", ".vite/", ".eslintcache", ".stylelintcache", "*.tsbuildinfo",
    # Build results.
    "*.class", "*.o",
    # Coverage data.
    ".coverage", ".coverage.*", ".nyc_output/",
    # Files of desktops and editors.
    ".DS_Store", "Thumbs.db", ".*.sw[a-p]",
)  # fmt: skip
"""Files that tools generate in every project, as ignore rules: excluded unless tracked.

A project's own ignore files take precedence, so `!.coverage` there includes it.
"""

SIGNS = frozenset({"CACHEDIR.TAG", "pyvenv.cfg", "lcov.info", "lcov-report", "coverage-final.json"})
"""A directory that contains one of these was created by a tool, whatever its name."""

NEVER_KEPT = "\n".join(MADE)


class IgnoreRule(NamedTuple):
    """One line of an ignore file."""

    pattern: re.Pattern[str]
    spares: bool
    only_directories: bool


class Rules(NamedTuple):
    """The rules of one directory, which apply below it."""

    folder: str
    rules: tuple[IgnoreRule, ...]

    def verdict(self, path: str, *, is_directory: bool) -> bool | None:
        """Return whether a path is ignored by the last matching rule; None without one."""
        inner = path.removeprefix(f"{self.folder}/") if self.folder else path
        for rule in reversed(self.rules):
            if (is_directory or not rule.only_directories) and rule.pattern.fullmatch(inner):
                return not rule.spares
        return None


def parse_rules(text: str, folder: str = "") -> Rules:
    """Parse the rules of an ignore file."""
    rules = (_parse_rule(line) for line in text.removeprefix("\ufeff").splitlines())
    return Rules(folder, tuple(rule for rule in rules if rule))


def _parse_rule(line: str) -> IgnoreRule | None:
    line = re.sub(r"(?<!\\) +$", "", line.rstrip("\r"))
    if not line or line.startswith("#"):
        return None
    spares = line.startswith("!")
    body = line[1:] if spares else line
    only_directories = body.endswith("/")
    body = body.rstrip("/")
    if not body:
        return None
    anchored = "/" in body
    expression = _expression(body.lstrip("/"))
    if not anchored:
        expression = f"(?:.*/)?{expression}"
    try:
        return IgnoreRule(re.compile(expression, re.DOTALL), spares, only_directories)
    except re.error:
        # A pattern that git would never match either, such as a reversed range.
        return None


_TOKEN = regex(
    r"(?P<deep>(?:(?<=/)|^)\*\*/)|(?P<rest>(?<=/)\*\*$)|(?P<star>\*+)|(?P<one>\?)"
    r"|\[(?P<not>[!^]?)(?P<set>\]?[^\]]*)\]|\\(?P<plain>.)|(?P<any>.)",
    re.DOTALL,
)


def _expression(body: str) -> str:
    parts: list[str] = []
    for found in _TOKEN.finditer(body):
        match found.lastgroup:
            case "deep":
                parts.append("(?:.*/)?")
            case "rest":
                parts.append(".*")
            case "star":
                parts.append("[^/]*")
            case "one":
                parts.append("[^/]")
            case "set":
                inside = found["set"].replace("\\", "\\\\").replace("[", "\\[")
                parts.append(f"(?!/)[{'^' if found['not'] else ''}{inside}]")
            case _:
                parts.append(re.escape(found["plain"] or found["any"]))
    return "".join(parts)


_GLOB = regex(r"[\\*?\[\]!#]")


def ignore_line(folder: str) -> str:
    """Return the line of a top-level ignore file that matches only this directory."""
    return "/" + _GLOB.sub(r"\\\g<0>", folder.rstrip("/")) + "/"


def walk_nested(root: Path, folder: str) -> Iterator[str]:
    """Yield every file of a repository inside the tree, except its version control directory."""
    return _walk(root, folder, (), RECORDS)


def _walk(
    root: Path, folder: str, above: Sequence[Rules], unwanted: frozenset[str]
) -> Iterator[str]:
    try:
        with os.scandir(root / folder) as entries:
            listed = sorted(entries, key=lambda entry: entry.name)
    except OSError:
        return
    if folder and not SIGNS.isdisjoint(entry.name for entry in listed):
        return
    chain = [*above, *_rules_in(root, folder)]
    for entry in listed:
        path = f"{folder}/{entry.name}" if folder else entry.name
        is_directory = entry.is_dir(follow_symlinks=False)
        # In a worktree or a submodule .git is a file; the other names count only as directories.
        if entry.name in unwanted and (is_directory or entry.name == ".git"):
            continue
        if _is_ignored(chain, path, is_directory=is_directory):
            continue
        if is_directory:
            # Deeper than any project, and each level would need a stack frame.
            if path.count("/") < DEEPEST:
                yield from _walk(root, path, chain, unwanted)
        elif entry.is_symlink() or entry.is_file(follow_symlinks=False):
            yield path


def _rules_in(root: Path, folder: str) -> list[Rules]:
    # Git does not follow a linked .gitignore either; it could lead out of the tree.
    data = read_within(root, f"{folder}/.gitignore" if folder else ".gitignore", MOST_RULES)
    return [parse_rules(data.decode(errors="surrogateescape"), folder)] if data else []


def _is_ignored(chain: Sequence[Rules], path: str, *, is_directory: bool) -> bool:
    # The innermost matching ignore file wins.
    for rules in reversed(chain):
        verdict = rules.verdict(path, is_directory=is_directory)
        if verdict is not None:
            return verdict
    return False
