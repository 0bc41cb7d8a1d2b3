"""Explain losses by other parts of the change."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from collections.abc import Set as AbstractSet
from typing import NamedTuple

from flyball.regex import regex
from flyball.terms.evidence import Weakened
from flyball.terms.test_paths import is_example, is_test_path
from flyball.verdict.tests._finding import Compared
from flyball.verdict.tests._renames import DEFINITION, WORD
from flyball.verdict.tests._tree import is_code

LOSSES = frozenset({"removed-assertion", "removed-case", "removed-test"})
MIN_NAME = 8
MIN_WORD = 6


def with_replacements(compared: Iterable[Compared]) -> Iterator[Compared]:
    """Classify a loss as a changed expectation if a sibling test asserts as much more of the same
    code.

    Additional assertions are used up, so that a new one cannot replace many lost ones.
    """
    everything = list(compared)
    gains = {n: one.gain for n, one in enumerate(everything) if one.gain > 0 and one.is_test}
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
        reason = f"{' > '.join(everything[successor].name)} asks more now"
        yield one._replace(findings=tuple(_explained(one, reason)))


def _is_about(new: Compared, old: Compared) -> bool:
    """Return whether two tests are in one file and call mostly the same, or have similar names."""
    if new.path != old.path or (new.name == old.name and new.before is not None):
        return False
    short, long = sorted((" ".join(new.name), " ".join(old.name)), key=len)
    is_named_alike = len(short) >= MIN_NAME and long.startswith(short)
    shared = old.calls & new.calls
    return is_named_alike or (bool(shared) and len(shared) * 2 >= len(old.calls))


def _explained(one: Compared, reason: str, kinds: AbstractSet[str] = LOSSES) -> Iterator[Weakened]:
    for found in one.findings:
        if found.kind in kinds:
            detail = f"{found.detail}; {reason}"
            yield Weakened(found.path, found.line, "changed-expected", detail)
        else:
            yield found


class Removals(NamedTuple):
    """Everything that a change removed from the product."""

    names: frozenset[str]
    """What the product no longer has, whatever tests still mention."""
    features: frozenset[str]
    """What neither the product nor a changed test mentions any more."""
    deleted: Mapping[str, str]
    """Every file that is gone."""
    is_all: bool
    """Whether the product lost code, and hardly any came."""


def with_removals(compared: Iterable[Compared], removals: Removals) -> Iterator[Compared]:
    """Classify a loss as a changed expectation if the lost assertion named a removed feature.

    In a fix it remains a question; it is expected only if the removal was requested.
    """
    for one in compared:
        # Nothing of the project's own runs an example, so nobody need understand it.
        kinds = LOSSES | {"not-understood"} if _is_never_run(one) else LOSSES
        is_lost = any(found.kind in kinds for found in one.findings)
        reason = _reason(one, removals) if is_lost else ""
        yield one._replace(findings=tuple(_explained(one, reason, kinds))) if reason else one


def _is_never_run(one: Compared) -> bool:
    """Return whether test runs leave a file out, because it is an example or a benchmark."""
    return is_example(one.path) or "".join(one.name[:1]).startswith("Benchmark")


def _reason(one: Compared, removals: Removals) -> str:
    if _is_never_run(one):
        return "running the tests leaves it out"
    # Tests of a file that is gone may name the feature once for all of them.
    whole = removals.deleted.get(one.path)
    if whole is not None and (product := counterpart(one.path, removals.deleted)):
        return f"{product} was deleted with it"
    lost = whole or _lost(one)
    names = removals.names.intersection(WORD.findall(lost))
    names |= removals.features & (mentions(lost) | _named(one))
    if names:
        return f"the product no longer has {min(names)}"
    return "the product lost code, and hardly any came" if removals.is_all and not one.after else ""


def _named(one: Compared) -> set[str]:
    """Return the longer words of its name, because short ones are too common."""
    words = WORD.findall(" ".join(one.name).replace("_", " "))
    return {word for word in words if len(word) >= MIN_WORD}


def _lost(one: Compared) -> str:
    kept = set((one.after or "").split("\n"))
    return "\n".join(line for line in (one.before or "").split("\n") if line not in kept)


NAME = r"[A-Za-z_$][\w$]*"
# How others speak of a thing: a member, a call, a named argument, a key, a word in quotes. A bare
# name may be anybody's variable, and says nothing.
MENTION = regex(
    rf"\.({NAME})|\b({NAME})\s*\(|[(,]\s*({NAME})\s*=(?!=)|^\s*({NAME})\s*[:=](?![:=])"
    r"|(?<=')([\w$-]+)(?=')|(?<=\")([\w$-]+)(?=\")|(?<=`)([\w$-]+)(?=`)",
    re.MULTILINE,
)
COMMENT = regex(
    r"(?m)(?:^|(?<=\s))(?:#|//)[^\n]*|/\*[\s\S]*?\*/|^\s*\*[^\n]*"
    r"|\"\"\"[\s\S]*?\"\"\"|'''[\s\S]*?'''"
)
MIN_FEATURE = 4
MIN_STEM = 5
MIN_LINE = 5
MAX_CAME = 4


def vanished(before: Mapping[str, str], after: Mapping[str, str]) -> frozenset[str]:
    """Return the names that the product used before, and that neither it nor a changed test uses
    now."""
    old, new = _product(before), _product(after)
    lost = _mentions(old) - _mentions(new)
    lost |= _defined(old) - _defined(new)
    kept = _mentions(text for path, text in after.items() if is_test_path(path))
    return frozenset(name for name in lost - kept if len(name) >= MIN_FEATURE)


def mentions(text: str) -> frozenset[str]:
    """Return every name that code defines or mentions."""
    return frozenset(_mentions([text]))


def _product(files: Mapping[str, str]) -> list[str]:
    return [text for path, text in files.items() if _is_product(path)]


def _is_product(path: str) -> bool:
    return is_code(path) and not is_test_path(path) and not is_example(path)


def _mentions(texts: Iterable[str]) -> set[str]:
    return {
        name
        for text in texts
        for groups in MENTION.findall(COMMENT.sub("", text))
        for name in groups
        if name
    }


def _defined(texts: Iterable[str]) -> set[str]:
    return {match["name"] for text in texts for match in DEFINITION.finditer(text)}


def only_lost_code(before: Mapping[str, str], after: Mapping[str, str]) -> bool:
    """Return whether the product was cut: it lost several times what it gained."""
    old, new = (Counter(_code_lines(_product(files))) for files in (before, after))
    return (old - new).total() > MAX_CAME * (new - old).total()


def _code_lines(texts: Iterable[str]) -> Iterator[str]:
    for text in texts:
        lines = (line.strip() for line in COMMENT.sub("", text).split("\n"))
        # A brace or an `end` on its own is nobody's feature.
        yield from (line for line in lines if len(line) >= MIN_LINE)


def counterpart(path: str, deleted: Iterable[str]) -> str | None:
    """Return the deleted product file that a deleted test file was about, by its name."""
    own = _stems(path)
    others = filter(_is_product, sorted(deleted))
    return next((other for other in others if own & _stems(other)), None)


def _stems(path: str) -> set[str]:
    stem = path.rpartition("/")[2].partition(".")[0]
    words = (word.rstrip("s") for word in re.split(r"[\W_]+", stem.lower()))
    return {word for word in words if len(word) >= MIN_STEM}
