"""Escape characters that a terminal would obey or hide."""

from __future__ import annotations

import re

from flyball.regex import regex

UNSEEN = regex(
    # Controls but for newline and tab, DEL, C1, and the soft hyphen.
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\xad"
    # Letters without a shape, and joiners, marks and overrides of direction.
    "\u061c\u115f\u1160\u180e\u200b-\u200f\u2028-\u202e\u2060-\u206f\u3164\ufeff\uffa0\ufff9-\ufffb"
    # Halves of pairs, which stand for bytes that are not UTF-8, and tags.
    "\ud800-\udfff\U000e0000-\U000e007f]"
)


def printable(text: str) -> str:
    """Return the text with every character that a terminal would obey or hide made visible.

    It is escaped as in JSON, so that JSON stays valid and only its escapes differ.
    """
    return UNSEEN.sub(_escaped, text)


def _escaped(found: re.Match[str]) -> str:
    from json import dumps

    return dumps(found[0])[1:-1]
