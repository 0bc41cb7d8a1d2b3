"""Starting something of the project's: in its sandbox, with its installed tools in reach."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Generator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path

import msgspec

from flyball.tools.call.protocol import CallContext
from flyball.tools.runner.provision import provide
from flyball.tools.runner.start_env import environment, readable
from flyball.workspace.cards.artifacts import hide_artifacts
from flyball.workspace.files.plain import remove_tree
from flyball.workspace.process.process import Finished, run


@contextmanager
def set_up(context: CallContext, at: str = ".") -> Generator[CallContext]:
    """The context with a shelf of its own, and what is installed linked into the tree."""
    provide(context.root.path, context.project, at)
    for place in context.kept:
        place.mkdir(mode=0o700, parents=True, exist_ok=True)
    shelf = Path(os.path.realpath(tempfile.mkdtemp(prefix="flyball-shelf-")))
    try:
        yield context._replace(shelf=shelf, at=at)
    finally:
        remove_tree(shelf)


async def launch(
    command: str | Sequence[str], context: CallContext, more: Mapping[str, str] | None = None
) -> Finished:
    """How a command of the project's ended, in a context that was set up; its output is logged."""
    sandbox = context.sandbox_in(context.root)
    if context.is_logged:
        # Before the log is written: git must never see the directory that it lies in.
        hide_artifacts(context.project)
    return await run(
        command,
        cwd=context.workdir,
        env={**environment(context), **(more or {})},
        sandbox=msgspec.structs.replace(
            sandbox,
            writable=(*sandbox.writable, context.shelf, *context.kept),
            readable=(*sandbox.readable, *readable(context)),
        ),
        limits=context.limits,
        log=context.log if context.is_logged else context.shelf / "log",
        on_output=context.on_output if context.is_shown else None,
        redactor=context.redactor,
    )


def exit_code(finished: Finished) -> int:
    """The exit code, or the signal as a negative number."""
    if finished.exit_code is not None:
        return finished.exit_code or (1 if finished.over_limit else 0)
    return -(finished.signal or 1)
