# ruff: noqa: ARG001, ARG005 - every way to spoil has one signature
"""Diffs of files that may not be touched so, and texts that are no diffs: to be refused."""

from __future__ import annotations

import random
from collections.abc import Callable

from bench.patch_cases import Case
from bench.patch_spoil_parts import Spoil, one_file, put_together, take_apart, with_diff


def file_exists(case: Case, rng: random.Random) -> Case | None:
    added = [path for path in case.after if path not in case.before]
    if not added:
        return None
    return case._replace(before={**case.before, added[0]: b"something else\n"})


def delete_leaves_content(case: Case, rng: random.Random) -> Case | None:
    gone = [path for path in case.before if path not in case.after]
    if not gone:
        return None
    longer = case.before[gone[0]] + b"one more line\n"
    return case._replace(before={**case.before, gone[0]: longer})


def _head(case: Case, rewrite: Callable[[list[str], str], list[str]]) -> Case | None:
    single = one_file(case)
    if single is None:
        return None
    parts = take_apart(single.diff)
    parts[0].head = rewrite(parts[0].head, next(iter(single.before)))
    return with_diff(single, parts)


def begin_patch(case: Case, rng: random.Random) -> Case | None:
    single = one_file(case)
    if single is None:
        return None
    parts = take_apart(single.diff)
    parts[0].head = ["*** Begin Patch", f"*** Update File: {next(iter(single.before))}"]
    for piece in parts[0].pieces:
        piece.header = "@@"
    return single._replace(diff=put_together(parts) + "*** End Patch\n")


def search_replace(case: Case, rng: random.Random) -> Case | None:
    single = one_file(case)
    if single is None:
        return None
    piece = take_apart(single.diff)[0].pieces[0]
    old = [line[1:] for line in piece.body if line[:1] in " -"]
    new = [line[1:] for line in piece.body if line[:1] in " +"]
    lines = [next(iter(single.before)), "<<<<<<< SEARCH", *old, "=======", *new, ">>>>>>> REPLACE"]
    return single._replace(diff="\n".join(lines) + "\n")


def renamed(case: Case, rng: random.Random) -> Case | None:
    def moved(head: list[str], path: str) -> list[str]:
        lines = [f"diff --git a/{path} b/{path}.new", "similarity index 90%"]
        lines += [f"rename from {path}", f"rename to {path}.new"]
        return [*lines, f"--- a/{path}", f"+++ b/{path}.new"]

    return _head(case, moved)


def renamed_silently(case: Case, rng: random.Random) -> Case | None:
    return _head(case, lambda head, path: [f"--- a/{path}", f"+++ b/moved/{path}"])


def mode_changed(case: Case, rng: random.Random) -> Case | None:
    return _head(
        case, lambda head, path: [head[0], "old mode 100644", "new mode 100755", *head[1:]]
    )


def binary(case: Case, rng: random.Random) -> Case | None:
    return case._replace(
        diff="diff --git a/x.png b/x.png\nindex 123..456 100644\n"
        f"Binary files a/x.png and b/x.png differ\n{case.diff}"
    )


def symlink(case: Case, rng: random.Random) -> Case | None:
    link = "diff --git a/link b/link\nnew file mode 120000\n--- /dev/null\n+++ b/link\n"
    return case._replace(
        diff=case.diff + link + "@@ -0,0 +1 @@\n+/etc\n\\ No newline at end of file\n"
    )


def forbidden_path(case: Case, rng: random.Random) -> Case | None:
    path = rng.choice(
        (
            "/etc/passwd",
            "../outside.py",
            "src/../../outside.py",
            ".git/config",
            ".GIT/hooks/pre-commit",
            "sub/.git/config",
            "node_modules/x/index.js",
            ".flyball/state",
            ".g\u200cit/config",
        )
    )
    head = f"--- /dev/null\n+++ b/{path}\n@@ -0,0 +1 @@\n+x\n"
    if rng.random() < 0.5:
        head = f"--- a/{path}\n+++ b/{path}\n@@ -1 +1 @@\n-x\n+y\n"
    return case._replace(diff=case.diff + head)


def missing_file(case: Case, rng: random.Random) -> Case | None:
    return _head(case, lambda head, path: [f"--- a/lib/none/{path}", f"+++ b/lib/none/{path}"])


def prose_only(case: Case, rng: random.Random) -> Case | None:
    return case._replace(diff=rng.choice(("", "I changed the file.\n", "```python\nx = 1\n```\n")))


def conflict_markers(case: Case, rng: random.Random) -> Case | None:
    return case._replace(diff="<<<<<<< HEAD\na = 1\n=======\na = 2\n>>>>>>> branch\n")


FOREIGN: tuple[Spoil, ...] = (
    file_exists,
    delete_leaves_content,
    begin_patch,
    search_replace,
    renamed,
    renamed_silently,
    mode_changed,
    binary,
    symlink,
    forbidden_path,
    missing_file,
    prose_only,
    conflict_markers,
)
