"""`flyball run`: start a governed run for a request; its result is a branch with proof."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from flyball.cli.card import DATABASE, HISTORY, REPO
from flyball.cli.typed.words import complete_file

if TYPE_CHECKING:
    from flyball.app.project import Home
    from flyball.app.starting import RunRequest
    from flyball.plan.flow import Flow

INTENTS = (
    "conversational",
    "status_check",
    "diagnose",
    "small_fix",
    "feature_build",
    "autonomous",
)

DRIVER = click.option(
    "--driver",
    default="",
    metavar="SPEC",
    help="What drives the run: repair, scripted:FILE, relay:DIR, relay:clipboard or "
    "model:PROVIDER:MODEL.",
)
MODEL = click.option("--model", default="", metavar="M", help="The model, as provider:model.")
JSON = click.option("--json", "as_json", is_flag=True, help="Print telemetry, one object per line.")


@click.command("run")
@click.argument("request", nargs=-1, metavar="REQUEST…")
@REPO
@DATABASE
@DRIVER
@MODEL
@click.option(
    "--intent",
    type=click.Choice(INTENTS),
    metavar="INTENT",
    help=f"The intent, instead of reading it from the request: {', '.join(INTENTS)}.",
)
@click.option(
    "--flow",
    "flow_file",
    metavar="FILE",
    shell_complete=complete_file,
    help="Follow the steps of a flow file.",
)
@click.option("--budget", type=click.IntRange(0), metavar="N", help="Maximum number of calls.")
@click.option(
    "--image",
    "images",
    multiple=True,
    metavar="FILE",
    type=click.Path(path_type=Path),
    help="An image for the request; may be repeated.",
)
@HISTORY
@click.option("--approve", is_flag=True, help="Wait for a person to accept each checkpoint.")
@click.option("--yes", is_flag=True, help="Auto-approve, except weakened tests.")
@click.option("--preview", is_flag=True, help="Show every edit and wait for a person to apply it.")
@click.option("--in-place", is_flag=True, help="Work in your checkout, not in a worktree.")
@click.option(
    "--budget-seconds",
    type=click.FloatRange(0, min_open=True),
    metavar="N",
    help="Seconds the built-in repairer may search.",
)
@click.option("--submit", is_flag=True, help="Queue it for the workers of --database.")
@click.option(
    "--priority", type=int, default=0, metavar="N", help="Priority in the queue; higher runs first."
)
@click.option("--target", default="", metavar="T", help="framework, or project/NAME (this one).")
@click.option(
    "--no-plan", is_flag=True, help="Do not plan; use one card however big the request is."
)
@click.option(
    "--max-iterations", type=click.IntRange(1), metavar="N", help="Maximum number of plans per run."
)
@JSON
@click.pass_context
def run(
    ctx: click.Context,
    request: tuple[str, ...],
    repo: Path,
    driver: str,
    model: str,
    intent: str | None,
    budget: int | None,
    images: tuple[Path, ...],
    history: str | None,
    as_json: bool,
    **options: Any,
) -> None:
    """Start a governed run for a request. REQUEST may be - to read stdin.

    Exit code: 0 succeeded or answered, 1 failed or stopped, 2 wrong usage, 3 waits for a person,
    4 unverified or nothing changed, 130 interrupted.
    """
    from flyball.app.starting import RunRequest
    from flyball.cli.intent import history_from
    from flyball.cli.terminal.driving import drive, driver_of
    from flyball.cli.terminal.view import home_at
    from flyball.drivers.image import load_images
    from flyball.terms.intent import Intent

    flow = _flow(options["flow_file"]) if options["flow_file"] else None
    wanted = RunRequest(
        request=flow.name if flow and not request else _words(request),
        intent=Intent(intent) if intent else None,
        flow=flow,
        budget=budget,
        images=load_images(images),
        history=history_from(history) if history else (),
        driver=driver_of(driver, model),
        in_place=options["in_place"],
        assume_yes=options["yes"],
        preview=options["preview"],
        target=options["target"],
    )
    home = home_at(repo, _settings(options))
    if options["submit"]:
        _submit(home, wanted, options["priority"], as_json=as_json)
        return
    ctx.exit(drive(home, lambda control: control.start(wanted), as_json=as_json))


def _settings(options: dict[str, Any]) -> dict[str, object]:
    """Return the settings for the command's options."""
    found: dict[str, object] = {}
    if options["approve"]:
        found["policy_approve_checkpoint"] = True
    if options["no_plan"]:
        found["policy_plan"] = False
    if options["max_iterations"]:
        found["policy_max_iterations"] = options["max_iterations"]
    if options["budget_seconds"]:
        found["repair_seconds"] = options["budget_seconds"]
    return found


def _submit(home: Home, wanted: RunRequest, priority: int, *, as_json: bool) -> None:
    """Submit a run to a cluster, and print its name."""
    import asyncio
    import json

    from flyball.app.project import load_extra
    from flyball.cli.terminal.edge import say
    from flyball.cli.terminal.view import user

    submitting = load_extra("flyball.cluster.submitting")
    named = wanted._replace(by=wanted.by or user())
    run = asyncio.run(submitting.submit(home, named, priority=priority))
    if as_json:
        say(json.dumps({"type": "submitted", "run": run}))
    else:
        say(f"Submitted as {run}. `flyball runs follow {run}` shows its progress.")


def _flow(file: str) -> Flow:
    """Return the flow in a file; raise if it is invalid, so that nothing is started."""
    from flyball.app.templates import read_flow_file
    from flyball.errors import TemplateError

    reading = read_flow_file(file)
    if reading.flow is not None:
        return reading.flow
    said = "\n".join(map(str, reading.problems))
    first, hint = reading.problems[0], f"`flyball flow check {reading.file}` says the same."
    raise TemplateError(said, file=first.file, line=first.line, hint=hint)


def _words(request: tuple[str, ...]) -> str:
    from flyball.errors import UsageError

    text = sys.stdin.read() if request == ("-",) else " ".join(request)
    if not text.strip():
        raise UsageError("The request is empty.", 'Say what you want: flyball run "fix the typo".')
    return text.strip()
