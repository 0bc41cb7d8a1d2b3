"""Secrets out of sight, in one place: whatever is journaled, streamed, shown or sent passes here.

Three rules: values known to be secret, shapes that only tokens have, and strings that look random
in a field whose name says key. Hashes, UUIDs and encoded data elsewhere are left alone.
"""

from __future__ import annotations

import base64
import math
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from functools import lru_cache
from pathlib import Path
from typing import Any, cast
from urllib.parse import quote, unquote

from flyball.regex import regex
from flyball.workspace.files.path_rules import holds_secrets
from flyball.workspace.files.plain import read_plain

HIDDEN = "[redacted]"
SHORTEST = 6
_LONGEST_ENV = 1 << 18

_SHAPES = regex(
    r"(?<![A-Za-z0-9])(?:"
    r"(?:AKIA|ASIA|AGPA|AIDA|AROA|ANPA|ABIA|ACCA)[A-Z0-9]{16}(?![A-Za-z0-9])"
    r"|gh[pousr]_[A-Za-z0-9]{30,255}|github_pat_[A-Za-z0-9_]{22,255}"
    r"|gl(?:pat|ptt|rt|dt|cbt|soat)-[A-Za-z0-9_.\-]{20,255}"
    r"|sk-(?:ant|proj|svcacct|admin|or|lf)-[A-Za-z0-9_\-]{16,255}|sk-[A-Za-z0-9]{20,255}"
    r"|(?:xai|pplx)-[A-Za-z0-9]{20,255}|gsk_[A-Za-z0-9]{20,255}|hf_[A-Za-z0-9]{20,255}"
    r"|r8_[A-Za-z0-9]{20,255}"
    r"|xox[abeoprs]-[A-Za-z0-9\-]{10,255}|xapp-[A-Za-z0-9\-]{10,255}"
    r"|AIza[A-Za-z0-9_\-]{35}|ya29\.[A-Za-z0-9_\-]{20,512}|GOCSPX-[A-Za-z0-9_\-]{20,64}"
    r"|[srp]k_(?:live|test)_[A-Za-z0-9]{10,255}|whsec_[A-Za-z0-9+/=]{20,255}"
    r"|npm_[A-Za-z0-9]{30,255}|pypi-[A-Za-z0-9_\-]{40,512}|dckr_pat_[A-Za-z0-9_\-]{20,255}"
    r"|SG\.[A-Za-z0-9_\-]{16,64}\.[A-Za-z0-9_\-]{16,128}|SK[0-9a-f]{32}(?![A-Za-z0-9])"
    r"|do[opr]_v1_[0-9a-f]{40,128}|dop_v1_[0-9a-f]{40,128}|shp(?:at|ca|pa|ss)_[0-9a-fA-F]{32}"
    r"|dapi[0-9a-f]{32}|hv[sbr]\.[A-Za-z0-9_\-]{24,255}|lin_api_[A-Za-z0-9]{30,64}"
    r"|sntry[su]_[A-Za-z0-9_=\-]{30,512}|PMAK-[0-9a-f]{24}-[0-9a-f]{34}|figd_[A-Za-z0-9_\-]{30,64}"
    r"|AGE-SECRET-KEY-1[A-Z0-9]{50,64}|[0-9]{8,10}:AA[A-Za-z0-9_\-]{32,36}"
    r"|eyJ[A-Za-z0-9_\-]{8,4096}\.eyJ[A-Za-z0-9_\-]{8,8192}\.[A-Za-z0-9_\-]{8,2048}"
    r")"
)
_SLACK_HOOK = regex(r"hooks\.slack\.com/services/(T[A-Z0-9]{6,16}/B[A-Z0-9]{6,16}/\w{16,64})")
_IN_ADDRESS = regex(r"://[^\s:/@\"'<>]{0,128}:([^\s:/@\"'<>]{3,256})@")
_EXAMPLE = regex(r"(?i)pass|password|passwd|pwd|secret|token|\*+|x+|<.*|\$.*|\{.*|%.*")
_NETRC = regex(r"login\s{1,8}\S{1,128}\s{1,8}password\s{1,8}(\S{3,256})")
_HEADER = regex(
    r"(?i)\b(?:authorization[\"']?\s{0,4}[:=]\s{0,4}[\"']?(?:bearer|basic|token|digest)"
    r"|bearer)\s{1,4}([A-Za-z0-9._~+/\-]{12,4096}={0,2})"
)
_KEY_BLOCK = regex(r"-----BEGIN (?:[A-Z0-9]{1,16} ){0,4}PRIVATE KEY(?: BLOCK)?-----")
_KEY_END = regex(r"-----END (?:[A-Z0-9]{1,16} ){0,4}PRIVATE KEY(?: BLOCK)?-----")
_FIELD = regex(
    r"(?<![\w.\-])(?P<name>[A-Za-z_][\w.\-]{1,80})[\"']?"
    r"\s{0,4}(?::=|=>|:|=)\s{0,4}"
    r"(?:(?P<quote>[\"'`])(?P<quoted>[^\s\"'`]{6,1024})(?P=quote)"
    r"|(?P<bare>[^\s\"'`,;<>(){}\[\]]{6,1024}+)(?![(\[]))"
)
_FLAG = regex(
    r"--(?<![\w\-]--)(?P<name>[A-Za-z][\w\-]{1,60})(?:\s{1,4}|=)(?P<bare>[^\s\"'`\-][^\s\"'`]{5,1024})"
)
_WORD = regex(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[0-9]+")
_HOLLOW = regex(
    r"(?i)(?:none|null|nil|true|false|undefined|changeme\w*|change-me|example\S*|your[-_]\S*|"
    r"my[-_]?(?:password|secret|token|key)|x{3,}|\*{3,}|\.{3,}|placeholder|redacted|"
    r"[$%&@{<~/]\S*|\.{1,2}/\S*|[a-z]+://\S*)"
)
_CODE = regex(r"[A-Za-z_]\w*(?:(?:\.|::|->)[A-Za-z_]\w*)+|[A-Za-z_\-.:]+")

_KEY_WORDS = frozenset(
    (
        "password",
        "passwd",
        "passphrase",
        "pwd",
        "pass",
        "secret",
        "token",
        "apikey",
        "credential",
        "credentials",
        "pat",
    )
)
_KEY_ENDINGS = ("password", "passwd", "passphrase", "apikey", "secret", "token")
_KINDS_OF_KEY = frozenset(
    (
        "api",
        "access",
        "private",
        "secret",
        "auth",
        "signing",
        "encryption",
        "account",
        "service",
        "master",
        "license",
    )
)


class Redactor:
    """Takes secrets out of text and values."""

    def __init__(self, secrets: Iterable[str] = ()) -> None:
        # The longest first: of two secrets that begin alike, the shorter must not leave the other's
        # rest.
        known = {form for secret in secrets for form in _forms(secret)}
        longest_first = sorted(known, key=len, reverse=True)
        self._known = re.compile("|".join(map(re.escape, longest_first))) if known else None

    def text(self, text: str) -> str:
        """The text with every secret replaced."""
        return _without(text, self.spans(text))

    def value(self, value: Any) -> Any:
        """A JSON-like value with every secret replaced, in keys, strings and key-like fields."""
        if isinstance(value, str):
            return self.text(value)
        if isinstance(value, Mapping):
            fields = cast("Mapping[Any, Any]", value)
            return {self.value(name): self._field(name, held) for name, held in fields.items()}
        if isinstance(value, (list, tuple)):
            items = cast("list[Any]", value)
            return [self.value(item) for item in items]
        return value

    def stream(self) -> Stream:
        """A redactor for text that comes in pieces."""
        return Stream(self)

    def spans(self, text: str) -> list[tuple[int, int]]:
        """Where secrets stand, in order, none overlapping."""
        merged: list[tuple[int, int]] = []
        for first, last in sorted(self._secret_spans(text)):
            if merged and first <= merged[-1][1]:
                merged[-1] = (merged[-1][0], max(last, merged[-1][1]))
            else:
                merged.append((first, last))
        return merged

    def _secret_spans(self, text: str) -> Iterator[tuple[int, int]]:
        if self._known:
            yield from (match.span() for match in self._known.finditer(text))
        yield from (match.span() for match in _SHAPES.finditer(text))
        for pattern in (_SLACK_HOOK, _IN_ADDRESS, _NETRC, _HEADER):
            for match in pattern.finditer(text):
                if not _EXAMPLE.fullmatch(match[1]):
                    yield match.span(1)
        yield from _key_blocks(text)
        for pattern in (_FIELD, _FLAG):
            for match in pattern.finditer(text):
                group = "quoted" if match.groupdict().get("quoted") else "bare"
                is_quoted = group == "quoted"
                if is_key_like(match["name"]) and _looks_secret(match[group], quoted=is_quoted):
                    yield match.span(group)

    def _field(self, name: Any, held: Any) -> Any:
        if isinstance(name, str) and isinstance(held, str) and is_key_like(name):
            return HIDDEN if _looks_secret(held, quoted=True) else self.text(held)
        return self.value(held)


def _without(text: str, spans: Iterable[tuple[int, int]]) -> str:
    pieces: list[str] = []
    end = 0
    for first, last in spans:
        pieces += (text[end:first], HIDDEN)
        end = last
    return "".join(pieces) + text[end:]


class Stream:
    """Redacts text whose secrets may be split over pieces: it holds back what is not yet sure."""

    LONGEST = 1 << 14
    MARGIN = 1 << 12

    def __init__(self, redactor: Redactor) -> None:
        self._redactor = redactor
        self._held = ""

    def feed(self, piece: str) -> str:
        """What may be shown by now: whole lines, or the sure part of an endless one."""
        self._held += piece
        cut = max(self._held.rfind("\n"), self._held.rfind("\r")) + 1
        if block := _open_block(self._held):
            cut = (
                min(cut, block[0]) if len(self._held) - block[0] < self.LONGEST else len(self._held)
            )
        # A line without end must not be held back for ever; a margin stays in case a secret has
        # begun.
        elif not cut and len(self._held) > self.LONGEST:
            cut = len(self._held) - self.MARGIN
        return self._release(cut)

    def close(self) -> str:
        """What was still held back, redacted; no more will come."""
        return self._release(len(self._held))

    def _release(self, cut: int) -> str:
        # Looked for once and in all that is held: a server's log is megabytes, and what follows a
        # piece may say that it is no secret.
        spans = self._redactor.spans(self._held)
        for first, last in spans:
            if first < cut < last:
                cut = first
        ready, self._held = self._held[:cut], self._held[cut:]
        return _without(ready, [span for span in spans if span[1] <= cut])


def secrets_in(environment: Mapping[str, str]) -> tuple[str, ...]:
    """The values of variables whose names say key, and of the headers that collectors are sent."""
    keys = [value for name, value in environment.items() if is_key_like(name)]
    headers = [value for name, value in environment.items() if name.endswith("_OTLP_HEADERS")]
    keys += [key for value in headers for key in _header_keys(value)]
    return tuple(key for key in keys if len(key) >= SHORTEST and not _HOLLOW.fullmatch(key))


def _header_keys(headers: str) -> Iterator[str]:
    """The last words of `name=value,name=value`: what stands before them is a scheme."""
    for header in headers.split(","):
        words = unquote(header.partition("=")[2]).split()
        yield from words[-1:]


_ASSIGNED = regex(r"\s*(?:export\s+)?([A-Za-z_][\w.\-]*)\s*=\s*(.*?)\s*")


def secrets_of_project(top: Path) -> tuple[str, ...]:
    """What the `.env` files at the top of a project keep secret; what is plain in them stays so."""
    found: list[str] = []
    with suppress(OSError):
        names = sorted(each.name for each in top.iterdir() if each.name.startswith(".env"))
        for name in filter(holds_secrets, names):
            text = (read_plain(top / name, _LONGEST_ENV) or b"").decode("utf-8", "replace")
            found += [value for line in text.splitlines() for value in _assigned(line)]
    return tuple(found)


def _assigned(line: str) -> Iterator[str]:
    if not (found := _ASSIGNED.fullmatch(line)):
        return
    name, value = found.groups()
    if value and value[0] in "\"'" and value[-1] == value[0]:
        value = value[1:-1]
    yield from (match[1] for match in _IN_ADDRESS.finditer(value))
    is_secret = is_key_like(name) or _looks_secret(value, quoted=True)
    if is_secret and len(value) >= SHORTEST and not _HOLLOW.fullmatch(value):
        yield value


@lru_cache(4096)
def is_key_like(name: str) -> bool:
    """Whether a field or variable of this name holds a secret."""
    words = [word.lower() for word in _WORD.findall(name)]
    while words and words[-1].isdigit():
        words.pop()
    if not words:
        return False
    last = words[-1]
    if last in _KEY_WORDS or last.endswith(_KEY_ENDINGS):
        return True
    return last == "key" and len(words) > 1 and words[-2] in _KINDS_OF_KEY


def _looks_secret(value: str, *, quoted: bool) -> bool:
    if len(value) < SHORTEST or _HOLLOW.fullmatch(value) or any(map(str.isspace, value)):
        return False
    if _CODE.fullmatch(value):
        return quoted and len(value) >= 20 and value.isalpha() and _entropy(value) >= 4
    has_digit = any(map(str.isdigit, value))
    has_letter = any(map(str.isalpha, value))
    has_sign = any(not ch.isalnum() and ch not in "-_." for ch in value)
    mixed = has_letter and (has_digit or has_sign or value != value.lower() != value.upper())
    return mixed and _entropy(value) >= 2.2


def _entropy(value: str) -> float:
    """Bits per character."""
    size = len(value)
    return -sum(n / size * math.log2(n / size) for n in Counter(value).values())


def _forms(secret: str) -> Iterator[str]:
    """A secret as it may appear: itself, quoted for an address, encoded, or line by line."""
    if len(secret) < SHORTEST or secret.isspace():
        return
    yield secret
    yield quote(secret, safe="")
    data = secret.encode(errors="replace")
    yield data.hex()
    yield secret[::-1]
    for shift in range(3):
        # Wherever it stands in what was encoded; the letters at both ends are shared with others.
        whole = base64.b64encode(b"\0" * shift + data).decode().rstrip("=")
        yield whole[4 if shift else 0 : len(whole) - 1 if (shift + len(data)) % 3 else None]
    lines = secret.splitlines()
    if len(lines) > 1:
        yield from (line.strip() for line in lines if len(line.strip()) >= 16)
        yield secret.replace("\n", "\\n")


def _key_blocks(text: str) -> Iterator[tuple[int, int]]:
    at = 0
    while begin := _KEY_BLOCK.search(text, at):
        end = _KEY_END.search(text, begin.end())
        at = end.end() if end else len(text)
        yield begin.start(), at


def _open_block(text: str) -> tuple[int, int] | None:
    """The last key block, where its end has not come yet."""
    blocks = list(_key_blocks(text))
    if blocks and blocks[-1][1] == len(text) and not _KEY_END.search(text, blocks[-1][0]):
        return blocks[-1]
    return None
