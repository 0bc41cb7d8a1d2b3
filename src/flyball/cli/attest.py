"""`flyball attest`: check verdicts that others attest, and repeat them."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from flyball.cli.card import JSON, REPO
from flyball.cli.terminal.edge import say

if TYPE_CHECKING:
    from flyball.app.attesting import Checked, Repeated
    from flyball.app.project import Home

FILE = click.Path(path_type=Path, dir_okay=False)
HEAD = click.option(
    "--head", default="HEAD", metavar="REF", help="The revision it must be about; default: HEAD."
)
TRUST_CONFIG = click.option(
    "--trust-config",
    type=FILE,
    metavar="FILE",
    help="The trust configuration of a Sigstore of your own; default: the public one.",
)
MOST = 20
"""Maximum differences to print; --json has all."""


@click.group()
def attest() -> None:
    """Check and repeat attested verdicts.

    `flyball verify --attest FILE` writes one: an in-toto statement about both trees and every test,
    signed with an SSH key, or in a forge's CI by the job's identity.
    """


@attest.command()
@REPO
@JSON
def key(repo: Path, as_json: bool) -> None:
    """Create Flyball's own signing key.

    It is used if git has no SSH signing key. The command prints the key's line for an
    allowed-signers file, which others need to check the signer.
    """
    import json
    import os

    from flyball.app.attesting import key_file, make_own_key
    from flyball.cli.terminal.view import home_at
    from flyball.hosts.person import require_person

    home = home_at(repo)
    require_person(home, os.environ)
    line, file = make_own_key(home), str(key_file(home.environ))
    say(json.dumps({"key": file, "allowed_signer": line}) if as_json else line)
    if not as_json:
        say(f"The key is in {file}. Give the line above to those who will check.", err=True)


@attest.command()
@click.argument("file", type=FILE, required=False)
@HEAD
@click.option(
    "--allowed-signers",
    type=FILE,
    metavar="FILE",
    help="Accept only these signers; default: git's gpg.ssh.allowedSignersFile.",
)
@click.option(
    "--identity", default="", metavar="NAME", help="Accept only this signer without a key."
)
@click.option(
    "--issuer", default="", metavar="URL", help="The service that vouches for the identity."
)
@TRUST_CONFIG
@REPO
@JSON
def check(
    file: Path | None,
    head: str,
    allowed_signers: Path | None,
    identity: str,
    issuer: str,
    trust_config: Path | None,
    repo: Path,
    as_json: bool,
) -> None:
    """Check who attested what about which trees.

    Without FILE, the note of the commit is checked. Any change to an attestation is refused with
    its location, and so is an attestation of another tree.
    """
    from flyball.app import attesting
    from flyball.attest import Trust
    from flyball.cli.terminal.view import home_at

    home = home_at(repo)
    trust = Trust(allowed_signers, identity, issuer, trust_config)
    found = attesting.check(home, _read(home, file, head), head=head, trust=trust)
    _print_checked_json(found) if as_json else _print_checked(found)


@attest.command()
@click.argument("file", type=FILE, required=False)
@HEAD
@REPO
@JSON
@click.pass_context
def rerun(ctx: click.Context, file: Path | None, head: str, repo: Path, as_json: bool) -> None:
    """Repeat an attested verdict, and compare every test.

    The exit code is 0 if every test ended the same, 4 if not, 3 if it cannot be run here.
    """
    from flyball.app import attesting
    from flyball.cli.terminal.view import home_at
    from flyball.cli.terminal.waiting import waiting

    home = home_at(repo)
    with waiting("Testing both trees again", as_json=as_json) as tell:
        found = attesting.rerun(home, _read(home, file, head), tell)
    _print_repeated_json(found) if as_json else _print_repeated(found)
    ctx.exit({"same": 0, "differs": 4, "cannot run": 3}[found.result])


@attest.command()
@click.argument("file", type=FILE)
@REPO
def note(file: Path, repo: Path) -> None:
    """Store an attestation in the notes of its commit.

    Share the notes with: git push origin refs/notes/flyball
    """
    from flyball.app.attesting import NOTES, write_note
    from flyball.cli.terminal.view import home_at

    home = home_at(repo)
    commit = write_note(home, _read(home, file, ""))
    say(f"It is in the notes of {commit[:12]}. To share it: git push origin {NOTES}")


@attest.command()
@click.argument("file", type=FILE)
@REPO
def trailer(file: Path, repo: Path) -> None:
    """Print the trailer of a merge commit that names it.

    `flyball attest check` then refuses any other attestation of that commit.
    """
    from flyball.app.attesting import trailer_of
    from flyball.cli.terminal.view import home_at

    say(trailer_of(_read(home_at(repo), file, "")))


def _read(home: Home, file: Path | None, head: str) -> bytes:
    from flyball.app.attesting import read_note
    from flyball.errors import NotFound

    if file is None:
        return read_note(home, head)
    try:
        return file.read_bytes()
    except OSError as error:
        raise NotFound("attestation", str(file), f"{error.strerror}.") from error


def _print_checked(found: Checked) -> None:
    attested = found.attestation.statement.attested
    for each in found.signatures:
        by, how = each.fingerprint, "--allowed-signers"
        if each.identity:
            by, how = f"{each.identity} of {each.issuer}", "--identity and --issuer"
        if each.signer:
            say(f"✓ signed by {each.signer} ({each.fingerprint or each.issuer})")
        else:
            say(f"· signed by {by}, who is not trusted: name the signers you trust with {how}")
    if not found.signatures:
        say("! It is not signed: anyone may have written it. `flyball attest rerun` repeats it.")
    mark = {"shown": "✓", "a question": "?", "not shown": "✗"}[attested.status]
    say(f"{mark} {attested.status}: {attested.label.removeprefix(f'{attested.status}: ')}")
    if attested.verdict.accepted_by:
        for each in attested.verdict.findings:
            if each.weight == "asks":
                say(f"  accepted by {attested.verdict.accepted_by}: {each.sentence}")
    old, new = (each.commit or each.tree for each in (attested.base, attested.head))
    say(f"  {old[:12]} → {new[:12]} (tree {attested.head.tree[:12]})")
    for run in attested.runs:
        tests = "1 test" if run.tests == 1 else f"{run.tests:,} tests"
        what = {"old": "old tree", "new": "new tree"}.get(run.run, run.run)
        say(f"  {what}: {run.suite}, {tests}, exit {run.exit_code}")
    platform, sandbox = attested.surroundings.platform, attested.surroundings.sandbox
    say(f"  Flyball {attested.flyball.version}, {platform}, sandbox: {sandbox}")


def _print_checked_json(found: Checked) -> None:
    import msgspec

    statement = found.attestation.statement
    signed = [each._asdict() for each in found.signatures]
    told = {
        "type": "attestation",
        "signatures": signed,
        "status": statement.attested.status,
        "label": statement.attested.label,
        "statement": msgspec.to_builtins(statement),
    }
    say(msgspec.json.encode(told))


def _print_repeated(found: Repeated) -> None:
    if found.result == "cannot run":
        say(f"? It cannot be run here: {found.reason}")
        return
    if found.result == "same":
        say("✓ same: every test of every run ended as attested")
        return
    count = len(found.differences)
    say(f"✗ differs: {count} {'test' if count == 1 else 'tests'} ended otherwise")
    for each in found.differences[:MOST]:
        say(f"  {each.run}: {f'{each.test}: ' if each.test else ''}{each.then} → {each.now}")
    if count > MOST:
        say(f"  … and {count - MOST} more (--json has all)")


def _print_repeated_json(found: Repeated) -> None:
    import json

    differences = [each._asdict() for each in found.differences]
    told = {"type": "rerun", "result": found.result, "reason": found.reason}
    say(json.dumps({**told, "differences": differences}))
