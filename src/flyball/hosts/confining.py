"""Rewrite a host's command to run confined, so that the kernel enforces what its text cannot show.

Before the checkpoint a command that is not known to be read-only is not refused. It runs in the
sandbox that Flyball's own runs use, where its writes to the project have no effect.
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

from flyball.agents.event import HostEvent
from flyball.agents.tool import COMMAND_FIELDS
from flyball.errors import ToolError, ToolTimeout
from flyball.hosts.hook_files import settings_files
from flyball.hosts.install.targets import HostPlaces
from flyball.regex import regex
from flyball.shell import commands_in
from flyball.workspace.files.plain import read_plain
from flyball.workspace.process.spawn import run_sync

READ_ONLY, PROJECT = "read-only", "project"
"""How a command is confined: its writes to the project are discarded, or kept."""
REWRITABLE = frozenset({"Bash", "run_shell_command", "bash", "shell", "exec_command"})
"""Tools whose command is one text in bash, and whose host accepts a replacement for it."""
_TRIAL = (
    "import os, sys; from flyball.workspace.sandbox.confined import obstacle; "
    "sys.stdout.write(obstacle(os.environ))"
)
_TRIAL_SECONDS = 20.0
_GOES_FIRST = regex(r"""\s*cd\s+((?:[\w./~+@%-]|\\ )+|'[^'\n]*'|"[^"$`\\\n]*")\s*(?:&&|;)\s*""")
"""A leading `cd`, which stays outside: hosts run the next command from that directory."""


def confined(
    args: Mapping[str, object], how: str, secrets: Sequence[str] = ()
) -> dict[str, object]:
    """Return the arguments of a shell tool with the command run through `flyball confined`.

    `secrets` are the user's patterns of secret files, which are hidden from the command as well.
    """
    name = next(each for each in COMMAND_FIELDS if isinstance(args.get(each), str))
    return {**args, name: _confined_text(str(args[name]), how, secrets)}


def _confined_text(command: str, how: str, secrets: Sequence[str]) -> str:
    """Return a command that runs confined; a leading `cd` stays in the host's own shell."""
    first = _GOES_FIRST.match(command)
    way, rest = (first[0], command[first.end() :]) if first else ("", command)
    program = shlex.quote(str(Path(sys.executable).with_name("flyball")))
    hides = "".join(f" --hide={shlex.quote(each)}" for each in secrets)
    return f"{way}{program} confined --{how}{hides} -- bash -c {shlex.quote(rest)}"


@cache
def why_unconfined(project: Path) -> str:
    """Return why `flyball confined` cannot confine a command here, or an empty string.

    It makes one attempt: knowing the sandbox level is not enough, as `confined` needs namespaces of
    its own.
    """
    argv = (sys.executable, "-I", "-c", _TRIAL)
    env = {name: os.environ[name] for name in ("HOME", "PATH") if name in os.environ}
    try:
        answer = run_sync(argv, cwd=project, env=env, seconds=_TRIAL_SECONDS)
    except ToolTimeout:
        # A busy machine may still be able to; `confined` checks again for each command.
        return ""
    except ToolError as error:
        return error.message
    if answer.exit_code:
        return "the trial of a command failed"
    return answer.stdout.decode("utf-8", "replace")


def can_rewrite(event: HostEvent) -> bool:
    """Return whether the host accepts a replacement for this call's command."""
    texts = [event.args[name] for name in COMMAND_FIELDS if name in event.args]
    return event.tool in REWRITABLE and len(texts) == 1 and isinstance(texts[0], str)


class PersonRules:
    """A person's own rules about shell commands in Claude Code.

    They apply to the command as the model wrote it, so they are checked before it is rewritten.
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
        """Return the rule of a kind that matches a command, or any command in it."""
        patterns = [(each, _pattern(each)) for each in self._rules[kind]]
        texts = [*_texts_of(command)] if patterns else []
        for rule, pattern in patterns:
            if pattern and any(fnmatchcase(each, pattern) for each in texts):
                return rule
        return ""


def _texts_of(command: str) -> Iterator[str]:
    yield command.strip()
    yield from (" ".join(words) for words in commands_in(command, root="/"))
    yield from (part.strip() for part in re.split(r"&&|\|\||[;|\n]", command))


def _pattern(rule: str) -> str:
    """Return a rule like `Bash(curl:*)` as a pattern for the whole command."""
    name, _, inner = rule.removesuffix(")").partition("(")
    if name != "Bash":
        return ""
    if not inner or inner == "*":
        return "*"
    return f"{inner.removesuffix(':*')}*" if inner.endswith(":*") else inner
