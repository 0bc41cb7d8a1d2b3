"""`flyball mcp`: serve steps to other agents over MCP."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

import click

from flyball.cli.card import REPO
from flyball.cli.terminal.edge import say
from flyball.errors import MissingExtra

if TYPE_CHECKING:
    from flyball.hosts.steps.client import StepClient
    from flyball.mcp.server import StepServer


@click.command()
@click.option("--http", is_flag=True, help="Serve over HTTP instead of standard input.")
@click.option(
    "--host",
    default="127.0.0.1",
    show_default=True,
    metavar="ADDRESS",
    help="The address, with --http.",
)
@click.option(
    "--port",
    default=0,
    show_default=True,
    type=click.IntRange(0, 65535),
    metavar="N",
    help="The port, with --http; 0: any that is free.",
)
@click.option(
    "--token",
    envvar="FLYBALL_MCP_TOKEN",
    default="",
    metavar="T",
    help="The token that clients need, with --http; generated and printed if omitted.",
)
@REPO
def mcp(http: bool, host: str, port: int, token: str, repo: Path) -> None:
    """Run the MCP server: start_run, next_step, checkpoint, submit_evidence and more.

    It uses standard input and output, or with --http an address. See the MCP guide.
    """
    import asyncio

    from flyball.hosts.steps.client import client_above, clients_by_address

    server = _server(repo, clients_by_address(os.environ) if http else client_above())
    if not http:
        asyncio.run(server.run_stdio_async())
        return
    import secrets

    from flyball.mcp.server import serve

    secret = token or secrets.token_urlsafe(24)

    def tell(address: str) -> None:
        say(address)
        if not token:
            say(f"token: {secret}", err=True)

    asyncio.run(serve(server, host, port, secret, tell))


def _server(repo: Path, client: StepClient) -> StepServer:
    from flyball.app.project import open_home
    from flyball.hosts.steps.steps import Steps

    try:
        from flyball.mcp.server import make_server
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] == "flyball":
            raise
        raise MissingExtra("`flyball mcp`", str(error.name), "mcp") from None
    return make_server(Steps(open_home(repo, os.environ, {}), client))
