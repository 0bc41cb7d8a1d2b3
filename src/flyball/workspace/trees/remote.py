"""A remote repository that stores a run, so that another machine can continue it.

The calls use a git directory of ours with our configuration; the means to reach the remote (keys,
helpers, proxies) are this machine's own and are never stored.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from flyball.workspace.errors import GitFailed
from flyball.workspace.process.spawn import OwnOutput, run_sync
from flyball.workspace.trees.git import SWITCHES, Git, without_credentials

_CONNECTING = ("core.sshCommand=", "core.askPass=", "credential.helper=", "protocol.allow=")
_OURS = ("GIT_SSH", "GIT_ASKPASS", "GIT_SSL", "GIT_CONFIG", "GIT_PROXY", "GIT_HTTP")
_PROTOCOLS = "file:git:http:https:ssh"
_SECONDS = 600.0
REFS = "refs/flyball/"


class RefMove(NamedTuple):
    """A reference, its expected value and its new one; an empty value means no reference."""

    ref: str
    old: str
    new: str


class Remote:
    """A remote repository, accessed from a git directory of ours."""

    def __init__(self, git: Git, address: str, environ: Mapping[str, str]) -> None:
        self._git = git
        self.address = address
        own = {
            key: value
            for key, value in environ.items()
            if not key.startswith("GIT_") or key.startswith(_OURS)
        }
        self._env = {
            "GIT_SSH_COMMAND": "ssh -oBatchMode=yes",
            **own,
            "GIT_DIR": os.fspath(git.directory),
            "GIT_TERMINAL_PROMPT": "0",
            "GIT_ALLOW_PROTOCOL": _PROTOCOLS,
            "GIT_NO_REPLACE_OBJECTS": "1",
            "LC_ALL": "C",
        }

    def refs(self, below: str) -> dict[str, str]:
        """Return the references below a name, with their values."""
        listed = self._call("ls-remote", "--refs", "--", self.address, f"{below}*")
        lines = (line.split("\t") for line in listed.stdout.decode().splitlines())
        return {ref: value for value, ref in lines}

    def fetch(self, ref: str, into: str) -> None:
        """Fetch a reference with all its objects, under a local name."""
        options = ("--quiet", "--no-tags", "--no-write-fetch-head", "--no-recurse-submodules")
        self._call("fetch", *options, "--", self.address, f"+{ref}:{into}")

    def push(self, moves: Sequence[RefMove], also: Mapping[str, str] | None = None) -> bool:
        """Update references atomically; return False if one did not have its expected value.

        `also` are references that are set unconditionally, in the same transaction.
        """
        leases = [f"--force-with-lease={each.ref}:{each.old}" for each in moves]
        specs = [f"{each.new}:{each.ref}" for each in moves]
        specs += [f"+{value}:{ref}" for ref, value in (also or {}).items()]
        args = ("push", "--quiet", "--atomic", "--no-verify", *leases)
        done = self._call(*args, "--", self.address, *specs, ok=(0, 1))
        if not done.exit_code:
            return True
        message = done.stderr.decode(errors="replace")
        if "rejected" in message or "stale info" in message or "cannot lock ref" in message:
            return False
        raise self._failure("push", message)

    def _call(self, *args: str, ok: Sequence[int] = (0,)) -> OwnOutput:
        switches = [each for each in SWITCHES if not each.startswith(_CONNECTING)]
        settings = [part for switch in switches for part in ("-c", switch)]
        done = run_sync(
            (self._git.program, *settings, *args),
            cwd=Path(self._git.directory),
            env=self._env,
            seconds=_SECONDS,
        )
        if done.exit_code not in ok:
            raise self._failure(args[0], done.stderr.decode(errors="replace"))
        return done

    def _failure(self, verb: str, message: str) -> GitFailed:
        lines = [line for line in message.strip().splitlines() if line.strip()]
        why = without_credentials(lines[0] if lines else "no reason given")
        return GitFailed(
            f"git {verb} with {without_credentials(self.address)} failed: {why}",
            "Check that this machine may read and write there without being asked for a password.",
        )
