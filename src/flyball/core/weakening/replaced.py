"""Losses of one test that another test makes up for."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from flyball.core.terms.evidence import Weakened
from flyball.core.weakening.finding import Compared

LOSSES = frozenset({"removed-assertion", "removed-case", "removed-test"})
MIN_NAME = 8


def with_replacements(compared: Iterable[Compared]) -> Iterator[Compared]:
    """Call a loss another expectation where a test beside it asks as much more of the same code.

    What a test gained is used up, so that one new assertion cannot stand in for many lost ones.
    """
    everything = list(compared)
    gains = {n: one.gain for n, one in enumerate(everything) if one.gain > 0}
    for one in everything:
        if not any(found.kind in LOSSES for found in one.findings):
            yield one
            continue
        loss = max(1, -one.gain)
        successor = next(
            (n for n, gain in gains.items() if gain >= loss and _is_about(everything[n], one)), None
        )
        if successor is None:
            yield one
            continue
        gains[successor] -= loss
        yield one._replace(findings=tuple(_excused(one, everything[successor])))


def _is_about(new: Compared, old: Compared) -> bool:
    """Whether both stand in one file and call mostly the same, or are called much the same."""
    if new.path != old.path or (new.name == old.name and new.before is not None):
        return False
    short, long = sorted((" ".join(new.name), " ".join(old.name)), key=len)
    is_named_alike = len(short) >= MIN_NAME and long.startswith(short)
    shared = old.calls & new.calls
    return is_named_alike or (bool(shared) and len(shared) * 2 >= len(old.calls))


def _excused(one: Compared, successor: Compared) -> Iterator[Weakened]:
    for found in one.findings:
        if found.kind in LOSSES:
            detail = f"{found.detail}; {' > '.join(successor.name)} asks more now"
            yield Weakened(found.path, found.line, "changed-expected", detail)
        else:
            yield found
