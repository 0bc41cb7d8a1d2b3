"""What every bench returns: figures, each beside its peer in the same run, with its goal."""

from __future__ import annotations

import statistics
from collections.abc import Iterable, Sequence
from typing import NamedTuple


class Figure(NamedTuple):
    """One thing that was measured. Without a goal it is only told."""

    name: str
    ours: float
    unit: str = ""
    peer: str = ""
    """What it is held against, with its version where it has one."""
    theirs: float | None = None
    """The peer's own figure, taken in the same run; none where the peer is not installed."""
    most_ratio: float | None = None
    """Ours divided by theirs may be at most this."""
    most: float | None = None
    least: float | None = None
    why: str = ""
    """Why the goal is missed where it is, as far as that is known."""
    spread: tuple[float, float] | None = None
    """The quartiles of ours, where it was taken several times."""
    their_spread: tuple[float, float] | None = None

    @property
    def ratio(self) -> float | None:
        """How many times the peer's figure ours is."""
        return self.ours / self.theirs if self.theirs else None

    @property
    def goal(self) -> str:
        """The goal in a few characters, empty where there is none."""
        goals: list[str] = []
        if self.most_ratio is not None:
            goals.append(f"≤ {self.most_ratio:g}×")
        if self.most is not None:
            goals.append(f"≤ {amount(self.most, self.unit)}")
        if self.least is not None:
            goals.append(f"≥ {amount(self.least, self.unit)}")
        return ", ".join(goals)

    @property
    def holds(self) -> bool | None:
        """Whether the goal is met; none where there is no goal, or no peer to compare with."""
        if not self.goal or (self.most_ratio is not None and self.ratio is None):
            return None
        return (
            (self.most_ratio is None or (self.ratio or 0.0) <= self.most_ratio)
            and (self.most is None or self.ours <= self.most)
            and (self.least is None or self.ours >= self.least)
        )


def amount(value: float, unit: str) -> str:
    """A figure with its unit, as short as it stays true: shares are percents."""
    if unit == "%":
        return f"{value * 100:.1f} %"
    if value == int(value) and abs(value) < 1e15:
        number = f"{int(value):,}"
    elif abs(value) >= 1000:
        number = f"{value:,.0f}"
    else:
        number = f"{value:.3g}"
    return f"{number} {unit}".rstrip()


def median_of(rounds: Sequence[Sequence[Figure]]) -> list[Figure]:
    """The median of each figure over rounds in which the peer had its turn, with the quartiles."""
    if len(rounds) == 1:
        return list(rounds[0])
    merged: list[Figure] = []
    for taken in zip(*rounds, strict=True):
        ours = [each.ours for each in taken]
        theirs = [each.theirs for each in taken if each.theirs is not None]
        merged.append(
            taken[0]._replace(
                ours=statistics.median(ours),
                theirs=statistics.median(theirs) if theirs else None,
                spread=_quartiles(ours),
                their_spread=_quartiles(theirs) if len(theirs) == len(rounds) else None,
            )
        )
    return merged


def _quartiles(values: Sequence[float]) -> tuple[float, float]:
    low, _, high = statistics.quantiles(values, n=4, method="inclusive")
    return low, high


def amount_between(value: float, unit: str, spread: tuple[float, float] | None) -> str:
    """A figure with its unit and, where it was taken several times, its quartiles."""
    told = amount(value, unit)
    if spread is None or spread[0] == spread[1]:
        return told
    low, high = (amount(end, unit).removesuffix(unit).strip() for end in spread)
    return f"{told} ({low}–{high})"


def conclude(figures: Iterable[Figure]) -> int:
    """Print the figures of a bench that runs by itself; 0 unless a goal is missed."""
    told = list(figures)
    for figure in told:
        ours = f"{figure.name}: {amount(figure.ours, figure.unit)}"
        beside = f", {figure.peer}: not installed" if figure.peer else ""
        if figure.theirs is not None and figure.ratio is not None:
            theirs = amount(figure.theirs, figure.unit)
            beside = f", {figure.peer}: {theirs}, ratio {figure.ratio:.3g}"
        goal = f" (goal {figure.goal})" if figure.goal else ""
        print(f"{ours}{beside}{goal}{' MISSED' if figure.holds is False else ''}")
    return 1 if any(figure.holds is False for figure in told) else 0
