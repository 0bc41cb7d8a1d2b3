"""`flyball audit`: report what agents did, from their transcripts."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

import click

from flyball.cli.terminal.edge import say

if TYPE_CHECKING:
    from collections.abc import Callable

    from flyball.audit.auditing import AuditProgress
    from flyball.audit.report import AuditReport

HOSTS = click.Choice(
    ["claude", "codex", "gemini", "opencode", "swe-agent", "openhands", "agent-trace", "flyball"]
)


@click.command()
@click.argument("paths", nargs=-1, metavar="[PATH…]", type=click.Path(path_type=Path))
@click.option(
    "--host",
    "hosts",
    multiple=True,
    type=HOSTS,
    help="Only sessions of this host; flyball: sessions that hooks only observed.",
)
@click.option(
    "--since", default="", metavar="SPAN", help="Only sessions newer than this, such as 30d."
)
@click.option("--json", "as_json", is_flag=True, help="Print the whole report as one JSON object.")
@click.option(
    "--html",
    metavar="FILE",
    type=click.Path(path_type=Path),
    help="Write the report as one self-contained HTML page.",
)
@click.option("--share", is_flag=True, help="Omit code, paths, prompts and names.")
def audit(
    paths: tuple[Path, ...],
    hosts: tuple[str, ...],
    since: str,
    as_json: bool,
    html: Path | None,
    share: bool,
) -> None:
    """Audit recorded sessions: what your agents did, judged by the governor's rules.

    Without a path, the transcripts of Claude Code, Codex, Gemini CLI and opencode are read from
    their usual directories. Nothing leaves the machine, and nothing is written except an index in
    the state directory, so that a second audit reads only what is new.
    """
    from flyball.app.project import open_home
    from flyball.audit import auditing
    from flyball.audit.report import shared
    from flyball.errors import UsageError

    if as_json and html is not None:
        raise UsageError("Choose only one output format.", "Say either --json or --html FILE.")
    limits = open_home(Path.cwd(), os.environ, {}).effective.settings.policy.guards
    options = auditing.AuditOptions(paths, hosts, since)
    report = auditing.audit(options, os.environ, limits, watch=_progress())
    report = shared(report) if share else report
    if as_json:
        import msgspec

        say(msgspec.json.encode(_told(report)))
    elif html is not None:
        from flyball.cli.terminal.audit_page import audit_page

        html.write_text(audit_page(report), "utf-8")
        say(f"The report is in {html}.")
    else:
        from flyball.cli.terminal.audit_table import print_report

        print_report(report)


def _told(report: AuditReport) -> object:
    """Return the report without data that is only used to check for effects."""
    import msgspec

    bare = [msgspec.structs.replace(found, traces=()) for found in report.findings]
    worst = [
        msgspec.structs.replace(
            each, findings=[msgspec.structs.replace(f, traces=()) for f in each.findings]
        )
        for each in report.worst
    ]
    return msgspec.structs.replace(report, findings=bare, worst=worst)


def _progress() -> Callable[[AuditProgress], None]:
    """Return a function that shows progress, if the output is a terminal."""
    import sys

    if not sys.stderr.isatty():
        return lambda _: None
    from flyball.cli.terminal.edge import clean_console

    status = clean_console(stderr=True).status("reading transcripts")
    status.start()

    def tell(now: AuditProgress) -> None:
        share = 100 * now.bytes // max(now.of_bytes, 1)
        status.update(f"reading {now.files} of {now.of_files} transcripts, {share} %")
        if now.files == now.of_files:
            status.stop()

    return tell
