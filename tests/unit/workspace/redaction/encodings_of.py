"""The ways a known value may be written, each as a function from the value to a text."""

from __future__ import annotations

import base64
import binascii
import codecs
import html
import json
from collections.abc import Callable
from string import ascii_lowercase, ascii_uppercase
from urllib.parse import quote


def _each(shape: str, between: str = "") -> Callable[[str], str]:
    return lambda secret: between.join(shape.format(ord(each)) for each in secret)


def _hex(between: str = "", *, upper: bool = False) -> Callable[[str], str]:
    def encode(secret: str) -> str:
        text = between.join(f"{each:02x}" for each in secret.encode())
        return text.upper() if upper else text

    return encode


def _base64(before: bytes, after: bytes = b"") -> Callable[[str], str]:
    return lambda secret: base64.b64encode(before + secret.encode() + after).decode()


def _wrapped(encode: Callable[[str], str], width: int) -> Callable[[str], str]:
    def wrap(secret: str) -> str:
        text = encode(secret)
        return "\n".join(text[at : at + width] for at in range(0, len(text), width))

    return wrap


def _between(sign: str, every: int = 1) -> Callable[[str], str]:
    return lambda secret: sign.join(secret[at : at + every] for at in range(0, len(secret), every))


_BOLD = {
    ord(each): chr(start + index)
    for start, letters in ((0x1D400, ascii_uppercase), (0x1D41A, ascii_lowercase))
    for index, each in enumerate(letters)
}
ENCODINGS: dict[str, Callable[[str], str]] = {
    "plain": lambda secret: secret,
    "hex": _hex(),
    "upper-case hex": _hex(upper=True),
    "spaced hex": _hex(" "),
    "hex with colons": _hex(":"),
    "spaced upper-case hex": _hex(" ", upper=True),
    "hex with commas": lambda secret: ", ".join(f"0x{ord(each):02x}" for each in secret),
    "C escapes": _each("\\x{:02x}"),
    "octal": _each("\\{:03o}"),
    "spaced octal": _each("{:03o}", " "),
    "decimal": _each("{:d}", ", "),
    "binary": _each("{:08b}", " "),
    "unicode escapes": _each("\\u{:04x}"),
    "long unicode escapes": _each("\\U{:08x}"),
    "braced unicode escapes": _each("\\u{{{:x}}}"),
    "percent, whole": _each("%{:02X}"),
    "percent": lambda secret: quote(secret, safe=""),
    "percent twice": lambda secret: quote(quote(secret, safe=""), safe=""),
    "HTML numbers": _each("&#{:d};"),
    "HTML hex numbers": _each("&#x{:x};"),
    "HTML names": html.escape,
    "JSON": lambda secret: json.dumps(f'"{secret}"'),
    "base64": _base64(b""),
    "base64, shifted by one": _base64(b"x", b"yz"),
    "base64, shifted by two": _base64(b"xy", b"z"),
    "base64 of user and password": _base64(b"user:"),
    "url-safe base64": lambda secret: base64.urlsafe_b64encode(secret.encode()).decode(),
    "wrapped base64": _wrapped(_base64(b""), 12),
    "base64 twice": lambda secret: _base64(b"")(_base64(b"")(secret)),
    "base64 of wide characters": lambda secret: base64.b64encode(
        secret.encode("utf-16-le")
    ).decode(),
    "base64 of hex": lambda secret: base64.b64encode(secret.encode().hex().encode()).decode(),
    "hex of base64": lambda secret: base64.b64encode(secret.encode()).hex(),
    "base32": lambda secret: base64.b32encode(secret.encode()).decode(),
    "lower-case base32": lambda secret: base64.b32encode(secret.encode()).decode().lower(),
    "base85": lambda secret: base64.b85encode(secret.encode()).decode(),
    "reversed": lambda secret: secret[::-1],
    "rot13": lambda secret: codecs.encode(secret, "rot13"),
    "split by a newline": _between("\n", 9),
    "split by newlines and indents": _between("\n    ", 6),
    "split by quotes": _between('" + "', 8),
    "spaced": _between(" "),
    "dashes": _between("-", 4),
    "colours": _between("\x1b[31m", 4),
    "colours of C1": _between("\x9b1;31m", 4),
    "titles": _between("\x1b]0;x\x07", 5),
    "zero width": _between("\u200b"),
    "joiners": _between("\u2060", 3),
    "soft hyphens": _between("\u00ad", 3),
    "direction marks": _between("\u202e", 5),
    "nulls": _between("\0"),
    "overstruck": lambda secret: "".join(f"{each}\b{each}" for each in secret),
    "bold": lambda secret: secret.translate(_BOLD),
    "tags": lambda secret: "".join(chr(ord(each) + 0xE0000) for each in secret),
    "accents": _between("\u0301"),
    "hex twice": lambda secret: secret.encode().hex().encode().hex(),
    "base64 of the reverse": lambda secret: _base64(b"")(secret[::-1]),
    "the reverse of base64": lambda secret: _base64(b"")(secret).rstrip("=")[::-1],
    "uuencoded": lambda secret: binascii.b2a_uu(secret.encode()).decode().strip(),
    "full width": lambda secret: "".join(chr(ord(each) + 0xFEE0) for each in secret),
}
