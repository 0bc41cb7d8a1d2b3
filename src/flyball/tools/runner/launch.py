"""Starting something of the project's: in its sandbox, with its installed tools in reach."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

import msgspec

from flyball.tools.call.protocol import CallContext
from flyball.tools.runner.provision import provide
from flyball.tools.runner.start_env import Setting, environment, readable
from flyball.workspace.process.process import CommandLimits, Finished, run
from flyball.workspace.redaction import Redactor
from flyball.workspace.sandbox.confinement import Sandbox


class Ground(NamedTuple):
    """The tree something runs on, and under what limits."""

    root: Path
    project: Path
    cache: Path
    sandbox: Sandbox
    env: Mapping[str, str]
    limits: CommandLimits
    tree: str
    redactor: Redactor
    log: Path | None = None
    on_output: Callable[[str], None] | None = None


def ground_of(context: CallContext, limits: CommandLimits) -> Ground:
    """The ground of a call."""
    return Ground(
        root=context.root.path,
        project=context.workspace.project,
        cache=context.workspace.directory / "cache",
        sandbox=context.sandbox,
        env=context.env,
        limits=limits,
        tree=context.tree,
        redactor=context.redactor,
        log=context.log,
        on_output=context.on_output,
    )


@contextmanager
def set_up(ground: Ground, at: str = ".") -> Generator[Setting]:
    """A setting with a shelf of its own, and what is installed linked into the tree."""
    provide(ground.root, ground.project, at)
    ground.cache.mkdir(parents=True, exist_ok=True)
    shelf = Path(os.path.realpath(tempfile.mkdtemp(prefix="flyball-shelf-")))
    try:
        yield Setting(
            ground.root,
            ground.project,
            ground.env,
            shelf,
            ground.cache,
            at,
            ground.sandbox.network,
        )
    finally:
        shutil.rmtree(shelf, ignore_errors=True)


async def launch(
    command: str | Sequence[str],
    ground: Ground,
    setting: Setting,
    more: Mapping[str, str] | None = None,
) -> Finished:
    """Run a command of the project's to its end; its whole output is logged."""
    sandbox = ground.sandbox
    return await run(
        command,
        cwd=setting.place,
        env={**environment(setting), **(more or {})},
        sandbox=msgspec.structs.replace(
            sandbox,
            writable=(*sandbox.writable, setting.shelf, setting.cache),
            readable=(*sandbox.readable, *readable(setting)),
        ),
        limits=ground.limits,
        log=ground.log or setting.shelf / "log",
        on_output=ground.on_output,
        redactor=ground.redactor,
    )


def exit_code(finished: Finished) -> int:
    """The exit code, or the signal as a negative number."""
    if finished.exit_code is not None:
        return finished.exit_code or (1 if finished.over_limit else 0)
    return -(finished.signal or 1)
