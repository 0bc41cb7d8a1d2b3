"""Attest a verdict, check an attestation against a repository, and take its verdict again."""

from __future__ import annotations

import asyncio
import hashlib
import os
from collections.abc import Callable, Mapping
from getpass import getuser
from pathlib import Path
from typing import Literal, NamedTuple

from flyball import attest
from flyball.app.project import Home, redactor_of
from flyball.app.settling import state_dir
from flyball.app.verifying import Verified, verify_change
from flyball.errors import BadAttestation, Conflict, FlyballError, NotFound, UsageError
from flyball.terms.progress import Progress, unwatched
from flyball.workspace.trees.git import (
    Git,
    Repository,
    UserConfig,
    find_git,
    find_repository,
    read_user_config,
    user_git,
)

NOTES = "refs/notes/flyball"
"""Where attestations are kept in a repository, one for each commit."""

TRAILER = "Flyball-Attestation"

NONE, GIT, OWN = "none", "git", "own"


class Checked(NamedTuple):
    """A valid attestation: its statement, and who signed it."""

    attestation: attest.Attestation
    signatures: tuple[attest.Signature, ...]


class Repeated(NamedTuple):
    """The result of taking a verdict again."""

    result: Literal["same", "differs", "cannot run"]
    reason: str = ""
    differences: tuple[attest.Difference, ...] = ()


class _Place(NamedTuple):
    """A user's repository, and the git program and configuration to use there."""

    repository: Repository
    git: Git
    config: UserConfig


def attest_verdict(
    home: Home, found: Verified, key: attest.SigningKey | attest.Keyless | None
) -> bytes:
    """Return the file that attests a verdict; without a key it is not signed."""
    return attest.write_attestation(_statement(home, found), key)


def _statement(home: Home, found: Verified) -> attest.Statement:
    if found.record is None:
        raise Conflict(
            "Nothing changed, so there is no verdict to attest.", "Name --base or --head."
        )
    old, new = (
        attest.AttestedTree(each.tree, each.commit or None) for each in (found.old, found.new)
    )
    return attest.make_statement(found.record, old, new, found.sandbox, redactor_of(home).text)


def find_key(
    home: Home, key: str = "", config: Path | None = None
) -> attest.SigningKey | attest.Keyless | None:
    """Return the key to sign with: the named one, git's own SSH key, or that of `attest key`."""
    if key == NONE:
        return None
    if key == attest.KEYLESS:
        return attest.keyless_signer(config)
    own = key_file(home.environ)
    of_git = _place(home).config.signing_key
    if key not in ("", GIT, OWN):
        return attest.SigningKey(key, home.environ)
    if key == GIT and not of_git:
        raise NotFound("signing key", "git", "Set gpg.format to ssh, and user.signingkey.")
    if key == OWN and not own.exists():
        raise NotFound("signing key", os.fspath(own), "Make it with `flyball attest key`.")
    named = of_git if of_git and key != OWN else os.fspath(own) if own.exists() else ""
    return attest.SigningKey(named, home.environ) if named else None


def key_file(environ: Mapping[str, str]) -> Path:
    """Return the path of Flyball's own signing key of this user."""
    # In a directory that is secret by its name, so that no pattern of an agent's command reads it.
    return state_dir(environ) / ".ssh" / "id_ed25519"


def make_own_key(home: Home) -> str:
    """Create Flyball's own signing key unless it exists; return its line for the allowed
    signers."""
    name = _place(home).config.identity.email or getuser()
    public = attest.make_key(key_file(home.environ), name, home.environ)
    return f'{name} namespaces="{attest.NAMESPACE}" {public}'


def check(
    home: Home, data: bytes, *, head: str = "HEAD", trust: attest.Trust | None = None
) -> Checked:
    """Return the statement of an attestation; raise if it is invalid or about another tree.

    If nobody to trust is named, git's allowed signers are.
    """
    place, named = _place(home), trust or attest.Trust()
    is_named = bool(named.allowed or named.identity)
    if bool(named.identity) != bool(named.issuer):
        raise UsageError(
            "An identity is trusted only together with its issuer.", "Name --identity and --issuer."
        )
    if not is_named:
        named = named._replace(allowed=place.config.allowed_signers)
    found = _validate(data, named)
    if is_named and not found.signatures:
        raise BadAttestation("signatures", "it is not signed")
    _require_trees(place.git, found.attestation.statement.attested, head)
    _require_trailer(place.git, data, head)
    return found


def _validate(data: bytes, trust: attest.Trust | None = None) -> Checked:
    """Return what an attestation says; raise where a signature or a field does not hold."""
    found = attest.decode(data)
    signatures = attest.check_signatures(found, trust)
    found.refuse_wrong_fields()
    return Checked(found, signatures)


def _require_trailer(git: Git, data: bytes, head: str) -> None:
    """Raise if the commit's own trailer names other attestations, but not this one."""
    commit = git.resolve(f"{head}^{{commit}}")
    shown = f"--format=%(trailers:key={TRAILER},unfold)"
    named = git.text("log", "-1", shown, commit).splitlines() if commit else []
    if any(named) and trailer_of(data) not in named:
        raise BadAttestation("the trailer of the commit", "it names another attestation")


def trailer_of(data: bytes) -> str:
    """Return the line by which a commit's message names an attestation."""
    return f"{TRAILER}: sha256:{hashlib.sha256(data).hexdigest()}"


def _require_trees(git: Git, attested: attest.AttestedVerdict, head: str) -> None:
    """Raise unless the attestation is about the tree of this revision."""
    asked = git.resolve(f"{head}^{{tree}}")
    if asked is None:
        raise NotFound("revision", head, "Name a branch, a tag or a commit of this repository.")
    of = attested.head
    if asked != of.tree:
        name = (of.commit or of.tree)[:12]
        raise BadAttestation(
            "subject",
            f"it is about {name}, and {head} is another tree ({asked[:12]}); "
            f"to check it for its own commit: --head {name}",
        )
    for field, tree in (("base", attested.base), ("head", of)):
        known = tree.commit and git.resolve(f"{tree.commit}^{{tree}}")
        if known and known != tree.tree:
            raise BadAttestation(field, "its commit has another tree")


def rerun(home: Home, data: bytes, tell: Callable[[Progress], None] = unwatched) -> Repeated:
    """Take the verdict again on the trees named in an attestation, and compare test by test."""
    then = _validate(data).attestation.statement.attested
    try:
        base, head = (_commit_of(home, each) for each in (then.base, then.head))
        now = _statement(home, asyncio.run(verify_change(home, base, head, tell))).attested
    except FlyballError as error:
        return Repeated("cannot run", str(error))
    if now.unavailable and now.unavailable != then.unavailable:
        return Repeated("cannot run", "; ".join(now.unavailable))
    differences = attest.compare_runs(then, now)
    return Repeated("differs" if differences else "same", differences=differences)


def _commit_of(home: Home, of: attest.AttestedTree) -> str:
    """Return a commit of this repository that has the tree."""
    git = _place(home).git
    if of.commit and git.resolve(f"{of.commit}^{{tree}}") == of.tree:
        return of.commit
    listed = git.call("log", "--all", "--format=%H %T").stdout.decode().split("\n")
    commit = next((line.split()[0] for line in listed if line.endswith(f" {of.tree}")), "")
    if not commit:
        name = of.commit or of.tree
        raise NotFound(
            "commit", name, f"Fetch it (`git fetch origin {name}`), or commit the tree it attests."
        )
    return commit


def write_note(home: Home, data: bytes) -> str:
    """Store an attestation in the notes of the commit it is about; return that commit."""
    attested = _validate(data).attestation.statement.attested
    place = _place(home)
    commit = _commit_of(home, attested.head)
    who = place.config.identity.environment()
    args = ("notes", f"--ref={NOTES}", "add", "-f", "-F", "-", commit)
    place.git.with_env(**who).call(*args, stdin=data)
    return commit


def read_note(home: Home, head: str) -> bytes:
    """Return the attestation in the notes of a commit."""
    git = _place(home).git
    commit = git.resolve(f"{head}^{{commit}}")
    if commit is None:
        raise NotFound("revision", head, "Name a branch, a tag or a commit of this repository.")
    done = git.call("notes", f"--ref={NOTES}", "show", commit, ok=(0, 1))
    if done.exit_code:
        raise NotFound(
            "attestation of commit",
            commit[:12],
            f"Name its file, or fetch the notes: git fetch origin {NOTES}:{NOTES}",
        )
    return done.stdout


def _place(home: Home) -> _Place:
    repository = find_repository(home.repo)
    if repository is None:
        raise NotFound(
            "git repository", os.fspath(home.repo), "Attestations are about git's trees."
        )
    git = user_git(repository, find_git())
    user = Path(home.environ.get("HOME", "") or Path.home())
    return _Place(repository, git, read_user_config(git, repository, user))
