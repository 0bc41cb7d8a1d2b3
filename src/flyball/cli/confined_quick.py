"""Run `flyball confined` quickly: agents start it for every command, so imports stay minimal."""

from __future__ import annotations

import os
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

USAGE = (
    "Usage: flyball confined --read-only|--project [--hide=PATTERN]... [--verbose] -- COMMAND...\n"
)
_HIDE = "--hide="
_ARGUMENTS_WRONG = 2


def confine(words: Sequence[str]) -> int:
    """Run the command after `--` with the options before it; return its exit code."""
    at = list(words).index("--")
    options, argv = words[:at], words[at + 1 :]
    more = [each.removeprefix(_HIDE) for each in options if each.startswith(_HIDE)]
    ways = [each for each in options if each != "--verbose" and not each.startswith(_HIDE)]
    if ways not in (["--read-only"], ["--project"]) or not argv:
        sys.stderr.write(USAGE)
        return _ARGUMENTS_WRONG
    from flyball.workspace.sandbox import confined

    scene = confined.Scene(argv, os.environ, read_only=ways == ["--read-only"], more=more)
    protected: Sequence[str] = ()
    if not scene.read_only:
        from flyball.workspace.files.protected import DEFAULT_PROTECTED

        protected = [name for name in DEFAULT_PROTECTED if name != "node_modules"]
    return confined.execute(scene, protected, tells="--verbose" in options)
