"""What can be read of runs: their lists, their cards, the accounts and the diffs of these."""

from __future__ import annotations

import json
from typing import Any

from mcp.server import MCPServer
from mcp.server.mcpserver.exceptions import ResourceError, ResourceNotFoundError

from flyball.app.project import Home, redactor_of
from flyball.app.runs.description import describe
from flyball.app.runs.files import diff_of
from flyball.app.runs.overview import overviews
from flyball.app.steps.steps import Steps
from flyball.errors import FlyballError, NotFound
from flyball.surfaces.mcp.tool import StepContext, steps_of
from flyball.workspace.cards.artifacts import artifact_path
from flyball.workspace.files.plain import read_within

JSON = "application/json"
MARKDOWN = "text/markdown"


async def run(run: str, ctx: StepContext) -> str:
    """Everything that is known of a run."""
    return json.dumps(await _described(run, ctx), default=str)


async def diff(run: str, ctx: StepContext) -> str:
    """What a run has changed so far."""
    steps = steps_of(ctx)
    try:
        return await diff_of(steps.home, await steps.find(run))
    except FlyballError as error:
        raise _in_their_words(error) from error


async def card(run: str, card: str, ctx: StepContext) -> str:
    """A card: its phase, evidence, verdicts, decisions."""
    for each in (await _described(run, ctx))["cards"]:
        if each["id"] == card:
            return json.dumps(each, default=str)
    raise ResourceNotFoundError(f"error[{NotFound.code}]: There is no card {card!r} in run {run}.")


async def account(run: str, card: str, ctx: StepContext) -> str:
    """The account of a card that is done: diff, commands, verdicts, on one page."""
    home = steps_of(ctx).home
    try:
        name = await steps_of(ctx).find(run)
        path = artifact_path(home.repo, name, card, ".md").relative_to(home.repo)
        data = read_within(home.repo, path.as_posix())
        if data is not None:
            return redactor_of(home).text(data.decode("utf-8", "replace"))
    except FlyballError as error:
        raise _in_their_words(error) from error
    else:
        said = f"error[{NotFound.code}]: Card {card!r} of run {run} has no account yet."
        raise ResourceNotFoundError(said)


async def _described(name: str, ctx: StepContext) -> dict[str, Any]:
    steps = steps_of(ctx)
    try:
        return await describe(steps.home, await steps.find(name))
    except FlyballError as error:
        raise _in_their_words(error) from error


def _in_their_words(error: FlyballError) -> ResourceError:
    kind = ResourceNotFoundError if isinstance(error, NotFound) else ResourceError
    return kind(f"error[{error.code}]: {error}")


def add_to(server: MCPServer[Steps], home: Home) -> None:
    """Have a server offer all of them."""

    async def runs() -> str:
        """The runs of the project, the newest first."""
        return json.dumps([each._asdict() for each in await overviews(home)])

    server.resource("flyball://runs", mime_type=JSON)(runs)
    server.resource("flyball://runs/{run}", mime_type=JSON)(run)
    server.resource("flyball://runs/{run}/diff", mime_type="text/x-diff")(diff)
    server.resource("flyball://runs/{run}/cards/{card}", mime_type=JSON)(card)
    server.resource("flyball://runs/{run}/cards/{card}/account", mime_type=MARKDOWN)(account)
