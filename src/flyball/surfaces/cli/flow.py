"""`flyball flow`: check, show and explain flows of templates."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, NamedTuple

import click

if TYPE_CHECKING:
    from flyball.core.flow import Flow, Problem


@click.group("flow")
def flow() -> None:
    """Check and draw flows of step templates."""


class Report(NamedTuple):
    """What was found in one file."""

    file: str
    flow: Flow | None
    problems: tuple[Problem, ...]

    def to_object(self) -> dict[str, object]:
        import msgspec

        return {
            "file": self.file,
            "sound": not self.problems,
            "steps": len(self.flow.steps) if self.flow else 0,
            "problems": msgspec.to_builtins(self.problems),
        }

    def __str__(self) -> str:
        if self.flow is None:
            return "\n".join(map(str, self.problems))
        count = len(self.flow.steps)
        noun = "step" if count == 1 else "steps"
        return f"{self.file}: sound, {count} {noun} from {self.flow.start}."


def _report(file: str) -> Report:
    from flyball.core.flow import Problem, read_flow
    from flyball.core.shape import plain
    from flyball.workspace.templatefile import read_source

    source = read_source(file)
    found, problems = (None, (source,)) if isinstance(source, Problem) else read_flow(source)
    return Report(plain(file), found, problems)


@flow.command("check")
@click.argument("files", nargs=-1, required=True, metavar="FILE…")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
@click.pass_context
def check_command(context: click.Context, files: tuple[str, ...], as_json: bool) -> None:
    """Say whether flow files are sound; exit 2 when one is not."""
    reports = [_report(file) for file in dict.fromkeys(files)]
    is_sound = not any(report.problems for report in reports)
    if as_json:
        objects = [report.to_object() for report in reports]
        click.echo(json.dumps({"sound": is_sound, "files": objects}))
    else:
        for report in reports:
            click.echo(str(report))
    context.exit(0 if is_sound else 2)


@flow.command("show")
@click.argument("file", metavar="FILE")
@click.option(
    "--json", "as_json", is_flag=True, help="Print the flow with every default filled in."
)
@click.pass_context
def show_command(context: click.Context, file: str, as_json: bool) -> None:
    """Draw a flow file, or a built-in template by its name: an outline, then Mermaid text."""
    from pathlib import Path

    import msgspec

    from flyball.core.flow import Flow
    from flyball.core.flowchart import mermaid, outline
    from flyball.core.library import LIBRARY

    if file in LIBRARY and not Path(file).exists():
        template = LIBRARY[file]
        report = Report(file, Flow(template.title, template.step_id, (template,)), ())
    else:
        report = _report(file)
    if report.flow is None:
        click.echo(json.dumps(report.to_object()) if as_json else str(report))
        context.exit(2)
    if as_json:
        click.echo(msgspec.json.encode(report.flow).decode())
    else:
        click.echo(f"{outline(report.flow)}\n{mermaid(report.flow)}", nl=False)


@flow.command("policy")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
def policy_command(as_json: bool) -> None:
    """Print the one table that says what happens after a step failed."""
    from flyball.core.escalation import NOTES, ROWS

    if as_json:
        rows = [row._asdict() for row in ROWS]
        click.echo(json.dumps({"rows": rows, "notes": NOTES}))
        return

    header = ("error", "strictness", "retries left", "used up", "diagnosed")
    cells = [header, *(tuple(map(str, row)) for row in ROWS)]
    widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
    for row in cells:
        click.echo(" ".join(map(str.ljust, row, widths)).rstrip())
    click.echo()
    for sentence in NOTES:
        click.echo(sentence)
