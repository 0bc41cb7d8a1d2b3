"""Let a scripted driver loose on a project through the real command line, and see what is said."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

from tests.governed import Line, Shell, call, say, script
from tests.repos import repository
from tests.toolchains import need

from flyball.app.liars.changes import BrokenProject, Files
from flyball.app.liars.trial import programs_of

PlaceOf = Callable[[BrokenProject], Path]
"""Where a project lies, the same place each time: what its first suite came to is known there."""


class GovernorMessage(NamedTuple):
    """What Flyball said of a run: its status, and everything that it printed."""

    status: str
    thinks: int
    lines: list[dict[str, Any]]
    output: str

    @property
    def final(self) -> dict[str, Any]:
        return next(line for line in reversed(self.lines) if line["type"] == "final")


def lines_of(
    project: BrokenProject,
    change: Files,
    args: tuple[str, ...] = (),
    says: str = "Repaired.",
    verify_with: str = "",
) -> list[Line]:
    """A driver that looks, promises, writes its change file by file, runs tests and stops."""
    first = next(iter(project.files))
    words: list[Line] = [
        call("read", path=first),
        call(
            "checkpoint",
            goal="The failing test passes.",
            findings="The total leaves the quantity out.",
            proposed_action="Repair the total.",
            files=sorted(change),
            verify_with=[verify_with or project.verify_with],
        ),
    ]
    for path, text in sorted(change.items()):
        if text is None:
            words.append(call("delete_file", path=path, confirm=True))
        else:
            words.append(call("write_file", path=path, content=text))
    words.append(call("test", args=list(args)) if args else call("test"))
    words.append(say(says))
    words.append({"role": "reviewer", "text": "It is as promised."})
    return words


def drive(
    place: Path,
    project: BrokenProject,
    lines: list[Line],
    request: str,
    *more: str,
    env: dict[str, str] | None = None,
    modules: Path | None = None,
) -> GovernorMessage:
    """Run `flyball run` with this script on a repository of the project, which is made if need be.

    `modules` are packages that are installed beside its `package.json`.
    """
    need(*programs_of(project.files))
    home, repo = place / "home", place / "shop"
    if not repo.exists():
        home.mkdir(parents=True)
        repository(repo, {**project.files})
        if modules is not None:
            top = next(Path(path).parent for path in project.files if path.endswith("package.json"))
            installed = repo / top / "node_modules"
            shutil.copytree(modules, installed, copy_function=os.link, symlinks=True)
    shell = Shell(repo, home, **(env or {}))
    driver = script(place / "script.jsonl", *lines)
    done = shell("run", "--json", "--driver", driver, "--intent", "small_fix", request, *more)
    found = [json.loads(line) for line in done.stdout.splitlines() if line.startswith("{")]
    final = next((line for line in reversed(found) if line["type"] == "final"), {})
    thinks = sum(line["type"] == "usage" for line in found)
    return GovernorMessage(
        str(final.get("status", f"exit {done.returncode}")),
        thinks,
        found,
        done.stdout + done.stderr,
    )
