"""Sign attestations and check who signed: with SSH keys through `ssh-keygen -Y`, the keys that
people sign commits with, or without a key, by an identity (`keyless.py`)."""

from __future__ import annotations

import base64
import os
import re
import shutil
import tempfile
from collections.abc import Generator, Mapping
from contextlib import contextmanager
from importlib import import_module
from pathlib import Path
from typing import Any, NamedTuple

from flyball.attest.envelope import Attestation, encode, payload_of, signed_bytes
from flyball.attest.statement import Statement
from flyball.errors import BadAttestation, MissingExtra, NotFound, ToolUnavailable, UsageError
from flyball.regex import regex
from flyball.workspace.process.spawn import OwnOutput, run_sync

NAMESPACE = "flyball-verdict"
"""Part of every signature, so that none made for another purpose counts here."""

KEYLESS = "sigstore"
"""The key's name in a signature that was made by an identity; the signature is a bundle."""

_BEGIN, _END = "-----BEGIN SSH SIGNATURE-----", "-----END SSH SIGNATURE-----"
_FINGERPRINT = regex(r"SHA256:[A-Za-z0-9+/]{43}")
_PUBLIC = regex(r"(?:key::)?((?:ssh|ecdsa|sk)-[\w@.-]+ [A-Za-z0-9+/=]+.*)")


class SigningKey(NamedTuple):
    """A key to sign with: the file of a private key, or a public key that an SSH agent holds."""

    named: str
    environ: Mapping[str, str]


class Keyless(NamedTuple):
    """The identity of this CI job, which the public Sigstore or another one certifies."""

    config: Path | None = None
    """The trust configuration of another one."""


class Trust(NamedTuple):
    """Whose signatures to accept; if nobody is named, any valid signature."""

    allowed: Path | None = None
    """A file of allowed signers."""
    identity: str = ""
    issuer: str = ""
    """An identity, and the service that vouches for it."""
    config: Path | None = None


class Signature(NamedTuple):
    """A signer: the fingerprint of a key, or an identity with its issuer."""

    fingerprint: str = ""
    signer: str = ""
    """The name under which it is trusted."""
    identity: str = ""
    issuer: str = ""


def make_key(file: Path, comment: str, environ: Mapping[str, str]) -> str:
    """Create an Ed25519 key without a passphrase, readable only by its owner; return its public
    part."""
    if file.exists():
        return file.with_name(f"{file.name}.pub").read_text().strip()
    file.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    _keygen("-q", "-t", "ed25519", "-N", "", "-C", comment, "-f", os.fspath(file), environ=environ)
    return file.with_name(f"{file.name}.pub").read_text().strip()


def sign(data: bytes, key: SigningKey) -> tuple[str, bytes]:
    """Return the fingerprint of the key and its signature of these bytes."""
    with _key_file(key) as file:
        done = _keygen(
            "-Y", "sign", "-n", NAMESPACE, "-f", file, stdin=data, environ=key.environ, ok=(0, 255)
        )
    text = done.stdout.decode(errors="replace")
    if done.exit_code or _BEGIN not in text:
        raise UsageError(
            f"The key {key.named} cannot sign: {_last_line(done)}.",
            "Add it to your agent with `ssh-add`, or make one with `flyball attest key`.",
        )
    blob = base64.b64decode("".join(text.split(_BEGIN)[1].split(_END)[0].split()))
    return find_signer(data, blob).fingerprint, blob


def write_attestation(statement: Statement, key: SigningKey | Keyless | None) -> bytes:
    """Return the file that attests a statement; without a key it is not signed."""
    payload = payload_of(statement)
    data = signed_bytes(payload)
    if key is None:
        return encode(payload)
    if isinstance(key, Keyless):
        return encode(payload, ((KEYLESS, _keyless().sign(data, key.config)),))
    return encode(payload, (sign(data, key),))


def check_signatures(found: Attestation, trust: Trust | None = None) -> tuple[Signature, ...]:
    """Return who signed an attestation; raise if a signature is invalid, naming which.

    Without `trust`, identities are not looked at: they need Sigstore's client and its services.
    """
    signatures: list[Signature] = []
    for n, (keyid, blob) in enumerate(found.signatures):
        if trust is None and keyid == KEYLESS:
            continue
        try:
            signatures.append(_check(found.signed, keyid, blob, trust or Trust(), n))
        except BadAttestation as error:
            # What was changed is named where the sums can tell.
            if found.wrong_sums:
                raise BadAttestation(", ".join(found.wrong_sums), "it was changed") from error
            raise
    return tuple(signatures)


def _check(data: bytes, keyid: str, blob: bytes, trust: Trust, n: int) -> Signature:
    place = f"signatures[{n}]"
    if keyid == KEYLESS:
        name, issuer = _keyless().find_signer(data, blob, trust.config, place)
        return _trusted(Signature(identity=name, issuer=issuer), trust, place)
    if trust.identity and trust.allowed is None:
        raise BadAttestation(place, f"it is by a key, and not by {trust.identity}")
    signature = find_signer(data, blob, trust.allowed, place)
    if signature.fingerprint != keyid:
        raise BadAttestation(f"{place}.keyid", "the signature is by another key")
    return signature


def _trusted(found: Signature, trust: Trust, place: str) -> Signature:
    """Return a signature with the name under which it is trusted; raise if others are."""
    if not trust.identity:
        if trust.allowed is None:
            return found
        raise BadAttestation(
            place, f"it is by {found.identity} of {found.issuer}, and only keys are allowed"
        )
    if found.identity != trust.identity:
        raise BadAttestation(f"{place}.identity", f"it is by {found.identity}")
    if found.issuer != trust.issuer:
        raise BadAttestation(f"{place}.issuer", f"{found.issuer} vouches for {found.identity}")
    return found._replace(signer=found.identity)


def keyless_signer(config: Path | None = None) -> Keyless:
    """Return what signs by this job's identity; raise `MissingExtra` if it is not installed."""
    _keyless()
    return Keyless(config)


def _keyless() -> Any:
    """Import what signs and checks without keys; raise `MissingExtra` if it is not installed."""
    try:
        return import_module("flyball.attest.keyless")
    except ModuleNotFoundError as error:
        raise MissingExtra(
            "A signature without a key", error.name or "sigstore", "sigstore"
        ) from None


def find_signer(
    data: bytes, blob: bytes, allowed: Path | None = None, place: str = "signatures"
) -> Signature:
    """Return who signed these bytes; raise if the signature is for other bytes or from an unknown
    key."""
    with tempfile.TemporaryDirectory(prefix="flyball-signature-") as name:
        file = Path(name, "sig")
        file.write_text(f"{_BEGIN}\n{_wrapped(blob)}\n{_END}\n")
        at = ("-n", NAMESPACE, "-s", os.fspath(file))
        done = _keygen("-Y", "check-novalidate", *at, stdin=data, ok=(0, 255))
        found = _FINGERPRINT.search(done.stdout.decode(errors="replace"))
        if done.exit_code or found is None:
            raise BadAttestation(place, "the signature does not belong to this statement")
        if allowed is None:
            return Signature(found[0])
        name = _principal(data, file, allowed)
        if not name:
            raise BadAttestation(place, f"{found[0]} is not an allowed signer of {allowed}")
        return Signature(found[0], name)


def _principal(data: bytes, signature: Path, allowed: Path) -> str:
    """Return the name under which a file of allowed signers lists the key, or ""."""
    if not allowed.is_file():
        raise NotFound(
            "file of allowed signers", os.fspath(allowed), "Each line: NAME KEYTYPE KEY."
        )
    known = ("-f", os.fspath(allowed), "-s", os.fspath(signature))
    listed = _keygen("-Y", "find-principals", *known, ok=(0, 255)).stdout.decode(errors="replace")
    for name in listed.split("\n"):
        asked = ("-Y", "verify", "-n", NAMESPACE, "-I", name, *known)
        if name and _keygen(*asked, stdin=data, ok=(0, 255)).exit_code == 0:
            return name
    return ""


@contextmanager
def _key_file(key: SigningKey) -> Generator[str]:
    """Yield the file that names a key; a public key given as text is written to one."""
    if public := _PUBLIC.fullmatch(key.named.strip()):
        with tempfile.TemporaryDirectory(prefix="flyball-key-") as name:
            file = Path(name, "key.pub")
            file.write_text(f"{public[1]}\n")
            yield os.fspath(file)
        return
    named, home = key.named, key.environ.get("HOME", "")
    file = Path(f"{home}/{named[2:]}" if named.startswith("~/") else named)
    if not file.is_file():
        raise NotFound("signing key", os.fspath(file), "Make one with `flyball attest key`.")
    yield os.fspath(file.absolute())


def _keygen(
    *args: str,
    stdin: bytes = b"",
    environ: Mapping[str, str] | None = None,
    ok: tuple[int, ...] = (0,),
) -> OwnOutput:
    program = shutil.which("ssh-keygen")
    if program is None:
        raise ToolUnavailable(
            "ssh-keygen was not found on PATH; it signs and checks attestations.",
            "Install OpenSSH's client, or attest without a signature.",
        )
    kept = ("HOME", "PATH", "SSH_AUTH_SOCK")
    env = {name: value for name, value in (environ or os.environ).items() if name in kept}
    done = run_sync((program, *args), cwd=Path("/"), env=env, seconds=60.0, stdin=stdin)
    if done.exit_code not in ok:
        raise UsageError(f"ssh-keygen failed: {_last_line(done)}.", "Check the key's file.")
    return done


def _last_line(done: OwnOutput) -> str:
    lines = done.stderr.decode(errors="replace").strip().splitlines()
    return lines[-1].rstrip(".") if lines else f"exit code {done.exit_code}"


def _wrapped(blob: bytes) -> str:
    return "\n".join(re.findall(".{1,70}", base64.b64encode(blob).decode()))
