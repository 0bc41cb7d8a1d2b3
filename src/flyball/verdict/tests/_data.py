"""Files in test places that are no code: recorded output, fixtures and other data."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping

from flyball.core.terms.evidence import Weakened
from flyball.core.terms.test_paths import is_expectation, is_test_config, is_test_path
from flyball.regex import regex
from flyball.verdict.tests._finding import Compared
from flyball.verdict.tests._tree import is_code

PROSE = regex(
    r".*\.(?:md|rst|txt\.license|adoc)|README.*|LICENSE.*|requirements.*\.(?:txt|in)|\.git\w+|.*\.(?:css|svg|html?)"
)


def compare_data(before: Mapping[str, str], after: Mapping[str, str]) -> Iterator[Compared]:
    """Yield each data file that was rewritten, cut or deleted; one that moved, or only grew, is
    fine.
    """
    kept = set(after.values())
    named = "\n".join(text for path, text in before.items() if is_code(path))
    for path, old in before.items():
        new = after.get(path)
        if not _is_data(path) or old in kept:
            continue
        found = _recorded(path, old, new) if is_expectation(path) else _data(path, old, new, named)
        if found:
            yield Compared(path, (), 1, old, new, (found,))


def _is_data(path: str) -> bool:
    if is_expectation(path):
        return True
    name = path.rpartition("/")[2]
    is_known = is_code(path) or is_test_config(path) or PROSE.fullmatch(name)
    return is_test_path(path) and not is_known


def _recorded(path: str, old: str, new: str | None) -> Weakened | None:
    """Return a file of many snapshots may gain some; other recorded output is one expectation."""
    if (
        new is not None
        and path.endswith(".snap")
        and not Counter(_lines(old)) - Counter(_lines(new))
    ):
        return None
    what = "was deleted" if new is None else "was rewritten"
    return Weakened(path, 1, "changed-expected", f"recorded output {what}")


def _data(path: str, old: str, new: str | None, named: str) -> Weakened | None:
    """Compare data: other values are a changed expectation at most; fewer lines cannot be
    judged.
    """
    if new is None:
        # What a changed file asked for by name went with those who asked for it; what nobody
        # names may be one of many cases that are found by looking into their folder.
        stem = path.rpartition("/")[2].partition(".")[0]
        kind = "changed-expected" if stem in named else "not-understood"
        return Weakened(path, 1, kind, "data for tests was deleted")
    lost = Counter(_lines(old)) - Counter(_lines(new))
    if not lost:
        return None
    if len(_lines(new)) < len(_lines(old)):
        return Weakened(path, 1, "not-understood", "data for tests lost lines")
    return Weakened(path, 1, "changed-expected", "data for tests was changed")


def _lines(text: str) -> list[str]:
    return [line.strip() for line in text.split("\n") if line.strip()]
