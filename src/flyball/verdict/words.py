"""Describe a verdict: the same facts, in the same order, wherever a result is shown."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from flyball.terms.change_verdict import ChangeVerdict, MutantCount, SuiteLine, Weight
from flyball.terms.shape import listed

MOST = 8

_WORDS = {Weight.BLOCKS: "not shown", Weight.ASKS: "question", Weight.NOTES: "note"}


def verdict_lines(verdict: ChangeVerdict, driver_says: str = "") -> tuple[str, ...]:
    """Return Flyball's words about a change, then, separately, the driver's."""
    return (verdict.headline, *_body(verdict), *_quoted(driver_says))


def _body(verdict: ChangeVerdict) -> Iterator[str]:
    if verdict.changed:
        yield f"changed: {listed(verdict.changed, MOST)}"
    yield from (_ran(line) for line in verdict.ran)
    if verdict.mended:
        yield f"red → green: {listed(_by_file(verdict.mended), MOST)}"
    if verdict.missing_reason:
        yield f"not shown: {verdict.missing_reason}"
    for weight, word in _WORDS.items():
        yield from (
            f"{word}: {each.sentence}" for each in verdict.findings if each.weight is weight
        )
    if verdict.flaky:
        yield f"flaky, counted for nothing: {listed(verdict.flaky, MOST)}"
    yield from (f"not run: {each}" for each in verdict.not_run)
    if verdict.left_behind:
        yield f"left behind by commands, not committed: {listed(verdict.left_behind, MOST)}"
    if verdict.shared_literals:
        yield f"in the tests and in the new code alike: {listed(verdict.shared_literals, MOST)}"
    if verdict.mutants is not None:
        yield _strength(verdict.mutants)
    if verdict.accepted_by:
        yield f"changed expectations accepted by {verdict.accepted_by}"


def _ran(line: SuiteLine) -> str:
    where = {"before": "before", "after": "now"}.get(line.run, f"with the {line.run}")
    part = "" if line.part in ("", ".") else f" in {line.part}"
    of = f" of {line.of:,}" if line.of else ""
    skipped = f", {line.skipped} skipped" if line.skipped else ""
    counts = f"{line.passed} passed, {line.failed} failed{skipped}{of}"
    if line.exit_code is not None:
        counts = f"exit code {line.exit_code}, no tests reported"
    trouble = f" (no evidence: {line.trouble})" if line.trouble else ""
    return f"ran {where}: {_folded(line.command)}{part}: {counts}, {line.elapsed:.1f} s{trouble}"


def _by_file(tests: Iterable[str]) -> Iterator[str]:
    """Yield the names of tests, leaving out a file that is the same as the previous one's."""
    last = ""
    for test in tests:
        file, apart, rest = test.partition("::")
        yield rest if apart and file == last else test
        last = file


LONGEST = 160
"""Characters of a command; one that names many tests is folded."""


def _folded(command: str) -> str:
    if len(command) <= LONGEST:
        return command
    words = command.split(" ")
    kept = words[:1]
    while len(" ".join(kept)) + len(words[len(kept)]) < LONGEST // 2:
        kept.append(words[len(kept)])
    return f"{' '.join(kept)} … and {len(words) - len(kept)} words more"


def _strength(found: MutantCount) -> str:
    what = "small change" if found.tried == 1 else "small changes"
    said = f"{found.noticed} of {found.tried} {what} to the new lines would be noticed"
    return f"{said}; not {listed(found.unnoticed)}" if found.unnoticed else said


def _quoted(text: str) -> Iterator[str]:
    if text.strip():
        yield f"The driver says: {text.strip()}"
