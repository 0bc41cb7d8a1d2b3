# ruff: noqa: ARG001, ARG005 - every way to spoil has one signature
"""Diffs spoilt in their lines, so that their meaning could only be guessed: to be refused."""

from __future__ import annotations

import html
import random
import re

from bench.patch_cases import Case
from bench.patch_spoil_parts import (
    Part,
    Spoil,
    all_pieces,
    modified,
    one_file,
    put_together,
    take_apart,
    with_diff,
)


def run_together(case: Case, rng: random.Random) -> Case | None:
    single = one_file(case, pieces=2)
    if single is None:
        return None
    parts = take_apart(single.diff)
    parts[0].pieces[1].header = ""
    return with_diff(single, parts)


def run_together_bare(case: Case, rng: random.Random) -> Case | None:
    single = one_file(case, pieces=2)
    if single is None:
        return None
    parts = take_apart(single.diff)
    for index, piece in enumerate(parts[0].pieces):
        piece.header = "" if index else "@@"
    return with_diff(single, parts)


def _line_of(parts: list[Part], marks: str, rng: random.Random, *, inner: bool = False):
    """A random line with one of these marks, as its hunk and index."""
    found = [
        (piece, index)
        for piece in all_pieces(parts)
        for index, line in enumerate(piece.body)
        if line[:1] in marks and line[1:].strip() and (not inner or 0 < index < len(piece.body) - 1)
    ]
    return rng.choice(found) if found else None


def _spoil_line(case: Case, marks: str, rng: random.Random, rewrite, *, inner: bool = False):
    whole = modified(case)
    if whole is None:
        return None
    parts = take_apart(whole.diff)
    chosen = _line_of(parts, marks, rng, inner=inner)
    if chosen is None:
        return None
    piece, index = chosen
    piece.body[index : index + 1] = rewrite(piece.body[index])
    spoilt = with_diff(whole, parts)
    return spoilt if spoilt.diff != whole.diff else None


def skipped_context(case: Case, rng: random.Random) -> Case | None:
    return _spoil_line(case, " ", rng, lambda line: [], inner=True)


def invented_removal(case: Case, rng: random.Random) -> Case | None:
    return _spoil_line(case, " -", rng, lambda line: [line, "-    legacy_value = compute(1)"])


def invented_context(case: Case, rng: random.Random) -> Case | None:
    return _spoil_line(case, " -", rng, lambda line: [line, "     legacy_value = compute(1)"])


def altered_removal(case: Case, rng: random.Random) -> Case | None:
    return _spoil_line(case, "-", rng, lambda line: [line + " # old"])


def altered_context(case: Case, rng: random.Random) -> Case | None:
    return _spoil_line(case, " ", rng, lambda line: [line[: len(line) // 2] + "XY" + line[-1:]])


def forgotten_plus(case: Case, rng: random.Random) -> Case | None:
    return _spoil_line(case, "+", rng, lambda line: [line[1:]])


def forgotten_plus_spaced(case: Case, rng: random.Random) -> Case | None:
    return _spoil_line(case, "+", rng, lambda line: [" " + line[1:]])


def forgotten_pluses(case: Case, rng: random.Random) -> Case | None:
    whole = modified(case)
    if whole is None or "\n+" not in whole.diff.replace("\n+++", ""):
        return None
    parts = take_apart(whole.diff)
    changed = False
    for piece in all_pieces(parts):
        for index, line in enumerate(piece.body):
            if line[:1] == "+" and line[1:].strip():
                piece.body[index] = line[1:]
                changed = True
    return with_diff(whole, parts) if changed else None


def _placeholder(case: Case, rng: random.Random, marks: str, text: str) -> Case | None:
    whole = modified(case)
    if whole is None:
        return None
    parts = take_apart(whole.diff)
    chosen = _line_of(parts, marks, rng, inner=True)
    if chosen is None:
        return None
    piece, index = chosen
    mark = piece.body[index][0]
    end = index
    while end < len(piece.body) and piece.body[end][:1] == mark and end - index < 3:
        end += 1
    indent = re.match(r"\s*", piece.body[index][1:])
    piece.body[index:end] = [mark + (indent[0] if indent else "") + text]
    return with_diff(whole, parts)


def placeholder_context(case: Case, rng: random.Random) -> Case | None:
    text = rng.choice(("# ... existing code ...", "// ... rest unchanged ...", "/* ... */", "..."))
    return _placeholder(case, rng, " ", text)


def placeholder_added(case: Case, rng: random.Random) -> Case | None:
    text = rng.choice(
        (
            "# ... existing code ...",
            "// ... rest unchanged ...",
            "... rest unchanged ...",
            "# ... (rest of the function remains the same)",
            "/* ... existing code ... */",
            "<!-- ... existing code ... -->",
        )
    )
    return _placeholder(case, rng, "+", text)


def _indented(case: Case, rewrite) -> Case | None:
    whole = modified(case)
    if whole is None:
        return None
    parts = take_apart(whole.diff)
    for piece in all_pieces(parts):
        indented = [line for line in piece.body if line[:1] in " -" and line[1:2] in (" ", "\t")]
        if not indented:
            return None
        piece.body = [line[:1] + rewrite(line[1:]) for line in piece.body]
    spoilt = with_diff(whole, parts)
    return spoilt if spoilt.diff != whole.diff else None


def indentation_lost(case: Case, rng: random.Random) -> Case | None:
    return _indented(case, lambda text: text.lstrip(" \t"))


def indentation_tabbed(case: Case, rng: random.Random) -> Case | None:
    def tabbed(text: str) -> str:
        size = len(text) - len(text.lstrip(" "))
        return "\t" * (size // 2) + " " * (size % 2) + text[size:]

    return _indented(case, tabbed) if "\n  " in case.diff.replace("\n \t", "") else None


def indentation_doubled(case: Case, rng: random.Random) -> Case | None:
    def doubled(text: str) -> str:
        return text[: len(text) - len(text.lstrip(" \t"))] + text

    return _indented(case, doubled)


def numbered_lines(case: Case, rng: random.Random) -> Case | None:
    whole = modified(case)
    if whole is None:
        return None
    parts = take_apart(whole.diff)
    sign = rng.choice((": ", "| ", "\t", " | ", ":"))
    for piece in all_pieces(parts):
        number = piece.old
        body: list[str] = []
        for line in piece.body:
            body.append(f"{line[:1]}{number}{sign}{line[1:]}")
            number += line[:1] != "-"
        piece.body = body
    return with_diff(whole, parts)


def _text_of_old(case: Case, rewrite) -> Case | None:
    whole = modified(case)
    if whole is None:
        return None
    parts = take_apart(whole.diff)
    for piece in all_pieces(parts):
        piece.body = [line[:1] + rewrite(line[1:]) for line in piece.body]
    olds = [x for p in all_pieces(parts) for x in p.body if x[:1] in " -"]
    before = [x for p in all_pieces(take_apart(whole.diff)) for x in p.body if x[:1] in " -"]
    return with_diff(whole, parts) if olds != before else None


def smart_quotes(case: Case, rng: random.Random) -> Case | None:
    return _text_of_old(case, lambda text: text.replace('"', "“").replace("'", "’"))


def html_entities(case: Case, rng: random.Random) -> Case | None:
    return _text_of_old(case, html.escape)


def applied_already(case: Case, rng: random.Random) -> Case | None:
    whole = modified(case)
    return whole and whole._replace(before=whole.after, after={})


def applied_already_bare(case: Case, rng: random.Random) -> Case | None:
    whole = applied_already(case, rng)
    if whole is None:
        return None
    parts = take_apart(whole.diff)
    for piece in all_pieces(parts):
        piece.header = "@@"
    return with_diff(whole, parts)


def upside_down(case: Case, rng: random.Random) -> Case | None:
    """The diff backwards: it undoes what has not been done."""
    whole = modified(case)
    if whole is None:
        return None
    parts = take_apart(whole.diff)
    swap = {"+": "-", "-": "+"}
    for piece in all_pieces(parts):
        piece.body = [swap.get(line[:1], line[:1]) + line[1:] for line in piece.body]
        piece.old, piece.olds, piece.new, piece.news = (
            piece.new,
            piece.news,
            piece.old,
            piece.olds,
        )
    return with_diff(whole, parts)


def ambiguous(case: Case, rng: random.Random) -> Case | None:
    single = one_file(case)
    if single is None:
        return None
    path, data = next(iter(single.before.items()))
    if not data.endswith(b"\n") or "\n\\ No newline" in single.diff:
        return None
    parts = take_apart(single.diff)
    for piece in parts[0].pieces:
        piece.header = rng.choice(("@@", "@@ ... @@", "@@ -1,1 +1,1 @@"))
    return with_diff(single._replace(before={path: data + data}), parts)


def truncated_line(case: Case, rng: random.Random) -> Case | None:
    parts = take_apart(case.diff)
    if not parts[-1].pieces:
        return None
    last = parts[-1].pieces[-1]
    changes = [i for i, line in enumerate(last.body) if line[:1] in "+-"]
    keep = rng.randint(0, changes[-1])
    last.body = last.body[:keep]
    return with_diff(case, parts)


def truncated_anywhere(case: Case, rng: random.Random) -> Case | None:
    parts = take_apart(case.diff)
    if not parts[-1].pieces:
        return None
    last = parts[-1].pieces[-1]
    changes = [i for i, line in enumerate(last.body) if line[:1] in "+-"]
    whole = put_together(parts)
    tail = sum(len(line) + 1 for line in last.body[changes[-1] :])
    body = sum(len(line) + 1 for line in last.body)
    cut = rng.randint(len(whole) - body, len(whole) - tail)
    return case._replace(diff=whole[:cut])


def truncated_header(case: Case, rng: random.Random) -> Case | None:
    parts = take_apart(case.diff)
    if len(parts) < 2:
        return None
    head = "".join(line + "\n" for line in parts[-1].head)
    cut = rng.randint(4, len(head))
    return case._replace(diff=put_together(parts[:-1]) + head[:cut])


def context_only(case: Case, rng: random.Random) -> Case | None:
    single = one_file(case)
    if single is None:
        return None
    parts = take_apart(single.diff)
    for piece in parts[0].pieces:
        piece.body = [line for line in piece.body if line[:1] == " "]
        piece.header = "@@"
    return with_diff(single, parts)


def no_context_insertion(case: Case, rng: random.Random) -> Case | None:
    single = one_file(case)
    if single is None:
        return None
    parts = take_apart(single.diff)
    for piece in parts[0].pieces:
        piece.body = ["+added = 1"]
        piece.header = "@@"
    return with_diff(single, parts)


GARBLED: tuple[Spoil, ...] = (
    run_together,
    run_together_bare,
    skipped_context,
    invented_removal,
    invented_context,
    altered_removal,
    altered_context,
    forgotten_plus,
    forgotten_plus_spaced,
    forgotten_pluses,
    placeholder_context,
    placeholder_added,
    indentation_lost,
    indentation_tabbed,
    indentation_doubled,
    numbered_lines,
    smart_quotes,
    html_entities,
    applied_already,
    applied_already_bare,
    upside_down,
    ambiguous,
    truncated_line,
    truncated_anywhere,
    truncated_header,
    context_only,
    no_context_insertion,
)
