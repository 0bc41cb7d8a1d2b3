"""Print the findings of `flyball doctor`, with the answer first."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from rich.markup import escape
from rich.padding import Padding
from rich.table import Table

if TYPE_CHECKING:
    from rich.console import Console


def print_report(console: Console, report: dict[str, Any], *, verbose: bool = False) -> None:
    """Print the answer first, and every attack, program and setting only on request."""
    print_summary(console, report)
    if not verbose:
        console.print("\n`flyball doctor --verbose` lists every attack, program and setting.")
        return
    console.print("\n[bold]Project[/bold]")
    for row in report["project"]:
        _print_found(console, row)
    _print_confinement(console, report)
    _print_programs(console, report)
    _print_pages(console, report["pages"])
    for row in report["database"]:
        mark = "[green]holds[/green]" if row["holds"] else "[bold red]MISSING[/bold red]"
        console.print(f"[bold]Database[/bold]  {mark}  {row['name']}: {_plain(row['seen'])}")
    _print_language_servers(console, report["language_servers"])
    console.print()
    settings = Table("setting", "value", "from", box=None, pad_edge=False)
    for row in report["settings"]:
        settings.add_row(row["key"], _plain(row["value"]), _plain(row["origin"]))
    console.print(settings)


def print_summary(console: Console, report: dict[str, Any]) -> None:
    """Print whether Flyball works here, then each problem and note with what to do about it."""
    proofs, project = report["proofs"], report["project"]
    rows = [*_machine_troubles(report), *(row for row in project if not row["holds"])]
    problems = sum(row["blocks"] for row in rows)
    notes = len(rows) - problems + len(report["ignored"])
    answer = f"[bold red]{_count(problems, 'problem')} to fix" if problems else "[green]No problems"
    console.print(f"[bold]{answer}[/][/]; {_count(notes, 'note')}.")
    held = sum(row["holds"] for row in proofs)
    level = f"{report['sandbox']['level']}, {held} of {len(proofs)} attacks were held"
    _print_row(console, "[green]ok[/green]" if held == len(proofs) else "", f"confinement: {level}")
    fine = dict.fromkeys(row["name"].partition(" in ")[0] for row in project if row["holds"])
    _print_row(console, "[green]ok[/green]", _plain(", ".join(fine)))
    for row in sorted(rows, key=lambda row: not row["blocks"]):
        _print_found(console, row)
    for line in report["ignored"]:
        _print_row(console, "[yellow]note[/yellow]", f"ignored: {_plain(line)}")
    for row in report["settings"]:
        if row["origin"] != _BUILT_IN:
            value = f"{row['key']} = {row['value']} ({row['origin']})"
            _print_row(console, "set", _plain(value))


_BUILT_IN = "default"
"""The origin of a setting that has its default."""


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"


def _print_confinement(console: Console, report: dict[str, Any]) -> None:
    box = report["sandbox"]
    console.print(f"\n[bold]Confinement[/bold]  {box['level']} (by {box['by']}): {box['meaning']}.")
    console.print(f"  {box['system']}, Landlock version {box['landlock'] or 'none'}")
    console.print(f"  works here: {', '.join(box['works']) or 'nothing'}\n")
    proofs = Table("proof", "", "what was tried", box=None, pad_edge=False)
    for proof in report["proofs"]:
        mark = "[green]held[/green]" if proof["holds"] else "[bold red]BROKEN[/bold red]"
        proofs.add_row(mark, proof["name"], proof["attack"])
        if not proof["holds"] and proof["seen"]:
            proofs.add_row("", "", f"it printed: {_plain(proof['seen'])}")
    console.print(proofs)


def _print_programs(console: Console, report: dict[str, Any]) -> None:
    console.print()
    programs = Table("program", "version", "for", box=None, pad_edge=False)
    python = report["python"]
    programs.add_row("python", python["version"], _plain(python["path"]))
    for program in report["programs"]:
        use = program["use"]
        if program["path"]:
            # A toolchain's location decides whether commands can use it.
            denied = "" if program["granted"] else "; commands may not read it (`sandbox.readable`)"
            use = f"{use}: {_plain(program['path'])}{denied}"
        programs.add_row(program["name"], _plain(program["version"] or "not found"), use)
    console.print(programs)


def _machine_troubles(report: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """Yield what prevents Flyball from working on this machine, as rows like the project's."""
    loose = [row["name"] for row in report["proofs"] if not row["holds"]]
    if report["sandbox"]["level"] == "none":
        hint = "On Linux allow user namespaces, install bubblewrap, or use a kernel with Landlock."
        yield _trouble("confinement", report["sandbox"]["meaning"], hint)
    if loose:
        seen = f"{', '.join(loose)}: not held; `flyball doctor --verbose` shows what they printed"
        hint = "Run nothing unattended here, and report it as SECURITY.md says."
        yield _trouble("attacks", seen, hint)
    for row in report["database"]:
        if not row["holds"]:
            hint = "Fix it in the database, or name another one."
            yield _trouble(f"database, {row['name']}", row["seen"], hint)


def _trouble(name: str, seen: str, hint: str) -> dict[str, Any]:
    return {"name": name, "holds": False, "seen": seen, "hint": hint, "blocks": True}


def _print_found(console: Console, row: dict[str, Any]) -> None:
    """Print one finding, and what to do about it."""
    mark = "[green]ok[/green]" if row["holds"] else "[yellow]note[/yellow]"
    mark = "[bold red]PROBLEM[/bold red]" if row["blocks"] else mark
    _print_row(console, mark, f"{_plain(row['name'])}: {_plain(row['seen'])}")
    if row["hint"]:
        _print_row(console, "", f"→ {_plain(row['hint'])}")


_MARGIN = 9


def _print_row(console: Console, head: str, text: str) -> None:
    """Print a line whose continuation lines are indented below its text."""
    row = Table.grid()
    row.add_column(width=_MARGIN, no_wrap=True)
    row.add_column(overflow="fold")
    row.add_row(head, text)
    console.print(Padding(row, (0, 0, 0, 2), expand=False))


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
    return escape("".join(ch for ch in text if ch.isprintable()))
