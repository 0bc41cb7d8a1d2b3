"""`flyball init`: install our hooks in another agent's settings, or remove them."""

from __future__ import annotations

import os
import shlex
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import click

from flyball.cli.card import JSON, REPO, say_json
from flyball.cli.terminal.edge import say

if TYPE_CHECKING:
    from flyball.hosts.install.needs import HostNeed
    from flyball.hosts.install.plan import InstallPlan
    from flyball.hosts.install.targets import InstallTarget

HOSTS = click.Choice(["claude", "codex", "gemini", "opencode"])
SCOPES = click.Choice(["user", "project", "managed"])
REACH = {
    "user": "in all your projects",
    "project": "in this project",
    "managed": "for everyone on this machine",
}
VERBS = {"observe": "observed", "verdict": "judged", "govern": "governed", "strict": "governed"}
LEVELS = click.Choice(["observe", "verdict", "govern", "strict"])
LONG_LINE = 400
"""Maximum length of a diff line shown; one event with its command is shorter."""


class Installation(NamedTuple):
    """What the command line requests, and the resulting plan."""

    remove: bool
    level: str
    repo: Path
    plan: InstallPlan
    needs: list[HostNeed]
    elsewhere: list[InstallTarget]

    @property
    def is_ready(self) -> bool:
        """Return whether the hooks are active and nothing is missing."""
        return all(need.state != "missing" for need in self.needs)


@click.command()
@click.option("--host", required=True, type=HOSTS, help="The agent to govern.")
@click.option(
    "--scope",
    default="user",
    show_default=True,
    type=SCOPES,
    help="Whose settings: yours, the project's, or the machine's, which no project can turn off.",
)
@click.option("--remove", is_flag=True, help="Uninstall the hooks.")
@click.option(
    "--level",
    type=LEVELS,
    help="How much is enforced; default: hooks.level (govern).",
)
@click.option(
    "--http",
    is_flag=True,
    help="Claude Code: ask about calls over HTTP. Faster, but without an answer calls are made.",
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
    level: str | None,
    http: bool,
    yes: bool,
    repo: Path,
    as_json: bool,
) -> None:
    """Govern another agent: install Flyball's hooks in its settings.

    The change is shown first. The rest of the file stays byte for byte the same, including comments
    and layout, and --remove deletes exactly what was added; a governed agent cannot run it. Without
    a terminal and without --yes nothing is written, and the exit code is 3. Anything that keeps the
    agent from being governed despite the hooks is listed, as `ready` in --json.

    The level decides how much is enforced. observe: nothing, and `flyball audit --host flyball`
    shows what would have been blocked. verdict: only the stop is judged. govern: the agent must
    look before it writes, and actions that reach outside need approval. strict: unknown programs
    are refused, too. Run the command again with another level to change it.
    """
    from flyball.errors import UsageError

    if http and host != "claude":
        raise UsageError("Only Claude Code can call hooks over HTTP.", "Leave --http out.")
    if level and remove:
        raise UsageError("--level and --remove cannot be combined.", "Use only one of them.")
    if remove or level in ("observe", "verdict"):
        _require_person(repo)
    install = _plan(repo, host, scope, remove=remove, level=level or "", http=http)
    is_done = _settle(install, yes=yes, as_json=as_json)
    if as_json:
        said = {"host": host, "scope": scope, "path": install.plan.target.path, "removed": remove}
        said["level"] = install.level
        say_json({**said, **_as_dict(install), "applied": is_done})
    else:
        _say(install, is_done=is_done)
    ctx.exit(0 if is_done or not install.plan.is_change else _waits())


def _plan(
    repo: Path, host: str, scope: str, *, remove: bool, level: str, http: bool
) -> Installation:
    """Return the planned changes, what else the host needs, and where other hooks would remain."""
    from flyball.app.project import open_home_lenient, project_top
    from flyball.hosts.install.door import make_door
    from flyball.hosts.install.needs import host_needs
    from flyball.hosts.install.plan import installed_elsewhere, plan_install, plan_removal
    from flyball.hosts.install.targets import HostPlaces, InstallScope, find_target

    places = HostPlaces(os.environ, project_top(repo.resolve()))
    target = find_target(host, InstallScope(scope), places)
    if remove:
        others = installed_elsewhere(target, places, os.environ)
        return Installation(remove, level, repo, plan_removal(target, os.environ), [], others)
    executable = os.fspath(Path(sys.executable).with_name("flyball-hook"))
    door = make_door(os.environ) if http else None
    plan = plan_install(target, executable, os.environ, door, level)
    needs = host_needs(target, places, executable, (plan.after or b"").decode())
    settled = open_home_lenient(repo, os.environ)[0].effective.settings.hooks_level
    return Installation(remove, level or settled, repo, plan, needs, [])


def _require_person(repo: Path) -> None:
    """Refuse a removal by a governed agent, in any project it works in."""
    from flyball.app.project import open_home
    from flyball.hosts.person import require_person_anywhere

    require_person_anywhere(open_home(repo, os.environ, {}), os.environ)


def _waits() -> int:
    from flyball.cli.terminal.exits import WAITS

    return WAITS


def _settle(install: Installation, *, yes: bool, as_json: bool) -> bool:
    """Show the change, ask if possible, and apply it; return whether it was applied."""
    from flyball.cli.card import say_diff
    from flyball.hosts.armed import accept_hooks
    from flyball.hosts.install.plan import carry_out

    plan = install.plan
    if not plan.is_change:
        carry_out(plan)
        accept_hooks(os.environ, plan.file)
        return False
    if not as_json:
        say_diff(_readable(plan.diff))
        for change in plan.changes:
            say(f"It {change}")
        if plan.changes and plan.before and plan.after:
            say("Everything else in the file stays as it is.")
    if not yes:
        if as_json or not _is_person_present():
            return False
        if not click.confirm("\nWrite this?"):
            return False
    _write(plan, install.repo)
    accept_hooks(os.environ, plan.file)
    return True


def _write(plan: InstallPlan, repo: Path) -> None:
    """Apply the change; for projects with active agents, record that a person made it."""
    import asyncio

    from flyball.app.project import open_home_lenient
    from flyball.app.sessions import Sessions
    from flyball.errors import NotAPerson
    from flyball.hosts.governor import HostGovernor
    from flyball.hosts.install.plan import carry_out

    home, _ = open_home_lenient(repo, os.environ)
    if not Sessions(home.state).in_checkout():
        carry_out(plan)
        return
    try:
        _require_person(repo)
    except NotAPerson:
        # It may install hooks like any program, and their files are checked like any change.
        carry_out(plan)
    else:
        asyncio.run(HostGovernor(home).let_person(lambda: carry_out(plan)))


def _is_person_present() -> bool:
    return sys.stdin.isatty()


def _readable(diff: str) -> str:
    """Return the diff with very long lines shortened."""
    lines = diff.split("\n")
    for n, line in enumerate(lines):
        if len(line) > LONG_LINE:
            lines[n] = f"{line[:100]} … and {len(line) - 100:,} more characters"
    return "\n".join(lines)


def _say(install: Installation, *, is_done: bool) -> None:
    if install.plan.is_change and not is_done and _is_person_present():
        say("\nNothing was written.")
    elif install.plan.is_change and not is_done:
        say("\nNothing was written. Repeat with --yes to write it.")
        _say_needs(install)
    elif install.remove:
        _say_removed(install, is_done=is_done)
    else:
        _say_installed(install, is_done=is_done)


def _say_removed(install: Installation, *, is_done: bool) -> None:
    path = install.plan.target.path
    done = f"Flyball's hooks were removed from {path}."
    say(done if is_done else f"{path} has no hooks of Flyball.")
    for other in install.elsewhere:
        say(f"Flyball's hooks are in {other.path}: `{_removal(other, install.repo)}` removes them.")


def _say_installed(install: Installation, *, is_done: bool) -> None:
    """Print in which projects the host is governed, how to check that, and how to undo it."""
    from flyball.settings import LEVELS as WHAT_IS_HELD

    target = install.plan.target
    say(f"Flyball's hooks are in {target.path} {'now' if is_done else 'already'}.")
    if install.is_ready:
        where = f"by Flyball {REACH[target.scope]}"
        say(f"{target.host.title} is {VERBS[install.level]} {where}.")
        say(f"Level {install.level}: {WHAT_IS_HELD[install.level]}.")
    else:
        say(f"{target.host.title} is not {VERBS[install.level]} until this is fixed:")
    _say_needs(install)
    see = f"Check that it works: `flyball doctor --host {target.host.name}`."
    if install.level == "observe":
        see = "See what would have been refused: `flyball audit --host flyball`."
    say(f"{see} Undo: `{_removal(target, install.repo)}`.")


def _say_needs(install: Installation) -> None:
    labels = {"met": "holds", "missing": "fix", "told": "know"}
    for need in install.needs:
        say(f"  {labels[need.state.value]:<6} {need.text}")


def _removal(target: InstallTarget, repo: Path) -> str:
    """Return the command that removes our hooks from a file."""
    words = ["flyball", "init", "--host", target.host.name]
    if target.scope != "user":
        words += ["--scope", str(target.scope)]
    if target.scope == "project" and repo != Path():
        words += ["--repo", os.fspath(repo)]
    return shlex.join([*words, "--remove"])


def _as_dict(install: Installation) -> dict[str, Any]:
    plan = install.plan
    return {
        "changed": plan.is_change,
        "diff": plan.diff,
        "changes": plan.changes,
        "events": list(plan.target.host.events),
        "needs": [{"state": str(need.state), "text": need.text} for need in install.needs],
        "ready": install.is_ready,
        "elsewhere": [{"scope": str(o.scope), "path": str(o.path)} for o in install.elsewhere],
    }
