"""`flyball flow`: check, show and explain flows of templates."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import click

from flyball.cli.card import REPO
from flyball.cli.terminal.edge import say
from flyball.cli.typed.words import complete_file

if TYPE_CHECKING:
    from flyball.plan.flow import Flow, Problem
    from flyball.plan.template import Template


@click.group("flow")
def flow() -> None:
    """Check and draw flows of step templates."""


class FlowReport(NamedTuple):
    """The result of checking one file."""

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


def _report(file: str) -> FlowReport:
    from flyball.app.templates import read_flow_file

    return FlowReport(*read_flow_file(file))


@flow.command("check")
@click.argument("files", nargs=-1, required=True, metavar="FILE…", shell_complete=complete_file)
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
@click.pass_context
def check_command(context: click.Context, files: tuple[str, ...], as_json: bool) -> None:
    """Check flow files; exit with 2 if one is invalid."""
    reports = [_report(file) for file in dict.fromkeys(files)]
    is_sound = not any(report.problems for report in reports)
    if as_json:
        objects = [report.to_object() for report in reports]
        say(json.dumps({"sound": is_sound, "files": objects}))
    else:
        for report in reports:
            say(str(report))
    context.exit(0 if is_sound else 2)


@flow.command("list", short_help="List the templates a plan may use.")
@REPO
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
def list_command(repo: Path, as_json: bool) -> None:
    """List the templates a plan may use: built in, and the project's own."""
    from flyball.app.templates import project_templates
    from flyball.cli.terminal.view import home_at
    from flyball.plan.library import LIBRARY

    own = project_templates(home_at(repo))
    rows = [(name, template.title, "built in") for name, template in LIBRARY.items()]
    rows += [(each.template.step_id, each.template.title, each.file) for each in own.found]
    if as_json:
        named = [dict(zip(("step_id", "title", "from"), row, strict=True)) for row in rows]
        say(json.dumps({"templates": named, "notices": own.notices}))
        return
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    for row in rows:
        say("  ".join(map(str.ljust, row, widths)).rstrip())
    for notice in own.notices:
        say(notice, err=True)


@flow.command("show", short_help="Show a flow file or a named template.")
@click.argument("file", metavar="FILE", shell_complete=complete_file)
@REPO
@click.option("--json", "as_json", is_flag=True, help="Print the flow with all defaults filled in.")
@click.pass_context
def show_command(context: click.Context, file: str, repo: Path, as_json: bool) -> None:
    """Show a flow file or a named template: an outline, then Mermaid."""
    import msgspec

    from flyball.plan.flow import Flow
    from flyball.plan.flowchart import mermaid, outline

    template = None if Path(file).exists() else _named(file, repo)
    if template is not None:
        report = FlowReport(file, Flow(template.title, template.step_id, (template,)), ())
    else:
        report = _report(file)
    if report.flow is None:
        say(json.dumps(report.to_object()) if as_json else str(report))
        context.exit(2)
    if as_json:
        say(msgspec.json.encode(report.flow).decode())
    else:
        say(f"{outline(report.flow)}\n{mermaid(report.flow)}", nl=False)


def _named(name: str, repo: Path) -> Template | None:
    """Return a built-in template, or one of the project's own that its user trusts."""
    from flyball.app.templates import project_templates
    from flyball.cli.terminal.view import home_at
    from flyball.plan.library import LIBRARY

    own = (
        {}
        if name in LIBRARY
        else {t.step_id: t for t in project_templates(home_at(repo)).templates}
    )
    return LIBRARY.get(name) or own.get(name)


@flow.command("policy")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
def policy_command(as_json: bool) -> None:
    """Print the policy table: what happens after a step fails."""
    from flyball.plan.escalation import NOTES, ROWS

    if as_json:
        rows = [row._asdict() for row in ROWS]
        say(json.dumps({"rows": rows, "notes": NOTES}))
        return

    header = ("error", "strictness", "retries left", "used up", "diagnosed")
    cells = [header, *(tuple(map(str, row)) for row in ROWS)]
    widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
    for row in cells:
        say(" ".join(map(str.ljust, row, widths)).rstrip())
    say()
    for sentence in NOTES:
        say(sentence)
