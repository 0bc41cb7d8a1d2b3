"""`flyball verify`: what may be said of a branch or a pull request, whoever wrote it."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from flyball.surfaces.cli.card import JSON, REPO
from flyball.surfaces.cli.terminal.edge import say

if TYPE_CHECKING:
    from flyball.app.verifying import Verified
    from flyball.core.terms.change_verdict import ChangeFinding

MOST_LINES = 12
"""How much of a changed test is shown in a terminal."""


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
        say("Testing both trees …", err=True)
    found = asyncio.run(verify_change(home_at(repo), base, head))
    if as_json:
        _print_json(found)
    else:
        _print(found, markdown=markdown)
        _warn(found)
    if found.has_changed:
        raise SystemExit({"shown": 0, "a question": 3, "not shown": 4}[found.verdict.status])


def _print_json(found: Verified) -> None:
    import msgspec

    from flyball.core.verdict.words import verdict_lines

    say(
        msgspec.json.encode(
            {
                "type": "verdict",
                "status": found.verdict.status if found.has_changed else "nothing changed",
                "base": found.base,
                "head": found.head,
                "sandbox": found.sandbox,
                "label": found.verdict.headline,
                "lines": verdict_lines(found.verdict),
                "verdict": msgspec.to_builtins(found.verdict),
            }
        )
    )


def _print(found: Verified, *, markdown: bool) -> None:
    from flyball.core.verdict.words import verdict_lines

    title = f"{found.base} → {found.head}"
    if not found.has_changed:
        say(f"{title}: nothing changed.")
        return
    status = found.verdict.status
    first, *lines = verdict_lines(found.verdict)
    first = first.removeprefix(f"{status}: ")
    if markdown:
        say(f"### {status.capitalize()}: {first}\n\n`{title}`\n")
        say("\n".join(f"- {line}" for line in lines))
        _print_texts(found)
        return
    mark = {"shown": "✓", "a question": "?", "not shown": "✗"}[status]
    say(f"{mark} {status}: {first}")
    say(f"  {title}")
    for line in lines:
        say(f"  {line}")
    for each in found.verdict.questions:
        _print_difference(each)
    if status == "a question":
        say("  A person decides whether that is meant; nothing else speaks against the change.")


def _print_difference(question: ChangeFinding) -> None:
    """A test before and after, line by line; the whole texts are in --markdown and --json."""
    from difflib import unified_diff

    from flyball.core.terms.shape import listed

    before, after = question.before.splitlines(), question.after.splitlines()
    lines = [*unified_diff(before, after, lineterm="", n=1)][3:]
    if lines:
        say(f"  {listed(question.tests)}, before and now:")
    for line in lines[:MOST_LINES]:
        say(f"    {line}", fg={"-": "red", "+": "green"}.get(line[0]))
    if len(lines) > MOST_LINES:
        say(f"    … and {len(lines) - MOST_LINES} more lines (--markdown has them)")


def _warn(found: Verified) -> None:
    from flyball.surfaces.cli.terminal.story import NO_SANDBOX
    from flyball.workspace.process.levels import SandboxLevel

    if found.has_changed and found.sandbox is SandboxLevel.NONE:
        say(f"! {NO_SANDBOX}", err=True)


def _print_texts(found: Verified) -> None:
    """Both versions of every test that a person is asked about."""
    for each in found.verdict.questions:
        if each.before or each.after:
            say(f"\n<details><summary>{each.sentence}</summary>\n")
            say(f"```\n{each.before}\n```\n\n```\n{each.after}\n```\n")
            say("</details>")
