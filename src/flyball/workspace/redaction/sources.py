"""Find secret values on this machine: in the environment, and in a project's secret files."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from urllib.parse import unquote

from flyball.regex import regex
from flyball.workspace.files.path_rules import holds_secrets
from flyball.workspace.files.plain import read_plain
from flyball.workspace.redaction.contexts import address_spans
from flyball.workspace.redaction.judge import SHORTEST, is_hollow, is_key_like, looks_secret

_LONGEST_ENV = 1 << 18
_ASSIGNED = regex(r"""\s*(?:export\s+)?["']?([A-Za-z_][\w.\-]*)["']?\s*[=:]\s*(.*?)\s*,?\s*""")


def secrets_in(environment: Mapping[str, str]) -> tuple[str, ...]:
    """Return the values of variables with key-like names, and of headers for trace collectors."""
    keys = [value for name, value in environment.items() if is_key_like(name)]
    headers = [value for name, value in environment.items() if name.endswith("_OTLP_HEADERS")]
    keys += [key for value in headers for key in _header_keys(value)]
    return tuple(key for key in keys if len(key) >= SHORTEST and not is_hollow(key))


def _header_keys(headers: str) -> Iterator[str]:
    """Yield the last words of `name=value,name=value`: anything before them is a scheme."""
    for header in headers.split(","):
        words = unquote(header.partition("=")[2]).split()
        yield from words[-1:]


def secrets_of_project(top: Path) -> tuple[str, ...]:
    """Return the values assigned in the secret files at the top of a project."""
    found: list[str] = []
    with suppress(OSError):
        names = sorted(each.name for each in top.iterdir())
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
    yield from (value[first:last] for first, last in address_spans(value, 0, len(value)))
    is_secret = is_key_like(name) or looks_secret(value, quoted=True)
    if is_secret and len(value) >= SHORTEST and not is_hollow(value):
        yield value
