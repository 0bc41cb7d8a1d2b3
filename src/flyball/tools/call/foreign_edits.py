"""Convert other agents' edits to the only supported form: a diff.

"Replace this text by that one" names a position by its text. It is converted to a diff if the text
occurs in the file exactly once; the diff is judged and recorded.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple, cast

from flyball.patch import touched_paths, unified_diff
from flyball.regex import regex
from flyball.terms.shape import is_list, is_map
from flyball.terms.tool import plain_name

Args = dict[str, object]
ReadText = Callable[[str], str | None]
"""Returns the text of a workspace file; None if it is missing or not text."""

OLD = ("old_string", "old_str", "old", "old_text", "search", "find", "original", "old_code")
NEW = ("new_string", "new_str", "new", "new_text", "replace", "replacement", "updated", "new_code")
EVERY = ("replace_all", "allow_multiple", "all_occurrences")
PATH = ("path", "file_path", "filepath", "filename", "file", "target_file", "absolute_path")
_HUNK = regex(r"^@@", re.MULTILINE)
_HEADER = regex(r"^(?:---|\+\+\+|diff --git|\*\*\* |<<<<<<<) ?", re.MULTILINE)


class UnclearCall(ValueError):
    """A call that is ambiguous, or meaningless here; the message says what to write instead."""


class _Replacement(NamedTuple):
    old: str
    new: str
    everywhere: bool


def as_diff(args: Args, read: ReadText) -> Args:
    """Return the arguments with a diff in place of texts to replace, or of a path next to it."""
    if is_list(several := args.get("diff")):
        return {**args, "diff": "".join(_each_diff(each, read) for each in several)}
    if isinstance(diff := args.get("diff"), str) and (other := _from_dialect(diff, args, read)):
        return {**{name: args[name] for name in args if name not in PATH}, "diff": other}
    rest = {name: value for name, value in args.items() if name not in PATH}
    path = next((args[name] for name in PATH if name in args), None)
    if not isinstance(path, str) or not path.strip():
        return args
    path = path.strip()
    if isinstance(diff := args.get("diff"), str):
        return {**rest, "diff": _with_header(diff, path)}
    if "code_edit" in rest:
        raise UnclearCall(
            "`code_edit` omits unchanged code, so it does not say what to remove. Send `diff`: "
            "the changed lines with - and +, and a line or two around them."
        )
    if "insert_line" in rest:
        return {"diff": _inserted(path, rest, read)}
    if (lines := _line_range(rest)) is not None:
        return {"diff": _lines_replaced(path, lines, rest, read)}
    pairs = [_replacement(each) for each in _wished(rest)]
    used = {*OLD, *NEW, *EVERY, "edits", "expected_replacements"}
    if not pairs:
        raise UnclearCall(
            f"it does not say what to change in {path}. Send `diff`: the changed lines with - and "
            "+, and a line or two around them. A whole file is written with `write_file`."
        )
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
            f"{path} does not contain the text to replace. Read the place and copy it exactly, or "
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
    """Return a diff that adds lines after a line number, 0 for the top."""
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


def _each_diff(item: object, read: ReadText) -> str:
    """Return the diff of one of several edits: a diff, or an object that is an edit by itself."""
    found = as_diff({str(k): v for k, v in item.items()}, read) if is_map(item) else {"diff": item}
    diff = found.get("diff")
    if not isinstance(diff, str):
        raise UnclearCall("One of the edits is not a diff. Send all of them as one text in `diff`.")
    return diff if diff.endswith("\n") else f"{diff}\n"


def _from_dialect(diff: str, args: Args, read: ReadText) -> str:
    """Convert another notation for edits to a diff; an empty string if it is none."""
    if _ENVELOPE.search(diff):
        return "".join(_from_envelope(diff, read))
    blocks = [*_SEARCH.finditer(diff)]
    if not blocks:
        return ""
    own = next((str(args[name]).strip() for name in PATH if name in args), "")
    requested: dict[str, list[_Replacement]] = {}
    for block in blocks:
        before = [line.strip(" `*#") for line in diff[: block.start()].split("\n")]
        named = [line for line in before if re.fullmatch(r"[\w./-]+\.\w+", line)]
        path = own or (named[-1] if named else "")
        if not path:
            raise UnclearCall("A search and replace block names no file. Send `path` with it.")
        requested.setdefault(path, []).append(_Replacement(block[1], block[2], False))
    return "".join(_replaced(path, pairs, read) for path, pairs in requested.items())


_SEARCH = regex(
    r"^[<-]{5,} SEARCH[^\n]*\n(?::start_line:[^\n]*\n|-------\n)*(.*?)^={5,}[ \t]*\n(.*?)"
    r"^[>+]{5,} REPLACE[^\n]*$",
    re.DOTALL | re.MULTILINE,
)
_ENVELOPE = regex(r"^\*\*\* (Update|Add|Delete) File: (.+?)[ \t]*$", re.MULTILINE)
_ENVELOPE_MARK = regex(r"^\*\*\* (?:Begin Patch|End Patch|End of File)[ \t]*\n?", re.MULTILINE)


def _from_envelope(patch: str, read: ReadText) -> Sequence[str]:
    """Return the diffs in an `*** Begin Patch` envelope, whose hunks have no line numbers."""
    if "*** Move to:" in patch:
        raise UnclearCall("Files are not renamed by a diff. Write the new one, delete the old one.")
    body = _ENVELOPE_MARK.sub("", patch)
    files = [*_ENVELOPE.finditer(body)]
    ends = [*(each.start() for each in files[1:]), len(body)]
    found: list[str] = []
    for file, end in zip(files, ends, strict=True):
        path, hunks = file[2].removeprefix("./"), body[file.end() + 1 : end]
        match file[1]:
            case "Add":
                lines = [line[1:] for line in hunks.split("\n") if line.startswith("+")]
                found.append(unified_diff(path, None, "".join(f"{e}\n" for e in lines).encode()))
            case "Delete":
                text = read(path)
                if text is None:
                    raise UnclearCall(f"There is no text file {path} to delete.")
                found.append(unified_diff(path, text.encode(), None))
            case _:
                marked = hunks if hunks.startswith("@@") else f"@@\n{hunks}"
                bare = re.sub(r"^@@.*$", "@@", marked, flags=re.MULTILINE)
                found.append(f"--- a/{path}\n+++ b/{path}\n{bare.rstrip()}\n")
    return found


_FIRST = ("start_line", "start", "line_start", "from_line")
_LAST = ("end_line", "end", "line_end", "to_line")


def _line_range(args: Args) -> tuple[int, int] | None:
    """Return the first and last line that an edit by numbers replaces."""
    first = next((str(args[name]) for name in _FIRST if name in args), "")
    last = next((str(args[name]) for name in _LAST if name in args), "")
    return (int(first), int(last)) if first.isdigit() and last.isdigit() else None


def _lines_replaced(path: str, lines: tuple[int, int], args: Args, read: ReadText) -> str:
    text, (first, last) = read(path), lines
    new = next((args[name] for name in (*NEW, "content", "text") if name in args), None)
    old = [] if text is None else text.splitlines(keepends=True)
    if text is None or not isinstance(new, str) or not 1 <= first <= last <= len(old):
        raise UnclearCall(f"it is not clear which lines of {path} become what. Send a `diff`.")
    added = new if new.endswith("\n") or not new else f"{new}\n"
    after = "".join((*old[: first - 1], added, *old[last:]))
    return unified_diff(path, text.encode(), after.encode())


def _with_header(diff: str, path: str) -> str:
    """Return a diff with a header for the file named next to it; if both name one, it must be the
    same."""
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
