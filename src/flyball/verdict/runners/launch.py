"""Start one of the project's programs in its sandbox, with access to its installed tools."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TypeVar

import msgspec

from flyball.verdict.runners.provision import provide
from flyball.verdict.runners.start_context import StartContext
from flyball.verdict.runners.start_env import environment, readable, shares_builds
from flyball.workspace.cards.artifacts import hide_artifacts
from flyball.workspace.files.plain import remove_tree
from flyball.workspace.process.process import CommandLimits, Finished, run

Started = TypeVar("Started", bound=StartContext)


@contextmanager
def set_up(context: Started, at: str = ".") -> Generator[Started]:
    """Yield a context with its own report directory, and with links to installed packages."""
    provide(context.root.path, context.project, at)
    for place in context.kept:
        place.mkdir(mode=0o700, parents=True, exist_ok=True)
    shelf = Path(os.path.realpath(tempfile.mkdtemp(prefix="flyball-shelf-")))
    try:
        yield context.started(shelf, at)
    finally:
        remove_tree(shelf)
        remove_tree(context.started(shelf, at).layer)


async def launch(
    command: str | Sequence[str],
    context: StartContext,
    more: Mapping[str, str] | None = None,
    *,
    seconds: float | None = None,
    hear: Callable[[str], None] | None = None,
) -> Finished:
    """Run one of the project's commands in a prepared context and log its output; return its
    result."""
    sandbox = context.sandbox
    writable = (*sandbox.writable, context.shelf, *context.kept)
    layered: tuple[tuple[Path, Path], ...] = ()
    if shares_builds(context) and context.builds:
        writable = (*writable, context.built)
    elif shares_builds(context):
        layered = ((context.built, context.layer),)
    if context.is_logged:
        # Before the log is written: git must never see the directory that it lies in.
        hide_artifacts(context.project)
    return await run(
        command,
        cwd=context.workdir,
        env={**environment(context), **(more or {})},
        sandbox=msgspec.structs.replace(
            sandbox,
            writable=writable,
            layered=layered,
            readable=(*sandbox.readable, *readable(context)),
        ),
        limits=_limited(context.limits, seconds),
        log=context.log if context.is_logged else context.shelf / "log",
        on_output=_heard_by(context.shown, hear),
        redactor=context.redactor,
    )


def _limited(limits: CommandLimits, seconds: float | None) -> CommandLimits:
    return limits if seconds is None else msgspec.structs.replace(limits, seconds=seconds)


def _heard_by(*ears: Callable[[str], None] | None) -> Callable[[str], None] | None:
    """Return a function that passes output to all of these."""
    there = [ear for ear in ears if ear is not None]

    def hear(text: str) -> None:
        for ear in there:
            ear(text)

    return hear if there else None


def exit_code(finished: Finished) -> int:
    """Return the exit code, or the signal as a negative number."""
    if finished.exit_code is not None:
        return finished.exit_code or (1 if finished.over_limit else 0)
    return -(finished.signal or 1)
