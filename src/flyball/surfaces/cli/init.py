"""`flyball init`: put our hooks into another agent's settings, or take them out."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from flyball.surfaces.cli.card import JSON, REPO, say_json
from flyball.surfaces.cli.terminal.edge import say

if TYPE_CHECKING:
    from flyball.app.installing.needs import HostNeed
    from flyball.app.installing.plan import InstallPlan

HOSTS = click.Choice(["claude", "codex", "gemini", "opencode"])
SCOPES = click.Choice(["user", "project", "managed"])


@click.command()
@click.option("--host", required=True, type=HOSTS, help="The agent to govern.")
@click.option(
    "--scope",
    default="user",
    show_default=True,
    type=SCOPES,
    help="Whose settings: yours, the project's, or the machine's, which no project can turn off.",
)
@click.option("--remove", is_flag=True, help="Take out again what was put in.")
@click.option(
    "--observe",
    is_flag=True,
    help="Never refuse, hold or say anything: only write down what would have been decided.",
)
@click.option(
    "--http",
    is_flag=True,
    help="Claude Code: ask about calls over HTTP. Quicker, but if nobody answers, calls are made.",
)
@click.option("--yes", is_flag=True, help="Do not ask.")
@REPO
@JSON
@click.pass_context
def init(
    ctx: click.Context,
    host: str,
    scope: str,
    remove: bool,
    observe: bool,
    http: bool,
    yes: bool,
    repo: Path,
    as_json: bool,
) -> None:
    """Govern another agent: put Flyball's hooks into its settings.

    The change is shown first. What is in the file already stays to the byte, comments and layout
    included, and --remove takes out exactly what was put in; an agent that is governed cannot say
    that. Without a terminal and without --yes nothing is written, and the exit code is 3.

    With --observe the agent is not governed: `flyball audit --host flyball` tells afterwards what
    would have been refused. The same command without --observe turns the installation on.
    """
    from flyball.errors import UsageError

    if http and host != "claude":
        raise UsageError("Only Claude Code asks its hooks over HTTP.", "Leave --http out.")
    if observe and (http or remove):
        raise UsageError("--observe stands alone.", "Leave --http and --remove out.")
    if remove or observe:
        _require_person(repo)
    plan, needs = _plan(repo, host, scope, remove=remove, observe=observe, http=http)
    is_done = _settle(plan, yes=yes, as_json=as_json)
    if as_json:
        said = {"host": host, "scope": scope, "path": plan.target.path, "removed": remove}
        said["observes"] = observe
        say_json({**said, **_as_dict(plan, needs), "applied": is_done})
    else:
        _say(plan, needs, remove=remove, observe=observe, is_done=is_done)
    ctx.exit(0 if is_done or not plan.is_change else _waits())


def _plan(
    repo: Path, host: str, scope: str, *, remove: bool, observe: bool, http: bool
) -> tuple[InstallPlan, list[HostNeed]]:
    """What would be written, and what the host needs besides."""
    from flyball.app.installing.door import make_door
    from flyball.app.installing.needs import host_needs
    from flyball.app.installing.plan import plan_install, plan_removal
    from flyball.app.installing.targets import HostPlaces, InstallScope, find_target
    from flyball.app.project import project_top

    places = HostPlaces(os.environ, project_top(repo.resolve()))
    target = find_target(host, InstallScope(scope), places)
    if remove:
        return plan_removal(target, os.environ), []
    executable = os.fspath(Path(sys.executable).with_name("flyball-hook"))
    door = make_door(os.environ) if http else None
    plan = plan_install(target, executable, os.environ, door, observes=observe)
    return plan, host_needs(target, places, executable, (plan.after or b"").decode())


def _require_person(repo: Path) -> None:
    """Refuse to be disarmed by an agent that is governed, in whatever project it works."""
    from flyball.app.hosts.person import require_person_anywhere
    from flyball.app.project import open_home

    require_person_anywhere(open_home(repo, os.environ, {}), os.environ)


def _waits() -> int:
    from flyball.surfaces.cli.terminal.exits import WAITS

    return WAITS


def _settle(plan: InstallPlan, *, yes: bool, as_json: bool) -> bool:
    """Show the change, ask if somebody can answer, and make it; whether it was made."""
    from flyball.app.installing.plan import carry_out
    from flyball.surfaces.cli.card import say_diff

    if not plan.is_change:
        carry_out(plan)
        return False
    if not as_json:
        say_diff(plan.diff)
    if not yes:
        if as_json or not sys.stdin.isatty():
            return False
        if not click.confirm("\nWrite this?"):
            return False
    carry_out(plan)
    return True


def _say(
    plan: InstallPlan, needs: list[HostNeed], *, remove: bool, observe: bool, is_done: bool
) -> None:
    path, title = plan.target.path, plan.target.host.title
    if plan.is_change and not is_done:
        say("\nNothing was written. Repeat with --yes to write it.")
    elif remove:
        done = f"Flyball's hooks are out of {path}."
        say(done if is_done else f"There is nothing of Flyball in {path}.")
    else:
        state = "now" if is_done else "already"
        say(f"Flyball's hooks are in {path} {state}.")
        verb = "observed" if observe else "governed"
        if _is_ready(needs):
            say(f"{title} is {verb} by Flyball.")
        else:
            say(f"{title} is not {verb} before this is mended:")
    labels = {"met": "holds", "missing": "mend", "told": "know"}
    for need in needs:
        say(f"  {labels[need.state.value]:<6} {need.text}")


def _is_ready(needs: list[HostNeed]) -> bool:
    return all(need.state != "missing" for need in needs)


def _as_dict(plan: InstallPlan, needs: list[HostNeed]) -> dict[str, Any]:
    return {
        "changed": plan.is_change,
        "diff": plan.diff,
        "events": list(plan.target.host.events),
        "needs": [{"state": str(need.state), "text": need.text} for need in needs],
        "ready": _is_ready(needs),
    }
