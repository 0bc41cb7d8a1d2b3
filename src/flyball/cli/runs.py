"""`flyball runs`: list a project's runs and act on them."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from flyball.cli.card import DATABASE, JSON, REPO, RUN
from flyball.cli.run import DRIVER, MODEL
from flyball.cli.run import JSON as TELEMETRY
from flyball.cli.terminal.edge import pour, say

if TYPE_CHECKING:
    from flyball.app.project import Home

LONGEST = 200
"""Summaries are wrapped instead of cut, so that each stays complete."""

ELSEWHERE = {
    "fetch": "Fetch a run that a cluster drove into this clone.",
    "merge": "Merge a run's cards into your branch and checkout.",
    "replay": "Replay a run's cards in another directory.",
    "prune": "Delete old snapshots, or a whole run.",
}
"""Commands on a run's tree; their module is imported only to run them."""


class RunsGroup(click.Group):
    """The commands here, and those of `runs_tree`, imported on demand."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return [*super().list_commands(ctx), *ELSEWHERE]

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in ELSEWHERE:
            return super().get_command(ctx, cmd_name)
        from flyball.cli import runs_tree
        from flyball.cli.typed.group import with_examples

        return with_examples(getattr(runs_tree, cmd_name), f"runs {cmd_name}")

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:  # noqa: ARG002
        rows = [
            (name, command.get_short_help_str(LONGEST)) for name, command in self.commands.items()
        ]
        with formatter.section("Commands"):
            formatter.write_dl([*rows, *ELSEWHERE.items()])


@click.group("runs", cls=RunsGroup)
def runs() -> None:
    """List, show, follow, resume, cancel, export, merge runs.

    RUN is a run's name, its beginning or end, or `last`.
    """


@runs.command("list")
@REPO
@DATABASE
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object per run.")
def list_(repo: Path, as_json: bool) -> None:
    """List the runs of this project, newest first."""
    import asyncio

    from flyball.app.runs.overview import overviews
    from flyball.cli.terminal.show import print_list
    from flyball.cli.terminal.view import home_at

    found = asyncio.run(overviews(home_at(repo)))
    print_list(found, as_json=as_json)


@runs.command()
@RUN
@click.option(
    "--messages", is_flag=True, help="Show the messages to planner, executor and verifier."
)
@click.option("--threads", is_flag=True, help="Show the drivers' conversations.")
@click.option("--events", is_flag=True, help="Show the log, event by event.")
@click.option("--diff", is_flag=True, help="Show the whole diff.")
@click.option(
    "--cost", is_flag=True, help="Show turns, calls, tokens, cost and time by card and phase."
)
@click.option("--card", is_flag=True, help="Print the run's card as SVG, to paste elsewhere.")
@REPO
@DATABASE
@JSON
def show(run: str, repo: Path, as_json: bool, **asked: bool) -> None:
    """Show a run's cards, evidence, decisions and questions, and what to type next."""
    import asyncio

    from flyball.cli.terminal.show import show_run
    from flyball.cli.terminal.view import home_at

    asyncio.run(show_run(home_at(repo), run, asked, as_json=as_json))


@runs.command()
@RUN
@REPO
@DATABASE
@TELEMETRY
@click.pass_context
def follow(ctx: click.Context, run: str, repo: Path, as_json: bool) -> None:
    """Stream a run from its start until it pauses or ends."""
    import asyncio

    from flyball.cli.terminal.show import follow_run
    from flyball.cli.terminal.view import home_at

    ctx.exit(asyncio.run(follow_run(home_at(repo), run, as_json=as_json)))


@runs.command()
@RUN
@REPO
@DATABASE
@DRIVER
@MODEL
@TELEMETRY
@click.pass_context
def resume(
    ctx: click.Context, run: str, repo: Path, driver: str, model: str, as_json: bool
) -> None:
    """Continue a run that was paused, or whose process died."""
    import asyncio

    from flyball.app.runs.journals import find_run
    from flyball.cli.terminal.driving import drive, driver_of
    from flyball.cli.terminal.view import home_at, user

    home = home_at(repo)
    name = asyncio.run(find_run(home, run))
    spec = driver_of(driver, model)
    ctx.exit(drive(home, lambda it: it.resume(name, user(), spec), as_json=as_json))


@runs.command()
@RUN
@click.option("--why", default="", metavar="TEXT", help="The reason, for the record.")
@REPO
@DATABASE
@TELEMETRY
def cancel(run: str, why: str, repo: Path, as_json: bool) -> None:
    """Cancel a run; its work stays on its branch."""
    import asyncio

    from flyball.app.driving import RunControl, Watcher
    from flyball.app.runs.journals import find_run
    from flyball.cli.terminal.view import home_at, make_view, user
    from flyball.engine.telemetry import final

    home = home_at(repo)
    name = asyncio.run(find_run(home, run))
    view = make_view(as_json=as_json)
    control = RunControl(home, Watcher(view.telemetry, view.text, view.output))
    with view:
        result = asyncio.run(control.cancel(name, user(), why))
    if result.left_to and result.state.response is None:
        view.telemetry({"type": "left", "run": name, "to": result.left_to})
    elif result.left_to and result.state.response is not None:
        view.telemetry({**final(result.state, result.state.response), "seq": result.state.seq})


@runs.command()
@RUN
@click.option(
    "-o",
    "--output",
    metavar="FILE",
    type=click.Path(path_type=Path),
    help="Write to this file; default: standard output.",
)
@click.option(
    "--html",
    metavar="FILE",
    type=click.Path(path_type=Path),
    help="Write one self-contained HTML page instead.",
)
@click.option("--atif", is_flag=True, help="Write an ATIF trajectory instead.")
@click.option("--otel", is_flag=True, help="Write an OpenTelemetry trace instead.")
@click.option("--agent-trace", is_flag=True, help="Write the authors of the lines instead.")
@REPO
@DATABASE
def export(
    run: str,
    output: Path | None,
    html: Path | None,
    atif: bool,
    otel: bool,
    agent_trace: bool,
    repo: Path,
) -> None:
    """Export a run: its log as JSON lines, a trajectory, a trace, or an HTML page."""
    import asyncio

    from flyball.app.archive import export_lines, export_spans, export_trajectory
    from flyball.app.runs.agent_trace import agent_trace as lines_by_author
    from flyball.app.runs.journals import find_run, record_of
    from flyball.cli.terminal.view import home_at

    home = home_at(repo)
    name = asyncio.run(find_run(home, run))
    if html is not None:
        _write(html, _page(home, name))
        return
    record = asyncio.run(record_of(home, name))
    if atif:
        data = export_trajectory(record.entries)
    elif otel:
        data = export_spans(record.entries)
    elif agent_trace:
        data = lines_by_author(home, name, record.entries)
    else:
        data = b"".join(line + b"\n" for line in export_lines(name, record.entries))
    if output is None:
        pour(data)
        return
    _write(output, data)


def _page(home: Home, run: str) -> bytes:
    from flyball.errors import UsageError

    try:
        from flyball.web.export import export_page
    except ModuleNotFoundError as error:
        hint = "Install it with `pip install 'flyball[web]'`."
        raise UsageError(f"A page needs {error.name}, which is not installed.", hint) from None
    return export_page(home, run).encode()


def _write(file: Path, data: bytes) -> None:
    from flyball.errors import UsageError

    try:
        file.write_bytes(data)
    except OSError as error:
        raise UsageError(f"{file} cannot be written: {error.strerror}.") from None


@runs.command("import")
@click.argument("file", type=click.Path(path_type=Path))
@REPO
@DATABASE
@JSON
def import_(file: Path, repo: Path, as_json: bool) -> None:
    """Import an exported run or an SWE-agent recording into this project.

    An imported run can be shown, judged and compared, but not continued.
    """
    import asyncio
    import json

    from flyball.app.archive import import_run
    from flyball.cli.terminal.show import read_file
    from flyball.cli.terminal.view import home_at

    state = asyncio.run(import_run(home_at(repo), read_file(file)))
    if as_json:
        say(json.dumps({"run": state.run, "events": state.seq}))
    else:
        say(f"Imported run {state.run}: {state.seq} events.")
