"""Pair each old test with the new test that replaces it."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Hashable, Sequence
from typing import TypeVar

T = TypeVar("T")
Features = Counter[Hashable]
CANDIDATES = 20


def pair_up(
    old: Sequence[T],
    new: Sequence[T],
    keys: Sequence[Callable[[T], Hashable]],
    features: Callable[[T], Features],
    is_alike: Callable[[T, T], bool],
) -> dict[int, int]:
    """Return each old item's successor: by the first key that matches, else by similarity.

    A key of None matches nothing. Only items that share most features are compared for similarity,
    since comparing all pairs takes minutes when a large file was moved and edited.
    """
    found: dict[int, int] = {}
    for key in keys:
        free: defaultdict[Hashable, list[int]] = defaultdict(list)
        taken = set(found.values())
        for number in reversed(range(len(new))):
            if number not in taken:
                free[key(new[number])].append(number)
        for number, one in enumerate(old):
            wanted = key(one) if number not in found else None
            if wanted is not None and free[wanted]:
                found[number] = free[wanted].pop()
    _by_likeness(old, new, found, features, is_alike)
    return found


def _by_likeness(
    old: Sequence[T],
    new: Sequence[T],
    found: dict[int, int],
    features: Callable[[T], Features],
    is_alike: Callable[[T, T], bool],
) -> None:
    taken = set(found.values())
    owners: defaultdict[Hashable, list[int]] = defaultdict(list)
    for number in range(len(new)):
        if number not in taken:
            for feature in features(new[number]):
                owners[feature].append(number)
    for number, one in enumerate(old):
        if number in found or not owners:
            continue
        shared = Counter(other for feature in features(one) for other in owners.get(feature, ()))
        for other, _ in shared.most_common(CANDIDATES):
            if other not in taken and is_alike(one, new[other]):
                found[number] = other
                taken.add(other)
                break
