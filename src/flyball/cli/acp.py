"""`flyball acp`: serve as an agent in an editor over the Agent Client Protocol."""

from __future__ import annotations

import os
import stat
from typing import TYPE_CHECKING

import click

from flyball.cli.run import DRIVER, MODEL
from flyball.errors import MissingExtra, UsageError

if TYPE_CHECKING:
    from flyball.acp.update import Words


@click.command()
@DRIVER
@MODEL
@click.option("--in-place", is_flag=True, help="Work in your checkout, not in a worktree.")
def acp(driver: str, model: str, in_place: bool) -> None:
    """Run as an editor agent (ACP): each prompt is a governed run in the editor's project.

    Editors start it and use its standard input and output. See the guide on editors.
    """
    import asyncio

    from flyball.app.driving import RunRequest
    from flyball.cli.terminal.driving import driver_of
    from flyball.cli.terminal.view import user

    try:
        from flyball.acp.agent import EditorAgent, serve
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] == "flyball":
            raise
        raise MissingExtra("`flyball acp`", str(error.name), "acp") from None
    require_editor((0, 1))
    options = RunRequest(request="", driver=driver_of(driver, model), in_place=in_place)
    asyncio.run(serve(EditorAgent(options, os.environ, user(), in_words)))


def require_editor(ends: tuple[int, ...]) -> None:
    """Raise if standard input or output is a file, which cannot connect to an editor."""
    if any(stat.S_ISREG(os.fstat(end).st_mode) for end in ends):
        raise UsageError(
            "`flyball acp` talks to an editor, but was connected to a file instead.",
            "Let the editor start it; the guide on editors has the lines for its settings.",
        )


def in_words() -> Words:
    """Return the function that describes one run in the terminal's words."""
    from flyball.cli.terminal.story import Story

    story = Story()
    return lambda line: (f"{said.mark} {said.text}".strip() for said in story.tell(line))
