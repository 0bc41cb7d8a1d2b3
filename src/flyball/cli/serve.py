"""`flyball serve`: serve the board to a browser."""

from __future__ import annotations

import json
from pathlib import Path

import click

from flyball.cli.card import DATABASE, REPO
from flyball.cli.terminal.edge import say

PORT = 4321


@click.command()
@click.option(
    "--host",
    default="127.0.0.1",
    show_default=True,
    metavar="ADDRESS",
    help="The address to listen on.",
)
@click.option(
    "--port",
    type=click.IntRange(0, 65_535),
    default=PORT,
    show_default=True,
    metavar="N",
    help="The port; 0 for any that is free.",
)
@click.option("--open", "opens", is_flag=True, help="Open the board in a browser.")
@click.option(
    "--token",
    default="",
    metavar="T",
    envvar="FLYBALL_SERVE_TOKEN",
    help="The token that browsers need; at least 16 characters.",
)
@REPO
@DATABASE
@click.option("--json", "as_json", is_flag=True, help="Print the address as one JSON object.")
def serve(host: str, port: int, opens: bool, token: str, repo: Path, as_json: bool) -> None:
    """Serve the board: every run live in a browser, with its questions to answer.

    It listens on this machine only, unless --host says otherwise; that requires a --token or
    people. Runs started on the board are driven by the server; if it stops, the next one continues
    them.
    """
    import os
    from contextlib import closing

    from flyball.app.people.team import open_people
    from flyball.app.project import open_home
    from flyball.errors import UsageError

    try:
        from flyball.web.server import listen
        from flyball.web.server import serve as answer
    except ModuleNotFoundError as error:
        hint = "Install it with `pip install 'flyball[web]'`."
        raise UsageError(f"The board needs {error.name}, which is not installed.", hint) from None
    if not repo.is_dir():
        raise UsageError(f"{repo} is not a directory.", "Give --repo a directory.")
    with closing(open_people(open_home(repo, os.environ, {}))) as people:
        has_people = bool(people.all())
    listening = listen(host, port, token, has_people=has_people)

    def ready() -> None:
        if as_json:
            say(json.dumps({"address": listening.address, "pid": _pid()}))
        else:
            say(f"The board is at {listening.address}")
            if has_people:
                say("Everybody opens it with their own token: /?token=… once, then a cookie.")
            say("Press Ctrl-C to stop; its runs continue with the next server.")
        if opens:
            click.launch(listening.address)

    answer(listening, repo, ready)


def _pid() -> int:
    import os

    return os.getpid()
