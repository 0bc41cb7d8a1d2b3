"""A user's home and project, with names that have spaces, and what init puts there."""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path

from flyball.app.project import Home, open_home
from flyball.hosts.install.needs import trust_entries
from flyball.hosts.install.plan import carry_out, plan_install
from flyball.hosts.install.targets import HostPlaces, InstallScope, InstallTarget, find_target

HOOK = os.fspath(Path(sys.executable).with_name("flyball-hook"))


class OwnMachine:
    """Somebody's machine; `places` is where hosts read on it."""

    def __init__(self, base: Path) -> None:
        self.home = base / "my home"
        self.repo = base / "my project"
        (self.repo / ".git").mkdir(parents=True)
        self.home.mkdir()
        # Nothing of the machine that the tests run on: no host, and no settings for all.
        self.environ = {"HOME": str(self.home), "PATH": "/usr/bin:/bin"}
        self.places = HostPlaces(self.environ, self.repo, base)

    @property
    def project(self) -> Home:
        return open_home(self.repo, self.environ, {})

    def target(self, host: str, scope: str = "user") -> InstallTarget:
        return find_target(host, InstallScope(scope), self.places)

    def install(self, host: str, scope: str = "user", executable: str = HOOK) -> Path:
        """What `flyball init` does; the file comes back."""
        target = self.target(host, scope)
        carry_out(plan_install(target, executable, self.environ))
        return target.path

    def trust(self) -> None:
        """What a person does with `/hooks` in Codex."""
        target = self.target("codex")
        lines: list[str] = []
        for names, digest in trust_entries(target, HOOK, target.path.read_text()):
            lines += [f"[hooks.state.{json.dumps(names[0])}]", f'trusted_hash = "{digest}"']
        target.path.with_name("config.toml").write_text("\n".join(lines))

    def program(self, name: str, text: str) -> str:
        """An executable that stands for a host."""
        path = self.home.parent / "some where" / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(f"#!/bin/sh\n{text}\n")
        path.chmod(0o755)
        return str(path)
