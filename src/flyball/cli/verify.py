"""`flyball verify`: verify a branch or a pull request of any author."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from flyball.cli.attest import TRUST_CONFIG
from flyball.cli.card import JSON, REPO
from flyball.cli.terminal.edge import say

if TYPE_CHECKING:
    from flyball.app.project import Home
    from flyball.app.verifying import Verified
    from flyball.attest import Keyless, SigningKey
    from flyball.terms.change_verdict import ChangeFinding

FILE = click.Path(path_type=Path, dir_okay=False)
MOST_LINES = 12
"""Maximum lines of a changed test to print in a terminal."""


@click.command()
@click.option(
    "--base", default="", metavar="REF", help="The revision to compare with; default: HEAD."
)
@click.option(
    "--head", default="", metavar="REF", help="The revision to verify; default: the working tree."
)
@click.option(
    "--plain-check",
    is_flag=True,
    help="If old tests fail, run them unconfined as you would, and set aside what then passes.",
)
@click.option("--markdown", is_flag=True, help="Print Markdown, for a comment on a pull request.")
@click.option(
    "--github", is_flag=True, help="Also annotate the files and fill the summary of a workflow."
)
@click.option("--junit", metavar="FILE", type=FILE, help="Also write a JUnit report there.")
@click.option("--sarif", metavar="FILE", type=FILE, help="Also write the findings as SARIF there.")
@click.option("--attest", metavar="FILE", type=FILE, help="Also write a signed attestation there.")
@click.option(
    "--key",
    default="",
    metavar="KEY",
    help="Sign with this SSH key; git, own, none, or sigstore (a CI job's identity). "
    "Default: git's key, else Flyball's own.",
)
@TRUST_CONFIG
@REPO
@JSON
def verify(
    base: str,
    head: str,
    plain_check: bool,
    markdown: bool,
    github: bool,
    junit: Path | None,
    sarif: Path | None,
    attest: Path | None,
    key: str,
    trust_config: Path | None,
    repo: Path,
    as_json: bool,
) -> None:
    """Verify a change: tests from red to green, regressions, weakened tests.

    Both trees are checked out clean and tested in parallel; the old tests are run on the new code,
    and the new tests on the old code. The exit code is 0 if the change is shown to work, 4 if it is
    not, 3 if a person must decide.
    """
    import asyncio
    import os

    from flyball.app.attesting import NONE, find_key
    from flyball.app.verifying import verify_change
    from flyball.cli.terminal.view import home_at
    from flyball.cli.terminal.waiting import waiting
    from flyball.errors import FlyballError
    from flyball.hosts.person import require_person
    from flyball.verdict.formats import as_data

    home = home_at(repo)
    signer = None
    if attest is not None and key != NONE:
        # A signature is the person's word, and an agent may not give it.
        require_person(home, os.environ)
        signer = find_key(home, key, trust_config)
    try:
        with waiting("Testing both trees", as_json=as_json) as tell:
            found = asyncio.run(verify_change(home, base, head, tell, is_plain_checked=plain_check))
    except FlyballError as error:
        if github:
            # Only an annotation is seen by who does not open the log.
            say(f"::error title=flyball::{as_data(str(error))}")
        raise
    _write_files(found, home.repo, junit, sarif)
    if attest is not None:
        _write_attestation(home, found, attest, signer)
    _report(found, home.repo, as_json=as_json, github=github, markdown=markdown)
    if found.has_changed:
        raise SystemExit({"shown": 0, "a question": 3, "not shown": 4}[found.verdict.status])


def _report(found: Verified, repo: Path, *, as_json: bool, github: bool, markdown: bool) -> None:
    if as_json:
        _print_json(found)
        return
    if github:
        _print_for_github(found, repo)
    else:
        _print(found, markdown=markdown)
    _warn(found)


def _print_json(found: Verified) -> None:
    import msgspec

    from flyball.verdict.words import verdict_lines

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


def _write_files(found: Verified, repo: Path, junit: Path | None, sarif: Path | None) -> None:
    from importlib.metadata import version

    from flyball.verdict import formats

    if junit is not None:
        junit.write_text(formats.junit(found.verdict), encoding="utf-8")
    if sarif is not None:
        text = formats.sarif(
            found.verdict, lambda path: (repo / path).is_file(), version("flyball")
        )
        sarif.write_text(text, encoding="utf-8")


def _write_attestation(
    home: Home, found: Verified, file: Path, key: SigningKey | Keyless | None
) -> None:
    from flyball.app.attesting import attest_verdict

    data = attest_verdict(home, found, key)
    file.write_bytes(data)
    if b'"signatures":[]' in data:
        say(f"! {file} is not signed: `flyball attest key` makes a key.", err=True)


def _print_for_github(found: Verified, repo: Path) -> None:
    """Print the verdict to the log, with an annotation for each finding, and write the summary."""
    import os
    import secrets

    from flyball.verdict.formats import markdown, workflow_commands

    # Test names and texts of a change are in the log: none of them may act as a workflow command.
    token = secrets.token_hex(16)
    say(f"::stop-commands::{token}")
    _print(found, markdown=False)
    say(f"::{token}::")
    for line in workflow_commands(found.verdict, lambda path: (repo / path).is_file()):
        say(line)
    if summary := os.environ.get("GITHUB_STEP_SUMMARY"):
        title = f"{found.base} → {found.head}"
        with Path(summary).open("a", encoding="utf-8") as file:
            file.write(f"{markdown(found.verdict, title)}\n")


def _print(found: Verified, *, markdown: bool) -> None:
    from flyball.verdict import formats
    from flyball.verdict.words import verdict_lines

    title = f"{found.base} → {found.head}"
    if markdown:
        say(formats.markdown(found.verdict, title))
        return
    status = found.verdict.status
    first, *lines = verdict_lines(found.verdict)
    first = first.removeprefix(f"{status}: ")
    mark = {"shown": "✓", "a question": "?", "not shown": "✗"}[status]
    say(f"{mark} {status}: {first}" if found.has_changed else f"· {first}")
    say(f"  {title}")
    if not found.has_changed:
        say("  Both trees are equal. For a branch: --base main --head TOPIC; a commit: --head REF.")
    for line in lines:
        say(f"  {line}")
    for each in found.verdict.questions:
        _print_difference(each)
    if status == "a question":
        say("  A person decides whether this is intended; there is no other objection.")


def _print_difference(question: ChangeFinding) -> None:
    """Print a test before and after as a diff; --markdown and --json have the whole texts."""
    from difflib import unified_diff

    from flyball.terms.shape import listed

    before, after = question.before.splitlines(), question.after.splitlines()
    lines = [*unified_diff(before, after, lineterm="", n=1)][3:]
    if lines:
        say(f"  {listed(question.tests)}, before and now:")
    for line in lines[:MOST_LINES]:
        say(f"    {line}", fg={"-": "red", "+": "green"}.get(line[0]))
    if len(lines) > MOST_LINES:
        say(f"    … and {len(lines) - MOST_LINES} more lines (--markdown has them)")


def _warn(found: Verified) -> None:
    from flyball.cli.terminal.story import NO_SANDBOX
    from flyball.workspace.process.levels import SandboxLevel

    if found.has_changed and found.sandbox is SandboxLevel.NONE:
        say(f"! {NO_SANDBOX}", err=True)
