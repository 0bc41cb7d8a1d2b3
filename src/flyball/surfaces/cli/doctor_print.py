"""The part of `flyball doctor` that prints what was found; what matters most comes last."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from rich.console import Console


def print_report(console: Console, report: dict[str, Any]) -> None:
    from rich.table import Table

    box = report["sandbox"]
    console.print(f"[bold]Confinement[/bold]  {box['level']}  (by {box['by']}): {box['meaning']}.")
    console.print(f"  {box['system']}, Landlock version {box['landlock'] or 'none'}")
    console.print(f"  works here: {', '.join(box['works']) or 'nothing'}\n")
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
    console.print()
    settings = Table("setting", "value", "from", box=None, pad_edge=False)
    for row in report["settings"]:
        settings.add_row(row["key"], _plain(row["value"]), _plain(row["origin"]))
    console.print(settings)
    for line in report["ignored"]:
        console.print(f"[yellow]not heeded: {_plain(line)}[/yellow]")
    console.print("\n[bold]Project[/bold]")
    for row in report["project"]:
        if row["holds"]:
            _print_found(console, row)
    print_summary(console, report)


def print_summary(console: Console, report: dict[str, Any]) -> None:
    """What holds in one line, then what does not and what to do about it, the worst last."""
    console.print("\n[bold]In short[/bold]")
    proofs, project = report["proofs"], report["project"]
    held, fine = (sum(row["holds"] for row in rows) for rows in (proofs, project))
    _print_row(
        console,
        "[green]holds[/green]",
        f"{held} of {len(proofs)} attacks were held ({report['sandbox']['level']}); "
        f"{fine} of {len(project)} things looked at in the project are as they should be",
    )
    rows = [row for row in project if not row["holds"]]
    rows = sorted([*_machine_troubles(report), *rows], key=lambda row: row["blocks"])
    for row in rows:
        _print_found(console, row)
    troubles = sum(row["blocks"] for row in rows)
    told = f"{troubles} that must be mended" if troubles else "nothing that must be mended"
    console.print(f"  {told}, {len(rows) - troubles} worth knowing.")


def _machine_troubles(report: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """What keeps Flyball from working here beside the project, told as the project's is."""
    loose = [row["name"] for row in report["proofs"] if not row["holds"]]
    if report["sandbox"]["level"] == "none":
        hint = "On Linux allow user namespaces, install bubblewrap, or use a kernel with Landlock."
        yield _trouble("confinement", report["sandbox"]["meaning"], hint)
    if loose:
        seen = f"{', '.join(loose)}: not held; see BROKEN above"
        hint = "Let nothing run unattended here, and report it as SECURITY.md says."
        yield _trouble("attacks", seen, hint)
    for row in report["database"]:
        if not row["holds"]:
            hint = "Mend that in the database, or name another one."
            yield _trouble(f"database, {row['name']}", row["seen"], hint)


def _trouble(name: str, seen: str, hint: str) -> dict[str, Any]:
    return {"name": name, "holds": False, "seen": seen, "hint": hint, "blocks": True}


def _print_found(console: Console, row: dict[str, Any]) -> None:
    """One thing that was looked at, and what to do where something is amiss."""
    mark = "[green]ok[/green]" if row["holds"] else "[yellow]note[/yellow]"
    mark = "[bold red]TROUBLE[/bold red]" if row["blocks"] else mark
    _print_row(console, mark, f"{_plain(row['name'])}: {_plain(row['seen'])}")
    if row["hint"]:
        _print_row(console, "", f"→ {_plain(row['hint'])}")


_MARGIN = 9


def _print_row(console: Console, head: str, text: str) -> None:
    """A line whose further lines stand below its text, however narrow the terminal is."""
    from rich.padding import Padding
    from rich.table import Table

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
    from rich.markup import escape

    return escape("".join(ch for ch in text if ch.isprintable()))
