"""Features that a change removed from the product and from the tests alike."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping

from flyball.core.terms.test_paths import is_example, is_test_path
from flyball.regex import regex
from flyball.verdict.tests._renames import DEFINITION
from flyball.verdict.tests._tree import is_code

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
MIN_NAME = 4
MIN_STEM = 5
MIN_LINE = 5
MAX_CAME = 4


def vanished(before: Mapping[str, str], after: Mapping[str, str]) -> frozenset[str]:
    """Return what the product spoke of or defined before, and neither it nor any changed test does
    now.
    """
    old, new = _product(before), _product(after)
    lost = _mentions(old) - _mentions(new)
    lost |= _defined(old) - _defined(new)
    kept = _mentions(text for path, text in after.items() if is_test_path(path))
    return frozenset(name for name in lost - kept if len(name) >= MIN_NAME)


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
    """Return the deleted file of the product that a deleted test file was about, going by its
    name.
    """
    own = _stems(path)
    others = filter(_is_product, sorted(deleted))
    return next((other for other in others if own & _stems(other)), None)


def _stems(path: str) -> set[str]:
    stem = path.rpartition("/")[2].partition(".")[0]
    words = (word.rstrip("s") for word in re.split(r"[\W_]+", stem.lower()))
    return {word for word in words if len(word) >= MIN_STEM}
