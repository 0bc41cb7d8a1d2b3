"""`flyball doctor`: what this machine can do, proved by trying."""

from __future__ import annotations

import os
import platform
import shutil
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from flyball.surfaces.cli.card import DATABASE, JSON, REPO
from flyball.surfaces.cli.doctor_host import examine_host
from flyball.surfaces.cli.init import HOSTS
from flyball.surfaces.cli.terminal.edge import clean_console, say

if TYPE_CHECKING:
    from rich.console import Console

    from flyball.app.project import Home
    from flyball.workspace.process.self_test import AttackReport

_MEANINGS = {
    "kernel+namespaces": "what is not granted does not exist, and the network is its own",
    "kernel": "the kernel refuses what is not granted; modes, owners and times of your own files "
    "outside the workspace can still be changed",
    "none": "nothing holds a command back; Flyball refuses unattended commands here",
}

_ESCAPES = "seen\x1b]0;t\x07\x1b]52;c;eA==\x1b\\\x9b31m\rover\x08\x7f\u202etxt\u200b"

_PROGRAMS = (
    ("git", ("git", "--version"), "branches, commits and cards"),
    ("rg", ("rg", "--version"), "the grep tool"),
    ("bash", ("bash", "--version"), "the bash tool"),
    ("bwrap", ("bwrap", "--version"), "namespaces where Flyball may not make its own (optional)"),
    ("node", ("node", "--version"), "projects in JavaScript and TypeScript"),
    ("go", ("go", "version"), "projects in Go"),
    ("make", ("make", "--version"), "projects with a Makefile"),
    ("cc", ("cc", "--version"), "projects in C"),
    ("cargo", ("cargo", "--version"), "projects in Rust"),
    ("java", ("java", "--version"), "projects in Java and Kotlin"),
)


@click.command()
@REPO
@DATABASE
@JSON
@click.option("--host", type=HOSTS, help="Prove instead that this agent is held by its hooks.")
@click.option(
    "--program", default="", metavar="PATH", help="The agent's executable, if not on the PATH."
)
@click.option(
    "--seconds",
    type=click.FloatRange(min=0, min_open=True),
    help="How long one session of the agent may take; 240 unless given.",
)
@click.pass_context
def doctor(
    ctx: click.Context,
    repo: Path,
    as_json: bool,
    host: str | None,
    program: str,
    seconds: float | None,
) -> None:
    """Show how commands are confined here, and prove it by attacks that are really run.

    Every setting in force for the project is shown, and where its value came from.

    With --host, the agent itself is started with the hooks that are installed for it, in a
    throw-away home and project, against a scripted model on this machine: no account, no network.
    """
    import asyncio
    import json

    from flyball.app.project import open_home

    if not host and (program or seconds):
        raise click.UsageError("--program and --seconds go with --host.")
    home = open_home(repo, os.environ, {})
    if host:
        # Only one of the two is asked for: the attacks would take their time again.
        ctx.exit(0 if examine_host(home, host, program, seconds, as_json).holds else 1)
    report = asyncio.run(examine(home.effective.settings.sandbox_readable))
    report["state"] = _state(home)
    report["pages"] = _pages(home)
    report["language_servers"] = _language_servers(home)
    report["settings"] = _settings(home)
    report["ignored"] = list(home.effective.ignored)
    report["database"] = _database(home)
    report["ok"] = report["ok"] and all(row["holds"] for row in report["database"])
    if as_json:
        say(json.dumps(report, indent=2))
    else:
        _print(clean_console(highlight=False), report)
    ctx.exit(0 if report["ok"] else 1)


async def examine(places: Sequence[str] = ()) -> dict[str, Any]:
    """Everything doctor tells, as JSON-like values; `places` are those the user lets be read."""
    from flyball.app.proving.hands import attack_hands
    from flyball.workspace.process import levels, self_test
    from flyball.workspace.process.process import works
    from flyball.workspace.sandbox import landlock

    means = levels.best_mechanism()
    proofs = [*await self_test.run_attacks(means), *await attack_hands(os.environ)]
    proofs.append(_attack_terminal())
    failed = [proof.name for proof in proofs if not proof.holds]
    return {
        "ok": not failed and means.level is not levels.SandboxLevel.NONE,
        "sandbox": {
            "level": str(means.level),
            "meaning": _MEANINGS[means.level],
            "by": str(means),
            "works": [str(each) for each in levels.Mechanism if works(each)],
            "landlock": landlock.abi(),
            "system": f"{platform.system()} {platform.release()} {platform.machine()}",
        },
        "proofs": [
            {"name": p.name, "attack": p.attack, "holds": p.holds, "seen": p.seen} for p in proofs
        ],
        "programs": [_program(*each, places) for each in _PROGRAMS],
        "python": {"version": platform.python_version(), "path": sys.executable},
    }


def _attack_terminal() -> AttackReport:
    """What reaches a terminal of a text that would command it, by both ways out."""
    import io
    from contextlib import redirect_stdout

    from rich.text import Text

    from flyball.workspace.process.self_test import AttackReport

    with redirect_stdout(io.StringIO()) as told:
        say(_ESCAPES)
        clean_console(file=told, force_terminal=False, width=200).print(Text(_ESCAPES))
    shown = told.getvalue()
    left = [each for each in _ESCAPES if not each.isprintable() and each in shown]
    return AttackReport(
        "terminal escapes",
        "title, clipboard, C1, carriage return and overrides of direction are printed",
        shown.count("seen") == 2 and not left,
        ascii("".join(left)) if left else "",
    )


def _program(name: str, argv: tuple[str, ...], use: str, places: Sequence[str]) -> dict[str, Any]:
    from flyball.errors import ToolError
    from flyball.workspace.process.spawn import run_sync

    beside = Path(sys.executable).parent
    path = shutil.which(name, path=os.pathsep.join((str(beside), os.environ.get("PATH", ""))))
    version = ""
    if path:
        try:
            env = {"PATH": os.environ.get("PATH", "")}
            answer = run_sync((path, *argv[1:]), cwd=Path("/"), env=env, seconds=10)
            version = answer.stdout.decode(errors="replace").partition("\n")[0]
        except ToolError as error:
            version = str(error)
    return {
        "name": name,
        "path": path,
        "version": version,
        "use": use,
        "granted": bool(path) and _is_granted(path, places),
    }


def _is_granted(path: str, places: Sequence[str]) -> bool:
    """Whether commands may read a program where it really lies."""
    from flyball.workspace.sandbox import environment, readable

    home = Path(os.environ["HOME"]) if os.environ.get("HOME") else None
    granted = [*readable.readable_paths(environment.clean(os.environ), home)]
    granted += readable.granted_paths([Path(place).expanduser() for place in places], home)
    return any(Path(os.path.realpath(path)).is_relative_to(place) for place in granted)


def _pages(home: Home) -> dict[str, Any]:
    """Whether servers can be started and pages opened, and what to install where not."""
    from flyball.tools.pages.browser import find_browser, has_playwright
    from flyball.workspace.sandbox import environment
    from flyball.workspace.servers.network import can_serve

    browser = find_browser(environment.clean(home.environ, workspace=home.repo))
    install: list[str] = []
    if not has_playwright():
        install.append("pip install 'flyball[browser]'")
    if not browser:
        install.append("apt-get install chromium  (or: playwright install chromium)")
    return {
        "servers": can_serve(),
        "playwright": has_playwright(),
        "browser": browser,
        "install": install,
    }


def _database(home: Home) -> list[dict[str, Any]]:
    """What a database needs to keep runs, and whether it has that; nothing where none is named."""
    if not home.database:
        return []
    from flyball.app.project import load_extra

    found = load_extra("flyball.journal.connection").examine_database(home.database)
    return [{"name": each.name, "holds": each.holds, "seen": each.seen} for each in found]


def _language_servers(home: Home) -> list[dict[str, str]]:
    """The language servers that `check` asks, where each is, and how it is installed."""
    from flyball.tools.diagnose.servers import SERVERS

    beside = Path(sys.executable).parent
    path = os.pathsep.join((str(beside), home.environ.get("PATH", os.defpath)))
    return [
        {
            "name": each.argv[0],
            "languages": ", ".join(each.languages),
            "path": shutil.which(each.argv[0], path=path) or "",
            "install": each.install,
        }
        for each in SERVERS
    ]


def _state(home: Home) -> dict[str, Any]:
    """Where runs are kept, and whether that can be written."""
    path = home.state.parent.parent
    nearest = next(each for each in (path, *path.parents) if each.exists())
    return {"path": str(path), "writable": os.access(nearest, os.W_OK)}


def _settings(home: Home) -> list[dict[str, str]]:
    from flyball.app.project import settings_report

    rows = settings_report(home)
    return [{"key": key, "value": value, "origin": origin} for key, value, origin in rows]


def _print(console: Console, report: dict[str, Any]) -> None:
    from rich.table import Table

    box = report["sandbox"]
    console.print(f"[bold]Confinement[/bold]  {box['level']}  (by {box['by']}): {box['meaning']}.")
    console.print(f"  {box['system']}, Landlock version {box['landlock'] or 'none'}")
    console.print(f"  works here: {', '.join(box['works'])}\n")
    proofs = Table("proof", "", "what was tried", box=None, pad_edge=False)
    for proof in report["proofs"]:
        mark = "[green]held[/green]" if proof["holds"] else "[bold red]BROKEN[/bold red]"
        proofs.add_row(mark, proof["name"], proof["attack"])
        if not proof["holds"] and proof["seen"]:
            proofs.add_row("", "", f"it printed: {_plain(proof['seen'])}")
    console.print(proofs)
    console.print()
    programs = Table("program", "version", "for", box=None, pad_edge=False)
    python = report["python"]
    programs.add_row("python", python["version"], _plain(python["path"]))
    for program in report["programs"]:
        use = program["use"]
        if program["path"]:
            # Where a toolchain lies decides whether commands can use it.
            denied = "" if program["granted"] else "; commands may not read it (`sandbox.readable`)"
            use = f"{use}: {_plain(program['path'])}{denied}"
        programs.add_row(program["name"], _plain(program["version"] or "not found"), use)
    console.print(programs)
    _print_pages(console, report["pages"])
    for row in report["database"]:
        mark = "[green]holds[/green]" if row["holds"] else "[bold red]MISSING[/bold red]"
        console.print(f"[bold]Database[/bold]  {mark}  {row['name']}: {_plain(row['seen'])}")
    _print_language_servers(console, report["language_servers"])
    state = report["state"]
    note = "" if state["writable"] else "  [bold red]cannot be written[/bold red]"
    console.print(f"\n[bold]State[/bold]  {_plain(state['path'])}{note}\n")
    settings = Table("setting", "value", "from", box=None, pad_edge=False)
    for row in report["settings"]:
        settings.add_row(row["key"], _plain(row["value"]), _plain(row["origin"]))
    console.print(settings)
    for line in report["ignored"]:
        console.print(f"[yellow]not heeded: {_plain(line)}[/yellow]")
    if not report["ok"]:
        console.print("\n[bold red]Not everything holds: see the lines above.[/bold red]")


def _print_pages(console: Console, pages: dict[str, Any]) -> None:
    can = "yes" if pages["servers"] else "no: this needs network namespaces"
    console.print(f"\n[bold]Pages[/bold]  servers can be started: {can}")
    found = _plain(pages["browser"] or "not found")
    driven = "installed" if pages["playwright"] else "not found"
    console.print(f"  Chromium: {found}; Playwright: {driven} (both are optional)")
    for line in pages["install"]:
        console.print(f"  to look at pages: {_plain(line)}")


def _print_language_servers(console: Console, servers: list[dict[str, str]]) -> None:
    console.print("\n[bold]Language servers[/bold]  asked by `check` (all are optional)")
    for each in servers:
        found = each["path"] or f"not found; to install it: {each['install']}"
        console.print(f"  {each['name']} ({each['languages']}): {_plain(found)}")


def _plain(text: str) -> str:
    from rich.markup import escape

    return escape("".join(ch for ch in text if ch.isprintable()))
