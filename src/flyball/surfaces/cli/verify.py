"""`flyball verify`: what may be said of a branch or a pull request, whoever wrote it."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from flyball.surfaces.cli.card import JSON, REPO

if TYPE_CHECKING:
    from flyball.app.verifying import Verified


@click.command()
@click.option(
    "--base", default="", metavar="REF", help="Where the change begins; HEAD unless given."
)
@click.option(
    "--head", default="", metavar="REF", help="Where it leads; the working tree unless given."
)
@click.option("--markdown", is_flag=True, help="Print Markdown, for a comment on a pull request.")
@REPO
@JSON
def verify(base: str, head: str, markdown: bool, repo: Path, as_json: bool) -> None:
    """Show what a change does to the tests: red to green, regressions, weakened tests.

    Both trees are checked out clean and tested side by side; the old tests are run on the new code,
    and the new tests on the old code. The exit code is 0 if it is shown that the change works, 4 if
    it is not, 3 if a person must decide.
    """
    import asyncio
    import sys

    from flyball.app.verifying import verify_change
    from flyball.surfaces.cli.terminal.view import home_at

    if not as_json and sys.stderr.isatty():
        click.echo("Testing both trees …", err=True)
    found = asyncio.run(verify_change(home_at(repo), base, head))
    if as_json:
        _print_json(found)
    else:
        _print(found, markdown=markdown)
    if found.has_changed:
        raise SystemExit({"shown": 0, "a question": 3, "not shown": 4}[found.verdict.status])


def _print_json(found: Verified) -> None:
    import msgspec

    from flyball.core.verdict.words import verdict_lines

    click.echo(
        msgspec.json.encode(
            {
                "type": "verdict",
                "status": found.verdict.status if found.has_changed else "nothing changed",
                "base": found.base,
                "head": found.head,
                "label": found.verdict.headline,
                "lines": verdict_lines(found.verdict),
                "verdict": msgspec.to_builtins(found.verdict),
            }
        )
    )


def _print(found: Verified, *, markdown: bool) -> None:
    from flyball.core.verdict.words import verdict_lines
    from flyball.surfaces.cli.terminal.story import printable

    title = f"{found.base} → {found.head}"
    if not found.has_changed:
        click.echo(f"{title}: nothing changed.")
        return
    status = found.verdict.status
    first, *lines = verdict_lines(found.verdict)
    if markdown:
        click.echo(f"### {status.capitalize()}: {first}\n\n`{title}`\n")
        click.echo("\n".join(f"- {printable(line)}" for line in lines))
        _print_texts(found)
        return
    mark = {"shown": "✓", "a question": "?", "not shown": "✗"}[status]
    click.echo(f"{mark} {status}: {first}")
    click.echo(f"  {title}")
    for line in lines:
        click.echo(f"  {printable(line)}")


def _print_texts(found: Verified) -> None:
    """Both versions of every test that a person is asked about."""
    from flyball.surfaces.cli.terminal.story import printable

    for each in found.verdict.questions:
        if each.before or each.after:
            click.echo(f"\n<details><summary>{printable(each.sentence)}</summary>\n")
            click.echo(f"```\n{printable(each.before)}\n```\n\n```\n{printable(each.after)}\n```\n")
            click.echo("</details>")
