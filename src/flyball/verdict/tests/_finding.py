"""The comparison result of one test, and its wording."""

from __future__ import annotations

from typing import NamedTuple

from flyball.terms.evidence import ChangedTest, Comparison, Weakened
from flyball.verdict.tests._model import Reach

ALARMS = frozenset(
    {Comparison.NOT_UNDERSTOOD, Comparison.WEAKER, Comparison.SKIPPED, Comparison.GONE}
)
"""What a person is asked about whatever was announced."""

GRAVITY = {comparison: number for number, comparison in enumerate(Comparison)}
COMPARISONS = {
    "changed-expected": Comparison.OTHER_EXPECTATION,
    "excused-check": Comparison.OTHER_EXPECTATION,
    "not-understood": Comparison.NOT_UNDERSTOOD,
    "new-skip": Comparison.SKIPPED,
    "focused-test": Comparison.SKIPPED,
    "removed-test": Comparison.GONE,
    "renamed-away": Comparison.GONE,
    "deleted-file": Comparison.GONE,
}
SENTENCES = {
    Comparison.SAME: "It asks the same as before.",
    Comparison.ADDED: "It is new.",
    Comparison.STRONGER: "It asks more than before.",
}
MAX_TEXT = 2_000


class Compared(NamedTuple):
    """One test on both sides, with every place where it became weaker.

    `name` contains the suites around the test and the test, and is empty for the rest of a file;
    `is_test` separates tests from suites and helpers. `gain` is how much more it asserts than
    before; `calls` names the functions it calls; `moved_to` is its new path and name, if they
    differ.
    """

    path: str
    name: tuple[str, ...]
    line: int
    before: str | None
    after: str | None
    findings: tuple[Weakened, ...] = ()
    gain: int = 0
    calls: frozenset[str] = frozenset()
    moved_to: tuple[str, ...] = ()
    other_input: str = ""
    is_test: bool = True

    @property
    def is_unchanged(self) -> bool:
        """Return whether there is nothing to report."""
        is_same = self.before == self.after and not self.moved_to
        return not self.findings and (is_same or not self.is_test)


def comparison_of(kind: str) -> Comparison:
    """Return the comparison of a test with a finding of this kind."""
    return COMPARISONS.get(kind, Comparison.WEAKER)


def changed_test(compared: Compared) -> ChangedTest:
    """Combine the findings about a test: the gravest decides; without one, whether anything was
    added."""
    worst = max(compared.findings, key=lambda w: GRAVITY[comparison_of(w.kind)], default=None)
    if worst is not None:
        comparison, sentence = comparison_of(worst.kind), f"{worst.kind}: {worst.detail}"
    elif compared.before is None:
        comparison, sentence = Comparison.ADDED, SENTENCES[Comparison.ADDED]
    elif compared.other_input:
        comparison, sentence = Comparison.OTHER_EXPECTATION, compared.other_input
    else:
        comparison = Comparison.STRONGER if compared.gain > 0 else Comparison.SAME
        sentence = SENTENCES[comparison]
    return ChangedTest(
        compared.path,
        "".join(compared.name[-1:]),
        comparison,
        _shortened(sentence),
        _shortened(compared.before or ""),
        _shortened(compared.after or ""),
        compared.name[:-1],
        "::".join(compared.moved_to),
    )


def _shortened(text: str) -> str:
    """Shorten a text to fit on a card by cutting the middle, since tests end with their
    assertions."""
    if len(text) <= MAX_TEXT:
        return text
    half = MAX_TEXT // 2 - 2
    return f"{text[:half]}\n…\n{text[-half:]}"


LOWERED = {
    Reach.DEAD: ("early-return", "is never reached"),
    Reach.SWALLOWED: ("swallowed-assertion", "cannot fail the test any more"),
    Reach.CONDITIONAL: ("conditional-assertion", "only runs under a condition now"),
    Reach.EITHER: ("changed-expected", "is one of two now, whichever way a condition goes"),
}
