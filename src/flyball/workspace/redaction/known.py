"""Find known secret values in any encoding."""

from __future__ import annotations

import base64
import binascii
import codecs
import html
import json
import unicodedata
from bisect import bisect_right
from collections.abc import Iterable, Iterator
from itertools import accumulate
from urllib.parse import quote

from flyball.regex import regex
from flyball.workspace.redaction.judge import SHORTEST, entropy

_LEAST = 8
"""Minimum number of letters and digits of a form to be searched without separators."""
_SIGNS = bytes(code for code in range(128) if not chr(code).isalnum())
_STYLED = regex(
    r"[\u0300-\u036f\u2070-\u209c\u24b6-\u24e9\uff01-\uff5e\U0001d400-\U0001d7ff"
    r"\U000e0020-\U000e007e]"
)
"""Characters that stand for others: wide, bold, circled or invisible letters, and accents."""
_ROW = regex(
    r"(?m)^[ \t]{0,8}(?:0x)?[0-9a-fA-F]{1,16}[:|)]?[ \t]{1,8}"
    r"(?:(?P<codes>[0-9a-fA-F]{2,8}(?:[ \t]{1,3}[0-9a-fA-F]{2,8}){0,31})(?:[ \t]{2}[^\n]*)?|"
    r"(?P<rest>[^\n]*))$"
)
"""A row of a dump, with its offset and perhaps a column of text, or a line with its number."""


class KnownValues:
    """Finds values that are known to be secret."""

    def __init__(self, secrets: Iterable[str]) -> None:
        usable = [each for each in secrets if len(each) >= SHORTEST and not each.isspace()]
        plain = {form for secret in usable for form in _plain_forms(secret)}
        # The longest first: of two with a common prefix, matching the shorter would expose the
        # rest.
        self._plain = sorted(plain, key=len, reverse=True)
        self._exact = {form for secret in usable for form in _split_forms(secret)}
        self._folded = {form for secret in usable for form in _encoded_forms(secret)}
        self._longest = max(map(len, (*plain, *self._exact, *self._folded)), default=0)

    def spans(self, text: str) -> Iterator[tuple[int, int]]:
        """Yield the spans of known values, including those with separators inside."""
        if not self._plain:
            return
        yield from self._seen(text)
        if not text.isascii() and _STYLED.search(text):
            shown, places = _plainly(text)
            yield from ((places[first], places[last - 1] + 1) for first, last in self._seen(shown))
        if "\n" in text:
            yield from self._dumped(text)

    def _dumped(self, text: str) -> Iterator[tuple[int, int]]:
        """Yield the spans of what the rows of a dump hold, without offsets and columns of text."""
        rows = list(_ROW.finditer(text))
        held = [row.span("codes" if row["codes"] else "rest") for row in rows]
        ends = list(accumulate(last - first for first, last in held))
        for first, last in self._seen("".join(text[slice(*span)] for span in held)):
            top, end = bisect_right(ends, first), bisect_right(ends, last - 1)
            # What a dump shows as codes it shows as text as well, at the end of the row.
            past = rows[end].end() if rows[end]["codes"] else held[end][1] + last - ends[end]
            yield held[top][1] + first - ends[top], past

    def _seen(self, text: str) -> Iterator[tuple[int, int]]:
        for form in self._plain:
            yield from _all_of(form, text)
        letters = _letters(text)
        folded = letters.lower()
        found = [span for form in self._exact for span in _all_of(form, letters)]
        if len(folded) == len(letters):
            found += [span for form in self._folded for span in _all_of(form, folded)]
        if found:
            places = [at for at, char in enumerate(text) if char >= "\x80" or char.isalnum()]
            for first, last in found:
                start, end = places[first], places[last - 1] + 1
                # At this distance they are not one value any more.
                if end - start <= 8 * (last - first) + 64:
                    yield start, end

    def unfinished(self, text: str) -> int:
        """Return the position from which a text may end with the beginning of a known value."""
        if not self._plain:
            return len(text)
        tail = text[-self._longest * 4 :]
        letters = _letters(tail)
        places = [at for at, char in enumerate(tail) if char >= "\x80" or char.isalnum()]
        first = len(tail)
        for forms, view in ((self._exact, letters), (self._folded, letters.lower())):
            for form in forms:
                at = view.rfind(form[:4], -len(form)) if len(view) == len(places) else -1
                if at >= 0 and form.startswith(view[at:]):
                    first = min(first, places[at])
        return len(text) - len(tail) + first


def _plainly(text: str) -> tuple[str, list[int]]:
    """Return a text with plain letters for what looks like them, and where each comes from."""
    shown: list[tuple[str, int]] = []
    for at, char in enumerate(text):
        tag = chr(ord(char) - 0xE0000) if 0xE0020 <= ord(char) <= 0xE007E else char
        shown += [(each, at) for each in unicodedata.normalize("NFKD", tag)]
    kept = [(each, at) for each, at in shown if not unicodedata.combining(each)]
    return "".join(each for each, _ in kept), [at for _, at in kept]


def _all_of(form: str, text: str) -> Iterator[tuple[int, int]]:
    at = text.find(form)
    while at >= 0:
        yield at, at + len(form)
        at = text.find(form, at + 1)


def _plain_forms(secret: str) -> Iterator[str]:
    """Yield a secret as it is written in files, URLs and pages."""
    yield secret
    yield secret[::-1]
    yield quote(secret, safe="")
    yield json.dumps(secret)[1:-1]
    yield base64.b85encode(secret.encode(errors="replace")).decode()
    yield html.escape(secret)
    for line in secret.splitlines()[: 1000 if "\n" in secret else 0]:
        if len(line.strip()) >= 16:
            yield line.strip()


def _letters(text: str) -> str:
    return (
        text.encode(errors="surrogatepass").translate(None, _SIGNS).decode(errors="surrogatepass")
    )


def _split_forms(secret: str) -> Iterator[str]:
    """Yield the letters and digits of a secret, which separators may split."""
    forms = [
        secret,
        secret[::-1],
        codecs.encode(secret, "rot13"),
        repr(secret),
        html.escape(secret),
    ]
    forms += [json.dumps(secret), quote(secret, safe="")]
    half = len(secret) // 2
    if half >= 10:
        forms += [secret[:half], secret[half:]]
    for form in map(_letters, forms):
        mixed = any(map(str.isdigit, form)) and any(map(str.isalpha, form))
        if len(form) >= _LEAST and (mixed or len(form) >= 16) and entropy(form) >= 2.5:
            yield form


def _encoded_forms(secret: str) -> Iterator[str]:
    """Yield the encodings of a secret: in lower case, with only their letters and digits."""
    wide = secret.encode("utf-16-le", "replace")
    for data in (secret.encode(errors="replace"), wide):
        codes = (_letters(each).lower() for each in _codes(data))
        yield from (code for code in codes if len(code) > _LEAST)
    data = secret.encode(errors="replace")
    twice = (base64.b64encode(data), data.hex().encode(), data[::-1])
    for inner in twice:
        yield from (_letters(each).lower() for each in _base64(inner))
    for form in (
        base64.b64encode(data).hex(),
        data.hex().encode().hex(),
        base64.b64encode(data).decode().rstrip("=")[::-1],
        "".join(binascii.b2a_uu(data[at : at + 45]).decode()[1:] for at in range(0, len(data), 45)),
        quote(quote(secret, safe=""), safe=""),
        codecs.encode(secret, "punycode").decode() if secret.isascii() else secret,
    ):
        if len(_letters(form)) >= 16:
            yield _letters(form).lower()


def _codes(data: bytes) -> Iterator[str]:
    for each in ("{:02x}", "x{:02x}", "0x{:02x}", "0x{:x}", "u{:04x}", "u00{:02x}", "u{{{:x}}}"):
        yield "".join(each.format(byte) for byte in data)
    for each in ("U{:08x}", "{:03o}", "{:o}", "0{:o}", "0o{:o}", "{:d}", "{:03d}", "{:08b}"):
        yield "".join(each.format(byte) for byte in data)
    yield data[::-1].hex()
    for start in (0, 1):
        # As `od -x` shows them: two bytes in the order of the machine.
        pairs = zip(data[start::2], data[start + 1 :: 2], strict=False)
        yield "".join(f"{second:02x}{first:02x}" for first, second in pairs)
    yield from _base64(data)
    yield from _base32(data)
    yield base64.b85encode(data).decode()
    yield base64.a85encode(data).decode()


def _base64(data: bytes) -> Iterator[str]:
    """Yield its base64 at every alignment, without characters shared with neighbouring bytes."""
    for shift in range(3):
        whole = base64.b64encode(b"\0" * shift + data).decode().rstrip("=")
        yield whole[4 if shift else 0 : len(whole) - 1 if (shift + len(data)) % 3 else None]


def _base32(data: bytes) -> Iterator[str]:
    for shift in range(5):
        for encode in (base64.b32encode, base64.b32hexencode):
            whole = encode(b"\0" * shift + data).decode().rstrip("=")
            skipped = -(-shift * 8 // 5)
            yield whole[skipped : len(whole) - 1 if (shift + len(data)) % 5 else None]
