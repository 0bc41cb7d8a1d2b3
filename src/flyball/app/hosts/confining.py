"""A host's command, rewritten so that it runs confined: what its text cannot show the kernel holds.

Before the checkpoint a command that is not known to be plain reading is not refused. It runs under
the sandbox that Flyball's own runs use, with the project read-only to it in effect.
"""

from __future__ import annotations

import json
import os
import re
import shlex
import sys
from collections.abc import Iterator, Mapping, Sequence
from fnmatch import fnmatchcase
from functools import cache
from pathlib import Path
from typing import Any, cast

from flyball.app.hosts.hook_files import settings_files
from flyball.app.installing.targets import HostPlaces
from flyball.core.host.event import HostEvent
from flyball.core.host.tool import COMMAND_FIELDS
from flyball.errors import ToolError, ToolTimeout
from flyball.regex import regex
from flyball.shellcheck import commands_in
from flyball.workspace.files.plain import read_plain
from flyball.workspace.process.spawn import run_sync

READ_ONLY, PROJECT = "read-only", "project"
"""How a command is confined: nothing that it writes to the project is kept, or all of it."""
REWRITABLE = frozenset({"Bash", "run_shell_command", "bash", "shell", "exec_command"})
"""Tools whose command is one text that bash understands, and whose host takes another for it."""
_TRIAL = (
    "import os, sys; from flyball.workspace.sandbox.confined import obstacle; "
    "sys.stdout.write(obstacle(os.environ))"
)
_TRIAL_SECONDS = 20.0
_GOES_FIRST = regex(r"""\s*cd\s+((?:[\w./~+@%-]|\\ )+|'[^'\n]*'|"[^"$`\\\n]*")\s*(?:&&|;)\s*""")
"""The way into a folder: hosts go on from there with their next command, so it stays outside."""


def confined(
    args: Mapping[str, object], how: str, secrets: Sequence[str] = ()
) -> dict[str, object]:
    """Return the arguments of a shell tool with the command behind `flyball confined`.

    `secrets` are the user's patterns of files that hold some: they are hidden from it, too.
    """
    name = next(each for each in COMMAND_FIELDS if isinstance(args.get(each), str))
    return {**args, name: _confined_text(str(args[name]), how, secrets)}


def _confined_text(command: str, how: str, secrets: Sequence[str]) -> str:
    """Return a command that runs confined; a `cd` at its front stays in the host's own shell."""
    first = _GOES_FIRST.match(command)
    way, rest = (first[0], command[first.end() :]) if first else ("", command)
    program = shlex.quote(str(Path(sys.executable).with_name("flyball")))
    hides = "".join(f" --hide={shlex.quote(each)}" for each in secrets)
    return f"{way}{program} confined --{how}{hides} -- bash -c {shlex.quote(rest)}"


@cache
def why_unconfined(project: Path) -> str:
    """Return why `flyball confined` could not confine a command here, or nothing; it tries once.

    A level is not enough to go by: `confined` needs namespaces of its own making.
    """
    argv = (sys.executable, "-I", "-c", _TRIAL)
    env = {name: os.environ[name] for name in ("HOME", "PATH") if name in os.environ}
    try:
        answer = run_sync(argv, cwd=project, env=env, seconds=_TRIAL_SECONDS)
    except ToolTimeout:
        # A busy machine is not one that cannot; `confined` finds out again for each command.
        return ""
    except ToolError as error:
        return error.message
    if answer.exit_code:
        return "the trial of a command failed"
    return answer.stdout.decode("utf-8", "replace")


def can_rewrite(event: HostEvent) -> bool:
    """Return whether the host takes another command in the place of this call's."""
    texts = [event.args[name] for name in COMMAND_FIELDS if name in event.args]
    return event.tool in REWRITABLE and len(texts) == 1 and isinstance(texts[0], str)


class PersonRules:
    """The rules about shell commands that a person settled in Claude Code.

    They speak of the command as the model wrote it, so they are held before it is rewritten.
    """

    def __init__(self, event: HostEvent, places: HostPlaces) -> None:
        self._rules: dict[str, list[str]] = {"deny": [], "ask": []}
        if event.host == "claude":
            for file in settings_files("claude", places):
                self._read(read_plain(file) or b"")

    def _read(self, data: bytes) -> None:
        try:
            found = json.loads(data or b"{}")
            permissions = cast("dict[str, Any]", found).get("permissions", {})
            for kind, rules in self._rules.items():
                rules += [each for each in permissions.get(kind, []) if isinstance(each, str)]
        except (ValueError, AttributeError, TypeError):
            # A host that cannot read its settings has no rules from them either.
            return

    def rule_for(self, kind: str, command: str) -> str:
        """Return the rule of a kind that meets a command, or any command in it."""
        patterns = [(each, _pattern(each)) for each in self._rules[kind]]
        said = [*_said(command)] if patterns else []
        for rule, pattern in patterns:
            if pattern and any(fnmatchcase(each, pattern) for each in said):
                return rule
        return ""


def _said(command: str) -> Iterator[str]:
    yield command.strip()
    yield from (" ".join(words) for words in commands_in(command, root="/"))
    yield from (part.strip() for part in re.split(r"&&|\|\||[;|\n]", command))


def _pattern(rule: str) -> str:
    """Return what a rule like `Bash(curl:*)` says of commands, as a pattern for the whole text."""
    name, _, inner = rule.removesuffix(")").partition("(")
    if name != "Bash":
        return ""
    if not inner or inner == "*":
        return "*"
    return f"{inner.removesuffix(':*')}*" if inner.endswith(":*") else inner
