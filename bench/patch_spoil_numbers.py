# ruff: noqa: ARG001 - every way to spoil has one signature
"""Diffs spoilt in their @@ lines; their meaning is plain, so they should apply."""

from __future__ import annotations

import random
from collections.abc import Callable

from bench.patch_cases import Case
from bench.patch_spoil_parts import (
    Piece,
    Spoil,
    all_pieces,
    modified,
    one_file,
    take_apart,
    with_diff,
)


def _headers(case: Case, write: Callable[[Piece], None]) -> Case | None:
    whole = modified(case)
    if whole is None:
        return None
    parts = take_apart(whole.diff)
    for piece in all_pieces(parts):
        write(piece)
    return with_diff(whole, parts)


def counts_too_large(case: Case, rng: random.Random) -> Case | None:
    def write(piece: Piece) -> None:
        piece.olds += rng.randint(1, 3)
        piece.news += rng.randint(1, 3)

    return _headers(case, write)


def counts_too_small(case: Case, rng: random.Random) -> Case | None:
    def write(piece: Piece) -> None:
        piece.olds = max(1, piece.olds - rng.randint(1, 3))
        piece.news = max(1, piece.news - rng.randint(1, 3))

    return _headers(case, write)


def counts_random(case: Case, rng: random.Random) -> Case | None:
    def write(piece: Piece) -> None:
        piece.olds, piece.news = rng.randint(1, 40), rng.randint(1, 40)

    return _headers(case, write)


def new_count_wrong(case: Case, rng: random.Random) -> Case | None:
    def write(piece: Piece) -> None:
        piece.news = max(1, piece.news + rng.choice((-2, -1, 1, 2)))

    return _headers(case, write)


def starts_shifted(case: Case, rng: random.Random) -> Case | None:
    def write(piece: Piece) -> None:
        by = rng.randint(-30, 60)
        piece.old, piece.new = max(1, piece.old + by), max(1, piece.new + by)

    return _headers(case, write)


def starts_random(case: Case, rng: random.Random) -> Case | None:
    def write(piece: Piece) -> None:
        piece.old, piece.new = rng.randint(1, 900), rng.randint(1, 900)

    return _headers(case, write)


def starts_all_one(case: Case, rng: random.Random) -> Case | None:
    def write(piece: Piece) -> None:
        piece.old = piece.new = 1

    return _headers(case, write)


def numbers_all_one(case: Case, rng: random.Random) -> Case | None:
    return _headers(case, lambda piece: setattr(piece, "header", "@@ -1,1 +1,1 @@"))


def numbers_all_zero(case: Case, rng: random.Random) -> Case | None:
    return _headers(case, lambda piece: setattr(piece, "header", "@@ -0,0 +0,0 @@"))


def bare_header(case: Case, rng: random.Random) -> Case | None:
    return _headers(case, lambda piece: setattr(piece, "header", "@@"))


def double_bare_header(case: Case, rng: random.Random) -> Case | None:
    return _headers(case, lambda piece: setattr(piece, "header", "@@ @@"))


def dotted_header(case: Case, rng: random.Random) -> Case | None:
    return _headers(case, lambda piece: setattr(piece, "header", "@@ ... @@"))


def function_header(case: Case, rng: random.Random) -> Case | None:
    return _headers(
        case, lambda piece: setattr(piece, "header", "@@" + (piece.heading or " def f():"))
    )


def lettered_header(case: Case, rng: random.Random) -> Case | None:
    return _headers(case, lambda piece: setattr(piece, "header", "@@ -N,M +N,M @@"))


def no_hunk_header(case: Case, rng: random.Random) -> Case | None:
    single = one_file(case)
    if single is None:
        return None
    parts = take_apart(single.diff)
    if len(parts[0].pieces) != 1:
        return None
    parts[0].pieces[0].header = ""
    return with_diff(single, parts)


def headers_shuffled(case: Case, rng: random.Random) -> Case | None:
    single = one_file(case, pieces=2)
    if single is None:
        return None
    parts = take_apart(single.diff)
    pieces = parts[0].pieces
    heads = [piece.lines()[0] for piece in pieces]
    for piece, head in zip(pieces, heads[1:] + heads[:1], strict=True):
        piece.header = head
    return with_diff(single, parts)


def hunks_reversed(case: Case, rng: random.Random) -> Case | None:
    single = one_file(case, pieces=2)
    if single is None:
        return None
    parts = take_apart(single.diff)
    parts[0].pieces.reverse()
    return with_diff(single, parts)


NUMBERED: tuple[Spoil, ...] = (
    counts_too_large,
    counts_too_small,
    counts_random,
    new_count_wrong,
    starts_shifted,
    starts_random,
    starts_all_one,
    numbers_all_one,
    numbers_all_zero,
    bare_header,
    double_bare_header,
    dotted_header,
    function_header,
    lettered_header,
    no_hunk_header,
    headers_shuffled,
    hunks_reversed,
)
