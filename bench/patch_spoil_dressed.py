# ruff: noqa: ARG001 - every way to spoil has one signature
"""Diffs spoilt in how they are dressed up; their meaning is plain, so they should apply."""

from __future__ import annotations

import random

from bench.patch_cases import Case
from bench.patch_spoil_numbers import bare_header
from bench.patch_spoil_parts import (
    Piece,
    Spoil,
    all_pieces,
    modified,
    one_file,
    rewritten,
    take_apart,
    with_diff,
)
from flyball.patch import unified_diff

_PROSE = "Here is the change you asked for. It fixes the problem:\n"
_AFTER = "\nThis should work now. Let me know if you need anything else!\n"


def files_reversed(case: Case, rng: random.Random) -> Case | None:
    parts = take_apart(case.diff)
    return with_diff(case, parts[::-1]) if len(parts) > 1 else None


def _bodies(case: Case, rewrite) -> Case | None:
    whole = modified(case)
    if whole is None:
        return None
    parts = take_apart(whole.diff)
    for piece in all_pieces(parts):
        piece.body = [rewrite(line) for line in piece.body]
    changed = with_diff(whole, parts)
    return changed if changed.diff != whole.diff else None


def blank_context_bare(case: Case, rng: random.Random) -> Case | None:
    return _bodies(case, lambda line: "" if line == " " else line)


def _unmarked(line: str) -> str:
    return line[1:] if line[:1] == " " and line[1:2] not in ("+", "-", "\\", "@", "") else line


def context_lost_space(case: Case, rng: random.Random) -> Case | None:
    return _bodies(case, _unmarked)


def one_context_lost_space(case: Case, rng: random.Random) -> Case | None:
    return _bodies(case, lambda line: _unmarked(line) if rng.random() < 0.15 else line)


def context_lost_trailing_space(case: Case, rng: random.Random) -> Case | None:
    padded = rewritten(case, lambda data: data.replace(b",\n", b", \n").replace(b"\n\n", b"\n  \n"))
    if padded is None:
        return None
    return _bodies(padded, lambda line: line.rstrip() or " " if line[:1] == " " else line)


def diff_crlf(case: Case, rng: random.Random) -> Case | None:
    if any(b"\r" in data for data in (*case.before.values(), *case.after.values())):
        return None
    return case._replace(diff=case.diff.replace("\n", "\r\n"))


def file_crlf(case: Case, rng: random.Random) -> Case | None:
    if modified(case) is None or "\r" in case.diff:
        return None
    whole = modified(case)
    assert whole is not None
    before = {p: d.replace(b"\n", b"\r\n") for p, d in whole.before.items()}
    after = {p: d.replace(b"\n", b"\r\n") for p, d in whole.after.items()}
    if any(b"\r\r" in data for data in before.values()):
        return None
    return Case(case.name, before, whole.diff, after)


def mixed_line_endings(case: Case, rng: random.Random) -> Case | None:
    crlf = file_crlf(case, rng)
    if crlf is None:
        return None
    parts = take_apart(crlf.diff)
    for piece in all_pieces(parts):
        piece.body = [line + "\r" if rng.random() < 0.5 else line for line in piece.body]
    return with_diff(crlf, parts)


def unmarked_missing_newline(case: Case, rng: random.Random) -> Case | None:
    single = one_file(case)
    if single is None:
        return None
    chopped = rewritten(single, lambda data: data.rstrip(b"\n"))
    if chopped is None or "\\ No newline" not in chopped.diff:
        return None
    if chopped.diff.count("\\ No newline") == 1:
        path = next(iter(chopped.before))
        if chopped.before[path].split(b"\n")[-1] != chopped.after[path].split(b"\n")[-1]:
            return None
    kept = [line for line in chopped.diff.split("\n") if not line.startswith("\\ No newline")]
    return chopped._replace(diff="\n".join(kept))


def stray_no_newline(case: Case, rng: random.Random) -> Case | None:
    whole = modified(case)
    if whole is None or "\\" in whole.diff:
        return None
    parts = take_apart(whole.diff)
    for piece in all_pieces(parts):
        kept = [i for i, line in enumerate(piece.body[:-1]) if line[:1] == " "]
        if kept:
            piece.body.insert(rng.choice(kept) + 1, "\\ No newline at end of file")
    return with_diff(whole, parts)


def fenced(case: Case, rng: random.Random) -> Case | None:
    return case._replace(diff=f"```diff\n{case.diff}```\n")


def prose_around(case: Case, rng: random.Random) -> Case | None:
    return case._replace(diff=_PROSE + "\n" + case.diff + _AFTER)


def fenced_prose(case: Case, rng: random.Random) -> Case | None:
    return case._replace(diff=f"{_PROSE}\n```diff\n{case.diff}```\n{_AFTER}- one point\n- two\n")


def fenced_prose_bare(case: Case, rng: random.Random) -> Case | None:
    bare = bare_header(case, rng)
    return bare and fenced_prose(bare, rng)


def phantom_blank_end(case: Case, rng: random.Random) -> Case | None:
    return case._replace(diff=case.diff + "\n" * rng.randint(1, 4))


def phantom_blanks_between(case: Case, rng: random.Random) -> Case | None:
    whole = modified(case)
    if whole is None:
        return None
    parts = take_apart(whole.diff)
    for piece in all_pieces(parts):
        piece.body += [""] * rng.randint(1, 2)
    return with_diff(whole, parts)


def phantom_blanks_bare(case: Case, rng: random.Random) -> Case | None:
    blanks = phantom_blanks_between(case, rng)
    if blanks is None:
        return None
    lines = ["@@" if x.startswith("@@ -") else x for x in blanks.diff.split("\n")]
    return blanks._replace(diff="\n".join(lines))


def _heads(case: Case, rewrite, *, of: Case | None = None) -> Case:
    parts = take_apart((of or case).diff)
    for part in parts:
        part.head = [new for line in part.head for new in rewrite(line)]
    return with_diff(of or case, parts)


def no_prefixes(case: Case, rng: random.Random) -> Case | None:
    def plain(line: str) -> list[str]:
        if line.startswith(("--- a/", "+++ b/")):
            return [line[:4] + line[6:]]
        return [] if line.startswith("diff --git") else [line]

    return _heads(case, plain)


def timestamps(case: Case, rng: random.Random) -> Case | None:
    def stamped(line: str) -> list[str]:
        stamp = rng.choice(("\t2024-05-01 10:00:00.000000000 +0200", "  2024-05-01 10:00:00"))
        return [line + stamp] if line.startswith(("--- ", "+++ ")) else [line]

    return _heads(case, stamped)


def only_plus_header(case: Case, rng: random.Random) -> Case | None:
    whole = modified(case)
    if whole is None:
        return None
    return _heads(case, lambda x: [x] if x.startswith("+++ ") else [], of=whole)


def only_minus_header(case: Case, rng: random.Random) -> Case | None:
    whole = modified(case)
    if whole is None:
        return None
    return _heads(case, lambda x: [x] if x.startswith("--- ") else [], of=whole)


def only_git_header(case: Case, rng: random.Random) -> Case | None:
    whole = modified(case)
    if whole is None:
        return None
    return _heads(case, lambda x: [x] if x.startswith("diff --git") else [], of=whole)


def no_git_header(case: Case, rng: random.Random) -> Case | None:
    return _heads(case, lambda x: [x] if x.startswith(("--- ", "+++ ")) else [])


def fake_index(case: Case, rng: random.Random) -> Case | None:
    def fake(line: str) -> list[str]:
        return ["index 1234567..89abcde 100644"] if line.startswith("index ") else [line]

    return _heads(case, fake)


def no_final_newline_in_diff(case: Case, rng: random.Random) -> Case | None:
    return case._replace(diff=case.diff.rstrip("\n"))


def looks_like_header(case: Case, rng: random.Random) -> Case | None:
    single = one_file(case)
    if single is None:
        return None

    def comment(data: bytes) -> bytes:
        lines = data.split(b"\n")
        return b"\n".join(b"-- " + line if line.strip() else line for line in lines)

    return rewritten(single, comment)


def looks_like_header_bare(case: Case, rng: random.Random) -> Case | None:
    dashed = looks_like_header(case, rng)
    return dashed and bare_header(dashed, rng)


def looks_like_plus_header(case: Case, rng: random.Random) -> Case | None:
    single = one_file(case)
    if single is None:
        return None
    path, data = next(iter(single.after.items()))
    old = single.before[path]
    new = data.replace(b"\n", b"\n++ note\n", 1)
    old = old.replace(b"\n", b"\n-- note\n", 1)
    return Case(case.name, {path: old}, unified_diff(path, old, new), {path: new})


def odd_separators(case: Case, rng: random.Random) -> Case | None:
    odd = ("\u2028".encode(), b"\x0c", "\x85".encode(), b"\x1c", "\u2029".encode(), b"\x0b")

    def strew(data: bytes) -> bytes:
        lines = data.split(b"\n")
        for index in range(0, len(lines), 3):
            middle = len(lines[index]) // 2
            sign = odd[len(lines[index]) % len(odd)]
            if lines[index].isascii():
                lines[index] = lines[index][:middle] + sign + lines[index][middle:]
        return b"\n".join(lines)

    return rewritten(case, strew)


def context_only_hunk(case: Case, rng: random.Random) -> Case | None:
    whole = modified(case)
    if whole is None:
        return None
    parts = take_apart(whole.diff)
    for part in parts:
        extra = Piece(1, 2, 1, 2, "", [" some line", " another line"])
        part.pieces.insert(rng.randint(0, len(part.pieces)), extra)
    return with_diff(whole, parts)


def bom_unseen(case: Case, rng: random.Random) -> Case | None:
    whole = modified(case)
    if whole is None or any(d.startswith(b"\xef\xbb\xbf") for d in whole.before.values()):
        return None
    before = {p: b"\xef\xbb\xbf" + d for p, d in whole.before.items()}
    return Case(
        case.name, before, whole.diff, {p: b"\xef\xbb\xbf" + d for p, d in whole.after.items()}
    )


def latin_bytes(case: Case, rng: random.Random) -> Case | None:
    return rewritten(case, lambda data: data.replace(b"e\n", b"\xe9\n").replace(b" ", b"\xa0", 3))


def less_context(case: Case, rng: random.Random) -> Case | None:
    whole = modified(case)
    if whole is None:
        return None
    parts = take_apart(whole.diff)
    for piece in all_pieces(parts):
        if piece.body[0][:1] == " " and piece.body[-1][:1] == " " and len(piece.body) > 6:
            piece.body = piece.body[1:-1]
    return with_diff(whole, parts)


DRESSED: tuple[Spoil, ...] = (
    files_reversed,
    blank_context_bare,
    context_lost_space,
    one_context_lost_space,
    context_lost_trailing_space,
    diff_crlf,
    file_crlf,
    mixed_line_endings,
    unmarked_missing_newline,
    stray_no_newline,
    fenced,
    prose_around,
    fenced_prose,
    fenced_prose_bare,
    phantom_blank_end,
    phantom_blanks_between,
    phantom_blanks_bare,
    no_prefixes,
    timestamps,
    only_plus_header,
    only_minus_header,
    only_git_header,
    no_git_header,
    fake_index,
    no_final_newline_in_diff,
    looks_like_header,
    looks_like_header_bare,
    looks_like_plus_header,
    odd_separators,
    context_only_hunk,
    bom_unseen,
    latin_bytes,
    less_context,
)
