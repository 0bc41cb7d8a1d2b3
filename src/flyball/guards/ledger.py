"""The mistake ledger: failures a project has seen, and what resolved them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import msgspec

from flyball.guards.fingerprint import plain_error
from flyball.regex import regex
from flyball.terms.call import digest

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


class Sighting(msgspec.Struct, frozen=True, omit_defaults=True):
    """One card that ran into a mistake, and what resolved it there."""

    run: str
    card: str
    failure: Failure
    at: float = 0.0
    resolution: str = ""


Ledger = tuple[Mistake, ...]


def fingerprint_failure(error: str, step_kind: str = "", files: Iterable[str] = ()) -> Failure:
    """Reduce an error to its normalised text, the kind of step, and the files concerned."""
    plain = plain_error(error)
    named = tuple(sorted({name for file in files if (name := _tidy(file))}))
    return Failure(digest([plain, step_kind, named]), plain[:ERROR_KEPT], step_kind, named)


def find_similar(ledger: Sequence[Mistake], failure: Failure, limit: int = 3) -> Ledger:
    """Return the entries that this failure repeats or resembles, best first.

    The same error text is required; the same kind of step, a common file, a known resolution and a
    higher count decide the order.
    """
    alike = [
        m
        for m in ledger
        if m.fingerprint == failure.fingerprint or (m.error and m.error == failure.error)
    ]
    alike.sort(key=lambda m: _rank(m, failure), reverse=True)
    return tuple(alike[: max(limit, 0)])


def recognise(ledger: Sequence[Mistake], failure: Failure) -> Mistake | None:
    """Return the entry that this failure repeats: the same error, or a similar one in a common
    file."""
    for mistake in find_similar(ledger, failure, len(ledger)):
        if mistake.fingerprint == failure.fingerprint or _is_near(mistake, failure):
            return mistake
    return None


def pick_relevant(
    ledger: Sequence[Mistake],
    *,
    failures: Sequence[Failure] = (),
    step_kind: str = "",
    files: Iterable[str] = (),
    about: str = "",
) -> Ledger:
    """Return the mistakes worth showing at the start of such a step, the most relevant first.

    Mistakes that already happened here come first, then entries about these files, then those of
    the same kind of step that share words with it or name no file. Without a kind every entry is
    included.
    """
    repeated = [found for failure in failures if (found := recognise(ledger, failure))]
    named, words = set(map(_tidy, files)), _distinctive_words(about)
    # "Fix it" speaks of nothing in particular, so anything may be what it is about.
    is_vague = bool(about) and not (named or words)
    rest = [
        mistake
        for mistake in ledger
        if mistake not in repeated
        and (
            not step_kind
            or named & set(mistake.files)
            or _may_recur(mistake, step_kind, words, is_vague)
        )
    ]
    rest.sort(
        key=lambda m: (
            len(named & set(m.files)),
            m.step_kind == step_kind,
            m.count,
            m.last_seen,
            m.fingerprint,
        ),
        reverse=True,
    )
    return (*dict.fromkeys(repeated), *rest)


def _may_recur(mistake: Mistake, step_kind: str, words: frozenset[str], is_vague: bool) -> bool:
    """Return whether a mistake of the same kind of step may recur in a step with these words."""
    if mistake.step_kind != step_kind:
        return False
    told = " ".join((mistake.error, *mistake.files))
    return is_vague or not mistake.files or bool(words & _distinctive_words(told))


WORD = regex(r"[a-z]{4,}")
COMMON = frozenset(
    [
        "assert",
        "assertion",
        "assertionerror",
        "error",
        "exception",
        "expected",
        "fail",
        "failed",
        "failure",
        "file",
        "from",
        "have",
        "import",
        "module",
        "test",
        "tests",
        "that",
        "this",
        "unittest",
        "with",
        "wrong",
    ]
)
"""Words that say nothing about what a failure or a step is about."""


def _distinctive_words(text: str) -> frozenset[str]:
    return frozenset(WORD.findall(text.lower())) - COMMON


def injection(mistakes: Sequence[Mistake], cap: int = 2000) -> str:
    """Return the prompt's text about earlier mistakes, in at most `cap` characters."""
    text = ""
    for mistake in mistakes:
        entry = f"- {mistake_words(mistake)}"
        longer = f"{text}\n{entry}" if text else f"{HEADING}\n{entry}"
        if len(longer) > cap:
            break
        text = longer
    return text


HEADING = "These failures have occurred in this project before. Do not repeat what led to them:"


def mistake_words(mistake: Mistake) -> str:
    """Describe a mistake in one sentence, and its resolution in another."""
    times = "once" if mistake.count == 1 else f"{mistake.count} times"
    place = f" in {', '.join(mistake.files)}" if mistake.files else ""
    step = f" during {mistake.step_kind}" if mistake.step_kind else ""
    fix = f" Resolved by: {mistake.resolution}" if mistake.resolution else " Not resolved yet."
    error = " / ".join(mistake.error.split("\n"))
    return f"Seen {times}{step}{place}: {error}.{fix}"


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


def _is_near(mistake: Mistake, failure: Failure) -> bool:
    """Return whether the files allow it to be the same mistake."""
    if not mistake.files or not failure.files:
        return True
    return bool(set(mistake.files) & set(failure.files))


def _tidy(file: str) -> str:
    return file.strip().replace("\\", "/").removeprefix("./")
