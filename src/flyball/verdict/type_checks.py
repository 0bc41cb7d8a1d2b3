"""Find changes against the type checker: lines that silence it, settings that weaken it.

No test run shows either, so if a type check is part of the proof, a person is asked.
"""

from __future__ import annotations

import posixpath
from collections import Counter
from collections.abc import Iterator

from flyball.regex import regex
from flyball.terms.evidence import ChangedTest
from flyball.verdict.promises import WEAKER
from flyball.verdict.reach import Texts

_CHECKERS = regex(
    r"\b(?:tsc|vue-tsc|svelte-check|mypy|dmypy|(?:based)?pyright|pytype|pyre|ty|flow|sorbet|steep"
    r"|phpstan|psalm|type-?checks?|types)\b"
)
_SETTINGS = regex(r"(?:^|/)(?:[tj]sconfig[^/]*\.json|\.?mypy\.ini|pyrightconfig\.json|ty\.toml)$")
_PYTHON = regex(
    r"#\s*(?:type|pyright|ty|pyre)\s*:\s*(?:ignore|basic|off)|#\s*pyre-(?:ignore|fixme)"
    r"|#\s*mypy:\s*(?:ignore-errors|disable)|@(?:typing\.)?no_type_check\b"
    r"|\bcast\(\s*['\"]?(?:typing\.)?Any\b"
)
_SCRIPT = regex(r"@ts-(?:ignore|nocheck|expect-error)\b|\bas\s+(?:any|unknown\s+as|never)\b|<any>")
_SILENCERS = {
    ".py": _PYTHON, ".pyi": _PYTHON, ".ts": _SCRIPT, ".tsx": _SCRIPT, ".mts": _SCRIPT,
    ".cts": _SCRIPT, ".js": _SCRIPT, ".jsx": _SCRIPT, ".mjs": _SCRIPT, ".vue": _SCRIPT,
    ".svelte": _SCRIPT,
}  # fmt: skip


def is_type_check(what: str) -> bool:
    """Return whether a name or a command is that of a type checker."""
    return bool(_CHECKERS.search(what))


def silenced_lines(before: Texts, after: Texts) -> Iterator[str]:
    """Yield new lines that silence the type checker, each file in a sentence."""
    for path, new in sorted(after.items()):
        pattern = _SILENCERS.get(posixpath.splitext(path)[1])
        if pattern is None or new is None:
            continue
        # Counted, since the same comment may stand above another line as well.
        known = Counter((before.get(path) or "").split("\n"))
        for number, line in enumerate(new.split("\n"), 1):
            known[line] -= 1
            if known[line] < 0 and (found := pattern.search(line)):
                yield f"{path}:{number} silences the type checker: `{found[0].strip()}`."
                break


def loosened_settings(tests: tuple[ChangedTest, ...]) -> Iterator[str]:
    """Yield requirements that the settings of type checkers have dropped."""
    for each in tests:
        if _SETTINGS.search(each.path) and each.comparison in WEAKER:
            yield f"{each.path}: {each.sentence}."
