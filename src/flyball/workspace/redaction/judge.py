"""Decide whether a name indicates a secret, and whether a value looks like one."""

from __future__ import annotations

import base64
import binascii
import math
from collections import Counter
from functools import lru_cache
from itertools import pairwise

from flyball.regex import regex

SHORTEST = 6

_WORD = regex(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[0-9]+")
_KEY_WORDS = frozenset(
    [
        "password",
        "passwd",
        "passphrase",
        "passcode",
        "pwd",
        "pass",
        "psk",
        "secret",
        "secrets",
        "token",
        "apikey",
        "credential",
        "credentials",
        "creds",
        "jwt",
        "bearer",
    ]
)
_KEY_ENDINGS = (
    *("password", "passwd", "passphrase", "secret", "token"),
    *("apikey", "accesskey", "secretkey", "privatekey", "authkey", "masterkey", "signingkey"),
)
_KINDS_OF_KEY = frozenset(
    [
        "api",
        "access",
        "private",
        "secret",
        "auth",
        "signing",
        "encryption",
        "decryption",
        "account",
        "service",
        "master",
        "license",
        "client",
        "ssh",
        "storage",
        "shared",
        "subscription",
        "functions",
        "function",
        "application",
        "consumer",
        "webhook",
        "deploy",
        "aes",
        "hmac",
        "rsa",
        "jwt",
        "cipher",
        "wallet",
        "root",
        "admin",
        "team",
    ]
)
_CARRIERS = frozenset(
    ["data", "base", "value", "b64", "base64", "plain", "plaintext", "cleartext", "raw", "text"]
)
"""Last words that describe the encoding of a secret: `client-key-data`, `SECRET_KEY_BASE`."""
_WEAK_WORDS = frozenset(
    [
        "key",
        "auth",
        "authorization",
        "signature",
        "sig",
        "hmac",
        "session",
        "sid",
        "cookie",
        "pat",
        "pw",
        "otp",
        "seed",
        "mnemonic",
        "salt",
        "dsn",
        "sas",
        "code",
        "license",
        "pin",
    ]
)
_PASSWORDS = ("password", "passwd", "passphrase", "passcode", "pwd")
_WHOLE_NAMES = frozenset(
    [
        *("codeverifier", "devicecode", "clientassertion", "samlresponse", "samlassertion"),
        *("privatekeyid", "phpsessid", "jsessionid", "sonarlogin", "sshpass", "rediscliauth"),
    ]
)
"""Names of secrets that only tell it as a whole."""

_HOLLOW = regex(
    r"(?i)(?:none|null|nil|true|false|undefined|changeme\w*|change-me|example\S*|your[-_]\S*|"
    r"my[-_]?(?:password|secret|token|key)|x{3,}|\*{3,}|\.{3,}|placeholder|\[?redacted\]?|"
    r"\$[\w({]\S*|%[sdv](?:\W\S*)?|%[({<]\S*|%\w+%|&\w+;?|@[\w./\-]+|[{<~]\S*|\.{0,2}/\S*|[a-z]+://\S*)"
)
_CODE = regex(r"[A-Za-z_]\w*(?:(?:\.|::|->)[A-Za-z_]\w*)+|[A-Za-z_\-.:]+")
_NUMBERED = regex(r"(?i)[a-z_\-.]*(?:pass|pw|secret|token|key|cred|auth)[a-z_\-.]*[0-9]?")
_EXAMPLE = regex(
    r"(?i)pass(?:word|wd)?|pwd|secret|token|user(?:name)?|test|\*+|x+|<.*|\$.*|\{.*|%[sdv](?:\W.*)?|%[({].*|%"
)
_UNLIKE_KEYS = regex(
    r"[0-9a-fA-F]{32,128}|[0-9a-fA-F]{8}-(?:[0-9a-fA-F]{4}-){3}[0-9a-fA-F]{12}"
    r"|(?i:sha\d{1,3}|md5|h1)[:\-].*"
)


@lru_cache(4096)
def key_words(name: str) -> tuple[str, ...]:
    """Return the words of a name in lower case, without counters and encoding words."""
    words = [word.lower() for word in _WORD.findall(name)]
    while words and words[-1].isdigit():
        words.pop()
    if len(words) > 1 and words[-1] in _CARRIERS:
        words.pop()
    return tuple(words)


@lru_cache(4096)
def is_key_like(name: str) -> bool:
    """Return whether a field or variable of this name holds a secret."""
    words = key_words(name)
    if not words:
        return False
    last = words[-1]
    if last in _KEY_WORDS or last.endswith(_KEY_ENDINGS) or name.endswith(("_PAT", "-pat", "_pat")):
        return True
    if "".join(words) in _WHOLE_NAMES:
        return True
    return last == "key" and len(words) > 1 and (words[-2] in _KINDS_OF_KEY or words[0] == "x")


def is_password(name: str) -> bool:
    """Return whether the name is that of a password, which people choose and which may be weak."""
    words = key_words(name)
    return bool(words) and words[-1].endswith(_PASSWORDS)


def is_weak_name(name: str) -> bool:
    """Return whether a name is also used for other data, so that only a random value is a
    secret.
    """
    words = key_words(name)
    if not words or "public" in words:
        return False
    return words[-1] in _WEAK_WORDS or (words[-1].endswith("s") and is_key_like(name.rstrip("sS")))


def is_hollow(value: str) -> bool:
    """Return whether a value is only a stand-in: a placeholder, a variable, a path."""
    if not _HOLLOW.fullmatch(value):
        return False
    # Base64 may begin like a path; a path's parts are shorter, or not random.
    longest = max(value.split("/"), key=len)
    return value[0] != "/" or not (len(longest) >= 16 and looks_random(longest.ljust(20, "/")))


def is_example(value: str) -> bool:
    """Return whether documentation uses this value as an example password."""
    return bool(_EXAMPLE.fullmatch(value)) or is_hollow(value)


def hides(name: str, value: str, *, quoted: bool) -> bool:
    """Return whether a value in a field of this name must be hidden."""
    if is_key_like(name):
        if is_password(name) and value.isdigit():
            return len(value) >= SHORTEST
        whole = "".join(key_words(name)) in _WHOLE_NAMES
        return looks_secret(value, quoted=quoted) or (whole and looks_random(value))
    if not is_weak_name(name) or _CODE.fullmatch(value):
        return False
    return looks_random(value) or is_login(value)


def looks_secret(value: str, *, quoted: bool) -> bool:
    """Return whether a value in the position of a secret is more than a word or code."""
    if len(value) < SHORTEST or is_hollow(value):
        return False
    has_digit = any(map(str.isdigit, value))
    if any(map(str.isspace, value)):
        # A sentence about passwords has words; a passphrase of words alone cannot be distinguished
        # from it.
        signs = any(not ch.isalnum() and ch not in " .,:;!?'\"()-_/" for ch in value)
        return quoted and has_digit and signs and len(value) < 80 and value.count(" ") < 6
    if _CODE.fullmatch(value):
        long = quoted and len(value) >= 20 and entropy(value) >= 4
        return value.isalpha() and (
            long or (len(value) >= 10 and (alternates(value) or is_unspoken(value)))
        )
    if not quoted and _NUMBERED.fullmatch(value):
        return False
    has_letter = any(map(str.isalpha, value))
    has_sign = any(not ch.isalnum() and ch not in "-_." for ch in value)
    mixed = has_letter and (has_digit or has_sign or value != value.lower() != value.upper())
    return mixed and entropy(value) >= 2.2


def alternates(value: str) -> bool:
    """Return whether kinds of characters alternate as in no name made of words."""
    return len(_SAME_KIND.findall(value)) >= 0.4 * len(value)


def is_unspoken(value: str) -> bool:
    """Return whether letters follow each other as in no name made of words."""
    pairs = list(pairwise(value))
    rare = sum((first + second).lower() in _RARE_PAIRS for first, second in pairs)
    begun = sum(first.islower() and second.isupper() for first, second in pairs)
    return 11 * rare + 5 * begun >= 2 * len(pairs)


_RARE_PAIRS = frozenset(
    row[0] + second
    for row in (
        *("aehjoqz", "bdfghkmnpqtvwxz", "cjqwxz", "dhjkqwxyz", "ejz", "fbghjkqvwxyz"),
        *("gbdfjkqvwxyz", "hbcfghjknpqvwxz", "ihijkquwy", "jabcdfghijklmnpqrstvwxyz"),
        *("kbcdfghjkmnopqruvwxyz", "lhjqrvwxz", "mfghjknqrvwxyz", "nhjqwxz", "ohjqyz"),
        *("pbgjknqvwxz", "qabcdefghijklmnopqrstvwxyz", "rhjqwxz", "sjxz", "tjkqz"),
        *("uhjkquvwxyz", "vbcdfghjklmnpqrstuvwxyz", "wbcdfgjklmpqtuvwxyz"),
        *("xbdfghjklmnoqrsuvwxyz", "ybcdfghijkoqruvwxyz", "zbcdfghjklmnopqrstuvwxyz"),
    )
    for second in row[1:]
)
"""A first letter with those that hardly follow it in 29,000 words of programs and their manuals."""
_SAME_KIND = regex(r"[a-z]+|[A-Z]+|[0-9]+")


def looks_random(value: str) -> bool:
    """Return whether a value is random enough for a key, and is not a hash or id."""
    if not 20 <= len(value) <= 4096 or is_hollow(value) or any(map(str.isspace, value)):
        return False
    kinds = (any(map(test, value)) for test in (str.isdigit, str.isupper, str.islower))
    return all(kinds) and entropy(value) >= 3.5 and not _UNLIKE_KEYS.fullmatch(value)


def is_login(value: str) -> bool:
    """Return whether a value is a name and a password in base64, as in Docker and npm files."""
    if len(value) < 8 or len(value) % 4:
        return False
    try:
        decoded = base64.b64decode(value, validate=True).decode("ascii")
    except (binascii.Error, UnicodeDecodeError):
        return False
    name, colon, secret = decoded.partition(":")
    return bool(name and colon and secret) and decoded.isprintable()


def entropy(value: str) -> float:
    """Return the entropy in bits per character."""
    size = len(value)
    return -sum(n / size * math.log2(n / size) for n in Counter(value).values())
