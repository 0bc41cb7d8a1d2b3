"""Write our hooks at the end of a TOML file, between two marker lines."""

from __future__ import annotations

import json
import re
import tomllib
from typing import Any

from flyball.errors import BrokenSettings, Conflict
from flyball.hosts.install.json_hooks import Hooks, InsertedText, Merged
from flyball.regex import regex

BEGIN = "# >>> flyball: put here by `flyball init`, taken out by `flyball init --remove` >>>"
END = "# <<< flyball <<<"
_BLOCK = regex(rf"^{re.escape(BEGIN)}\r?\n.*?^{re.escape(END)}(?:\r?\n|\Z)", re.M | re.S)
_PLACE = regex(r" \(at (?:line (\d+), column (\d+)|end of document)\)$")


def rendered(hooks: Hooks, newline: str) -> str:
    """Return the block itself. JSON strings are valid TOML strings."""
    lines = [BEGIN]
    for event, group in hooks.items():
        lines += [f"[[hooks.{event}]]"]
        for handler in group["hooks"]:
            lines += [f"[[hooks.{event}.hooks]]"]
            lines += [f"{key} = {json.dumps(value)}" for key, value in handler.items()]
    return newline.join([*lines, END, ""])


def read_block(text: str) -> dict[str, Any]:
    """Return the contents of our block; empty if it is missing or cannot be parsed."""
    found = _BLOCK.search(text)
    try:
        return tomllib.loads(found[0]) if found else {}
    except tomllib.TOMLDecodeError:
        return {}


def is_installed(text: str, hooks: Hooks) -> bool:
    """Return whether our one block contains exactly these hooks."""
    found = _BLOCK.findall(text)
    return found == [rendered(hooks, _newline(text))]


def put_in(text: str, path: str, hooks: Hooks) -> Merged:
    """Append the block; refuse if the file is or would become invalid."""
    _parse(text, path)
    newline = _newline(text)
    lead = "" if not text else newline if text.endswith("\n") else newline * 2
    merged = text + lead + rendered(hooks, newline)
    try:
        tomllib.loads(merged)
    except tomllib.TOMLDecodeError as error:
        raise Conflict(
            f"{path} defines hooks in a form that nothing can be added to: {error}.",
            "Write them as [[hooks.EVENT]] tables first.",
        ) from None
    return Merged(merged, (InsertedText(("block",), lead),))


def take_out(text: str, path: str, put: tuple[InsertedText, ...] | None) -> str:
    """Remove the block, and the whitespace added before it."""
    found = _BLOCK.search(text)
    if found is None:
        return text
    before = text[: found.start()]
    lead = put[0].lead if put else _newline(text)
    before = before[: len(before) - len(lead)] if before.endswith(lead) else before
    rest = before + text[found.end() :]
    _parse(rest, path)
    return take_out(rest, path, put)


def _newline(text: str) -> str:
    first = re.search(r"\r?\n", text)
    return first[0] if first else "\n"


def _parse(text: str, path: str) -> None:
    try:
        tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        where = _PLACE.search(str(error))
        lines = text.splitlines() or [""]
        known = f"{where[1]}:{where[2]}" if where and where[1] else ""
        what = _PLACE.sub("", str(error))
        raise BrokenSettings(path, known or f"{len(lines)}:{len(lines[-1]) + 1}", what) from None
