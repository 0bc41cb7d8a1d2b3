"""Sign attestations with SSH keys through `ssh-keygen -Y`: the keys that people sign commits
with."""

from __future__ import annotations

import base64
import os
import re
import shutil
import tempfile
from collections.abc import Generator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

from flyball.attest.envelope import Attestation, encode, payload_of, signed_bytes
from flyball.attest.statement import Statement
from flyball.errors import BadAttestation, NotFound, ToolUnavailable, UsageError
from flyball.regex import regex
from flyball.workspace.process.spawn import OwnOutput, run_sync

NAMESPACE = "flyball-verdict"
"""Part of every signature, so that none made for another purpose counts here."""

_BEGIN, _END = "-----BEGIN SSH SIGNATURE-----", "-----END SSH SIGNATURE-----"
_FINGERPRINT = regex(r"SHA256:[A-Za-z0-9+/]{43}")
_PUBLIC = regex(r"(?:key::)?((?:ssh|ecdsa|sk)-[\w@.-]+ [A-Za-z0-9+/=]+.*)")


class SigningKey(NamedTuple):
    """A key to sign with: the file of a private key, or a public key that an SSH agent holds."""

    named: str
    environ: Mapping[str, str]


class Signature(NamedTuple):
    """A signer: the key's fingerprint, and its name in an allowed-signers file."""

    fingerprint: str
    signer: str = ""


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


def write_attestation(statement: Statement, key: SigningKey | None) -> bytes:
    """Return the file that attests a statement; without a key it is not signed."""
    payload = payload_of(statement)
    return encode(payload, (sign(signed_bytes(payload), key),) if key else ())


def check_signatures(found: Attestation, allowed: Path | None = None) -> tuple[Signature, ...]:
    """Return who signed an attestation; raise if a signature is invalid, naming which."""
    signatures: list[Signature] = []
    for n, (keyid, blob) in enumerate(found.signatures):
        try:
            signature = find_signer(found.signed, blob, allowed, f"signatures[{n}]")
        except BadAttestation as error:
            # What was changed is named where the sums can tell.
            if found.wrong_sums:
                raise BadAttestation(", ".join(found.wrong_sums), "it was changed") from error
            raise
        if signature.fingerprint != keyid:
            raise BadAttestation(f"signatures[{n}].keyid", "the signature is by another key")
        signatures.append(signature)
    return tuple(signatures)


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
