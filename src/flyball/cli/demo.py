"""`flyball demo`: run a complete governed run on a small broken project, without a model."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Mapping
from pathlib import Path

import click

from flyball.cli.run import JSON
from flyball.cli.terminal.edge import say

REQUEST = "The tests fail, fix it"
REPORT = "The total of the cart is wrong when somebody buys three pens"
SECONDS = 40.0
"""Time limit, enough for this small project; the wait for the first valid change is shorter."""
ABOUT = """\
A small shop whose cart counts three pens as one, and a test that shows it.
Nothing is prepared: the built-in repairer searches for a change, Flyball proves it.
"""
ABOUT_SCRIPT = """\
A small shop whose cart counts three pens as one. Who works on it follows a script:
writes too early, says "done" too early, and learns that neither is possible.
"""
NEXT = """
The shop is in {project}; it is yours to keep or delete.
In a project of your own:  flyball run "the tests fail, fix it"
A worse driver, governed:  flyball demo --scripted"""
NEXT_SCRIPT = "\nThe shop is in {project}; it is yours to keep or delete."


@click.command()
@click.option(
    "--scripted", is_flag=True, help="Show a scripted driver that breaks the rules instead."
)
@JSON
@click.pass_context
def demo(ctx: click.Context, scripted: bool, as_json: bool) -> None:
    """Watch the live repair of a small broken project; it is kept for you to explore.

    It needs no model, no key and no network.
    """
    from flyball.app.project import open_home
    from flyball.app.starting import RunRequest
    from flyball.cli.terminal.driving import drive
    from flyball.terms.intent import Intent

    place = Path(tempfile.mkdtemp(prefix="flyball-demo-")).resolve()
    project, script = make_project(place)
    wanted = RunRequest(REQUEST, intent=Intent.SMALL_FIX, driver="repair")
    if scripted:
        wanted = wanted._replace(request=REPORT, driver=f"scripted:{script}")
    if not as_json:
        say(ABOUT_SCRIPT if scripted else ABOUT)
    home = open_home(project, own_environment(os.environ), {"repair_seconds": SECONDS})
    code = drive(home, lambda control: control.start(wanted), as_json=as_json)
    if not as_json:
        say((NEXT_SCRIPT if scripted else NEXT).format(project=project))
    ctx.exit(code)


def own_environment(environ: Mapping[str, str]) -> dict[str, str]:
    """Return the environment without the user's settings, so that the demo is reproducible."""
    kept = {
        name: value
        for name, value in environ.items()
        if not name.startswith("FLYBALL_") or name == "FLYBALL_STATE_DIR"
    }
    return {**kept, "FLYBALL_CONFIG": os.devnull}


def make_project(place: Path) -> tuple[Path, Path]:
    """Create the demo project and the script from this package's files."""
    from importlib.resources import files

    source = files("flyball.cli") / "demo_files"
    project = place / "shop"
    project.mkdir()
    for name in ("cart.py", "test_cart.py"):
        text = (source / f"{name}.txt").read_text("utf-8")
        (project / name).write_text(text, "utf-8")
    script = place / "script.jsonl"
    script.write_text((source / "script.jsonl").read_text("utf-8"), "utf-8")
    _commit_all(project)
    return project, script


def _commit_all(project: Path) -> None:
    """Create a repository with one commit; without git the run works in place."""
    from flyball.errors import ToolUnavailable
    from flyball.workspace.process.spawn import run_sync

    env = {
        "PATH": os.environ.get("PATH", os.defpath),
        "HOME": os.fspath(project),
        "GIT_CONFIG_GLOBAL": os.devnull,
        "GIT_CONFIG_NOSYSTEM": "1",
    }
    who = ("-c", "user.name=Flyball demo", "-c", "user.email=demo@flyball.invalid")
    for args in (("init", "-q", "-b", "main"), ("add", "-A"), ("commit", "-q", "-m", "A shop")):
        try:
            run_sync(("git", *who, *args), cwd=project, env=env)
        except ToolUnavailable:
            return
