"""Names of files in a diff: how they are written in headers, and which may not be touched."""

from __future__ import annotations

import re
import unicodedata

PROTECTED = (".git", "node_modules", ".flyball")

NULL = "/dev/null"
_STAMP = re.compile(rb"[ \t]+\(?\d{4}-\d\d-\d\d([ T]\d\d:\d\d.*)?$")
_PREFIX = re.compile(r"^([abciow]|old|new)/(?=.)")
_PAIRS = frozenset(("ab", "ba", "iw", "wi", "ci", "ic", "cw", "wc", "ow", "wo", "oldnew", "newold"))
_OCTAL = re.compile(rb"\\([0-3][0-7]{2}|.)", re.DOTALL)
_ESCAPES = dict(zip(b"abfnrtv", b"\a\b\f\n\r\t\v", strict=True))
_SHORT_NAME = re.compile(r"^(git|node_m|nodemo|flybal)~\d+$")
_SUSPECT = re.compile(r"^/|^$|[\\~:]|\.\.|[. ](?:/|$)|\.git|node_modules|\.flyball", re.IGNORECASE)
"""What a path must have in it before it is worth a closer look."""
_DRIVE = re.compile(r"^[A-Za-z]:")


def header_name(rest: bytes) -> str:
    """The name in what follows `--- ` or `+++ `, without quotes or timestamp."""
    rest = rest.strip(b" \r")
    if rest[:1] == b'"' and rest.count(b'"') > 1:
        rest = _unquote(rest[1 : rest.rindex(b'"')])
    elif b"\t" in rest or b" " in rest:
        rest = _STAMP.sub(b"", rest.split(b"\t")[0]).rstrip()
    return rest.decode("utf-8", "surrogateescape")


def git_names(rest: bytes) -> tuple[str, str] | None:
    """Both names in what follows `diff --git `, when they are one name with two prefixes."""
    rest = rest.strip(b" \r")
    if rest[:1] == b'"':
        rest = b" ".join(_unquote(part) for part in re.findall(rb'"((?:[^"\\]|\\.)*)"', rest))
    half = len(rest) // 2
    old = rest[:half].decode("utf-8", "surrogateescape")
    new = rest[half + 1 :].decode("utf-8", "surrogateescape")
    return (old, new) if rest[half : half + 1] == b" " and old[1:] == new[1:] else None


def candidates(old: str, new: str) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """What the old and the new file may be called, likeliest first; empty for an absent name."""
    if old.startswith("a/") and new.startswith("b/"):
        return (_tidy(old[2:]),), (_tidy(new[2:]),)
    before, after = _PREFIX.match(old), _PREFIX.match(new)
    if before and after and before[1] + after[1] in _PAIRS:
        return (_tidy(old[before.end() :]),), (_tidy(new[after.end() :]),)
    if old == NULL and new.startswith("b/"):
        return (), (_tidy(new[2:]),)
    if new == NULL and old.startswith("a/"):
        return (_tidy(old[2:]),), ()
    return _readings(old), _readings(new)


def why_forbidden(path: str) -> str | None:
    """Why this path may not be written, or None."""
    # The usual path is let through by one look; only odd ones are folded letter by letter.
    if path.isascii() and path.isprintable() and not _SUSPECT.search(path):
        return None
    slashed = path.replace("\\", "/")
    parts = slashed.split("/")
    if not path or any(unicodedata.category(c) == "Cc" for c in path):
        return "is not a usable file name"
    if slashed.startswith(("/", "~")) or _DRIVE.match(path):
        return "is absolute; name it relative to the workspace"
    if ".." in parts:
        return "leads upwards with '..'; name a file inside the workspace"
    for part in parts:
        folded = _fold(part)
        if folded in PROTECTED or _SHORT_NAME.match(folded):
            return f"is in {folded}, which is protected; edits there are never allowed"
    return None


def _readings(name: str) -> tuple[str, ...]:
    if not name or name == NULL:
        return ()
    match = _PREFIX.match(name)
    whole = _tidy(name)
    return (_tidy(name[match.end() :]), whole) if match and match[1] in "ab" else (whole,)


def _tidy(name: str) -> str:
    if "//" not in name and "./" not in name:
        return name
    root = "/" if name.startswith("/") else ""
    return root + "/".join(part for part in name.split("/") if part not in ("", "."))


def _unquote(quoted: bytes) -> bytes:
    def plain(match: re.Match[bytes]) -> bytes:
        code = match[1]
        return bytes([int(code, 8) if len(code) == 3 else _ESCAPES.get(code[0], code[0])])

    return _OCTAL.sub(plain, quoted)


def _fold(part: str) -> str:
    """A name as the most forgiving file system would compare it."""
    shown = "".join(c for c in part if unicodedata.category(c) != "Cf")
    folded = unicodedata.normalize("NFKC", shown).casefold()
    return folded.split(":")[0].rstrip(". ")
