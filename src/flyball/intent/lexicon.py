"""The words and phrases by which a request is recognised, in all supported languages.

Each name is one alternation of a regular expression, mostly plain phrases, from `lexicon.txt`.
Entries are matched as whole words; the `_CJK` twins anywhere, since those scripts do not separate
words.
"""

from __future__ import annotations

from functools import cache

FILE = "lexicon.txt"
"""`[NAME]`, then the lines of its value, which continue one another; a comment starts with `# `."""


@cache
def _entries() -> dict[str, str]:
    from pkgutil import get_data

    found: dict[str, str] = {}
    name = ""
    for line in (get_data("flyball.intent", FILE) or b"").decode().split("\n"):
        if line.startswith("[") and line.endswith("]") and line[1:-1].isidentifier():
            name = line[1:-1]
            found[name] = ""
        elif line and not line.startswith("# "):
            found[name] += line
    return found


def __getattr__(name: str) -> str:
    """Read an entry on its first use; importing reads nothing."""
    try:
        return _entries()[name]
    except KeyError:
        raise AttributeError(f"{FILE} has no entry {name}") from None
