"""Edits as other agents ask for them, brought to the one form there is here: a diff.

"Replace this text by that one" names a place by its text. That is a diff as soon as the text stands
in the file exactly once; what is judged and written down is the diff.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple, cast

from flyball.core.terms.shape import is_list, is_map
from flyball.core.terms.tool import plain_name
from flyball.patch import touched_paths, unified_diff

Args = dict[str, object]
ReadText = Callable[[str], str | None]
"""What a file of the workspace holds, or None where there is no such text."""

OLD = ("old_string", "old_str", "old", "old_text", "search", "find", "original", "old_code")
NEW = ("new_string", "new_str", "new", "new_text", "replace", "replacement", "updated", "new_code")
EVERY = ("replace_all", "allow_multiple", "all_occurrences")
PATH = ("path", "file_path", "filepath", "filename", "file", "target_file", "absolute_path")
_HUNK = re.compile(r"^@@", re.MULTILINE)
_HEADER = re.compile(r"^(?:---|\+\+\+|diff --git|\*\*\* |<<<<<<<) ?", re.MULTILINE)


class UnclearCall(ValueError):
    """A call that may mean several things, or nothing here; says what to write instead."""


class _Replacement(NamedTuple):
    old: str
    new: str
    everywhere: bool


def as_diff(args: Args, read: ReadText) -> Args:
    """The arguments with a diff in place of texts to replace, or of a path beside the diff."""
    rest = {name: value for name, value in args.items() if name not in PATH}
    path = next((args[name] for name in PATH if name in args), None)
    if not isinstance(path, str) or not path.strip():
        return args
    path = path.strip()
    if isinstance(diff := args.get("diff"), str):
        return {**rest, "diff": _with_header(diff, path)}
    if "code_edit" in rest:
        raise UnclearCall(
            "`code_edit` leaves out what stays, and so does not say what is to go. Send `diff`: "
            "the changed lines with - and +, and a line or two around them."
        )
    if "insert_line" in rest:
        return {"diff": _inserted(path, rest, read)}
    pairs = [_replacement(each) for each in _wished(rest)]
    used = {*OLD, *NEW, *EVERY, "edits", "expected_replacements"}
    if not pairs:
        return args
    kept = {name: value for name, value in rest.items() if name not in used}
    return {**kept, "diff": _replaced(path, pairs, read)}


def _wished(args: Args) -> Sequence[Mapping[object, object]]:
    edits = args.get("edits")
    if is_list(edits):
        return [each for each in edits if is_map(each)]
    is_one = any(name in args for name in OLD) and any(name in args for name in NEW)
    return [cast("Mapping[object, object]", args)] if is_one else []


def _replacement(edit: Mapping[object, object]) -> _Replacement:
    fields = {plain_name(str(name)): value for name, value in edit.items()}
    old = next((fields[name] for name in OLD if name in fields), None)
    new = next((fields[name] for name in NEW if name in fields), None)
    if not isinstance(old, str) or not isinstance(new, str):
        raise UnclearCall("An edit needs the old text and the new one. Better send a `diff`.")
    return _Replacement(old, new, any(fields.get(name) in (True, "true") for name in EVERY))


def _replaced(path: str, edits: Sequence[_Replacement], read: ReadText) -> str:
    before = read(path)
    if before is None and [each.old for each in edits] == [""]:
        return unified_diff(path, None, edits[0].new.encode())
    if before is None:
        raise UnclearCall(f"There is no text file {path} to replace anything in.")
    after = before
    for edit in edits:
        _require_place(path, after, edit)
        after = after.replace(edit.old, edit.new)
    if after == before:
        raise UnclearCall(f"{path}: the old text and the new one are the same.")
    return unified_diff(path, before.encode(), after.encode())


def _require_place(path: str, text: str, edit: _Replacement) -> None:
    times = text.count(edit.old) if edit.old else 0
    if not times:
        raise UnclearCall(
            f"{path} does not hold the text to replace. Read the place and copy it exactly, or "
            "send a `diff`."
        )
    if times > 1 and not edit.everywhere:
        at = [text.count("\n", 0, found.start()) + 1 for found in _places(edit.old, text)]
        raise UnclearCall(
            f"{path} holds the text to replace {times} times, at lines "
            f"{', '.join(map(str, at[:10]))}. Include more of the lines around it."
        )


def _places(old: str, text: str) -> list[re.Match[str]]:
    return list(re.finditer(re.escape(old), text))


def _inserted(path: str, args: Args, read: ReadText) -> str:
    """A diff that adds lines after one that is named by its number, 0 for the top."""
    text = read(path)
    at = args.get("insert_line")
    new = next((args[name] for name in (*NEW, "text", "insert_text") if name in args), None)
    lines = [] if text is None else text.split("\n")
    if (
        text is None
        or not isinstance(new, str)
        or not str(at).isdigit()
        or int(str(at)) > len(lines)
    ):
        raise UnclearCall(f"It is not clear what to insert where in {path}. Send a `diff`.")
    above = "\n".join(lines[: int(str(at))])
    above += "\n" if above else ""
    added = new if new.endswith("\n") else f"{new}\n"
    return unified_diff(path, text.encode(), (above + added + text[len(above) :]).encode())


def _with_header(diff: str, path: str) -> str:
    """The diff of a file that is named beside it; two names must be the same."""
    named = touched_paths(diff)
    own = path.removeprefix("./")
    if named:
        if any(own == each or own.endswith(f"/{each}") for each in named):
            return diff
        raise UnclearCall(
            f"`path` says {path} and the diff says {', '.join(named)}. Name the file in the diff "
            "alone, after --- and +++."
        )
    if _HEADER.search(diff) or not _HUNK.search(diff):
        return diff
    body = re.sub(r"\A\s*```[a-z]*\n", "", diff)
    return f"--- a/{own}\n+++ b/{own}\n{body}"
