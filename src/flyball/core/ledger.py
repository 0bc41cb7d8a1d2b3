"""The mistake ledger: failures a project has seen, and what resolved them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import msgspec

from flyball.core.fingerprint import digest, plain_error

ERROR_KEPT = 400


class Failure(msgspec.Struct, frozen=True, omit_defaults=True):
    """One thing that went wrong, reduced to what can be recognised again."""

    fingerprint: str
    error: str
    step_kind: str = ""
    files: tuple[str, ...] = ()


class Mistake(msgspec.Struct, frozen=True, omit_defaults=True):
    """A failure on record: how often, when, and what resolved it."""

    fingerprint: str
    error: str
    step_kind: str = ""
    files: tuple[str, ...] = ()
    count: int = 1
    resolution: str = ""
    first_seen: float = 0.0
    last_seen: float = 0.0


Ledger = tuple[Mistake, ...]


def fingerprint_failure(error: str, step_kind: str = "", files: Iterable[str] = ()) -> Failure:
    """Reduce an error to its normalised text, the kind of step, and the files concerned."""
    plain = plain_error(error)
    named = tuple(sorted({name for file in files if (name := _tidy(file))}))
    return Failure(digest([plain, step_kind, named]), plain[:ERROR_KEPT], step_kind, named)


def matches(ledger: Sequence[Mistake], failure: Failure, limit: int = 3) -> Ledger:
    """The entries that this failure repeats or resembles, best first.

    The same error text is required; the same kind of step, a common file, a known resolution and
    a higher count decide the order.
    """
    alike = [
        m
        for m in ledger
        if m.fingerprint == failure.fingerprint or (m.error and m.error == failure.error)
    ]
    alike.sort(key=lambda m: _rank(m, failure), reverse=True)
    return tuple(alike[: max(limit, 0)])


def is_repeat(ledger: Sequence[Mistake], failure: Failure) -> bool:
    """Whether exactly this failure is on record."""
    return any(m.fingerprint == failure.fingerprint for m in ledger)


def record(ledger: Sequence[Mistake], failure: Failure, at: float) -> Ledger:
    """Enter a failure, or count it once more and keep what resolved it before."""
    if not is_repeat(ledger, failure):
        f = failure
        fresh = Mistake(f.fingerprint, f.error, f.step_kind, f.files, first_seen=at, last_seen=at)
        return (*ledger, fresh)
    return tuple(
        msgspec.structs.replace(m, count=m.count + 1, last_seen=max(at, m.last_seen))
        if m.fingerprint == failure.fingerprint
        else m
        for m in ledger
    )


def resolve(ledger: Sequence[Mistake], fingerprint: str, what: str) -> Ledger:
    """Note what resolved a mistake; an unknown fingerprint changes nothing."""
    return tuple(
        msgspec.structs.replace(m, resolution=what) if m.fingerprint == fingerprint else m
        for m in ledger
    )


def injection(mistakes: Sequence[Mistake], cap: int = 2000) -> str:
    """What a prompt should say about earlier mistakes: whole entries, at most `cap` characters."""
    text = ""
    for mistake in mistakes:
        entry = _entry(mistake)
        longer = f"{text}\n{entry}" if text else f"{HEADING}\n{entry}"
        if len(longer) > cap:
            break
        text = longer
    return text


HEADING = "This project has seen these failures before. Do not repeat what led to them:"


def _entry(mistake: Mistake) -> str:
    times = "once" if mistake.count == 1 else f"{mistake.count} times"
    place = f" in {', '.join(mistake.files)}" if mistake.files else ""
    step = f" during {mistake.step_kind}" if mistake.step_kind else ""
    cure = f" Resolved by: {mistake.resolution}" if mistake.resolution else " Not resolved yet."
    error = " / ".join(mistake.error.split("\n"))
    return f"- Seen {times}{step}{place}: {error}.{cure}"


def _rank(mistake: Mistake, failure: Failure) -> tuple[bool, bool, int, bool, int, float, str]:
    return (
        mistake.fingerprint == failure.fingerprint,
        mistake.step_kind == failure.step_kind,
        len(set(mistake.files) & set(failure.files)),
        bool(mistake.resolution),
        mistake.count,
        mistake.last_seen,
        mistake.fingerprint,
    )


def _tidy(file: str) -> str:
    return file.strip().replace("\\", "/").removeprefix("./")
