"""Envelopes of statements: DSSE, written and accepted in one canonical form only.

A signature covers the statement as a whole, so it detects a changed byte but not where it is. The
checksums inside the statement locate the change.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
import json
from typing import Any, NamedTuple, TypeVar, cast

import msgspec

from flyball.attest.statement import Statement, find_contradiction
from flyball.errors import BadAttestation

PAYLOAD_TYPE = "application/vnd.in-toto+json"
LARGEST = 256 << 20
T = TypeVar("T")


class _Signature(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A signature and the fingerprint of its key."""

    keyid: str
    sig: str


class _Envelope(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A DSSE envelope."""

    payloadType: str  # noqa: N815
    payload: str
    signatures: tuple[_Signature, ...]


class Attestation(NamedTuple):
    """A parsed envelope: its statement, the signed bytes, and the signatures."""

    statement: Statement
    signed: bytes
    signatures: tuple[tuple[str, bytes], ...]
    """The fingerprint that each signature names, and the signature itself."""
    wrong_sums: tuple[str, ...]
    """The fields whose sums do not fit."""

    def refuse_wrong_fields(self) -> None:
        """Raise if a field does not match its checksum, or contradicts another; the error names the
        field."""
        if self.wrong_sums:
            raise BadAttestation(", ".join(self.wrong_sums), "the sum of its content is another")
        if found := find_contradiction(self.statement):
            raise BadAttestation(*found)


def signed_bytes(payload: bytes) -> bytes:
    """Return what a signature covers: DSSE's pre-authentication encoding."""
    kind = PAYLOAD_TYPE.encode()
    return b"DSSEv1 %d %s %d %s" % (len(kind), kind, len(payload), payload)


def payload_of(statement: Statement) -> bytes:
    """Return a statement in its canonical form, with the checksums of its fields."""
    plain = cast("dict[str, Any]", msgspec.to_builtins(statement))
    plain["predicate"]["flyball_sums"] = sums_of(plain)
    return canonical(plain)


def encode(payload: bytes, signatures: tuple[tuple[str, bytes], ...] = ()) -> bytes:
    """Return the file of an attestation."""
    signed = [{"keyid": key, "sig": base64.b64encode(sig).decode()} for key, sig in signatures]
    plain = {
        "payload": base64.b64encode(payload).decode(),
        "payloadType": PAYLOAD_TYPE,
        "signatures": signed,
    }
    return canonical(plain) + b"\n"


def decode(data: bytes) -> Attestation:
    """Read the file of an attestation; raise at the first place that was changed after writing."""
    if len(data) > LARGEST:
        raise BadAttestation("the file", "it is too large")
    envelope = _parse(data, _Envelope, "the envelope")
    if envelope.payloadType != PAYLOAD_TYPE:
        raise BadAttestation("payloadType", f"it is not {PAYLOAD_TYPE}")
    payload = _unbase64(envelope.payload, "payload")
    signatures = tuple(
        (each.keyid, _unbase64(each.sig, f"signatures[{n}].sig"))
        for n, each in enumerate(envelope.signatures)
    )
    require_same(data, encode(payload, signatures), "the envelope")
    statement = _parse(payload, Statement, "the statement")
    # Written again from what was understood: what no reader here knows is not passed over.
    plain = cast("dict[str, Any]", msgspec.to_builtins(statement))
    require_same(payload, canonical(plain), "the statement")
    stored: dict[str, str] = plain["predicate"]["flyball_sums"]
    actual = sums_of(plain)
    wrong = sorted(
        name for name in stored.keys() | actual.keys() if stored.get(name) != actual.get(name)
    )
    return Attestation(statement, signed_bytes(payload), signatures, tuple(wrong))


def sums_of(statement: dict[str, Any]) -> dict[str, str]:
    """Return the SHA-256 of each field of a statement, its predicate and Flyball's extension."""
    predicate = cast("dict[str, Any]", statement["predicate"])
    inner = cast("dict[str, Any]", predicate["flyball_verdict"])
    nested = ("predicate", "flyball_verdict", "flyball_sums")
    fields = {**statement, **predicate, **inner}
    return {
        name: hashlib.sha256(canonical(value)).hexdigest()
        for name, value in fields.items()
        if name not in nested
    }


def canonical(value: object) -> bytes:
    """Return JSON in the one form that is written and accepted."""
    return json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False).encode(
        errors="surrogatepass"
    )


def _parse(data: bytes, kind: type[T], what: str) -> T:
    try:
        return msgspec.json.decode(data, type=kind)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError) as error:
        raise BadAttestation(what, str(error)) from error


def _unbase64(text: str, where: str) -> bytes:
    try:
        return base64.b64decode(text, validate=True)
    except (binascii.Error, ValueError) as error:
        raise BadAttestation(where, "it is not base64") from error


def require_same(data: bytes, canonical: bytes, what: str) -> None:
    """Raise if the bytes are not in canonical form: readers must not disagree about them."""
    if data == canonical:
        return
    shortest = min(len(data), len(canonical))
    at = next((n for n in range(shortest) if data[n] != canonical[n]), shortest)
    raise BadAttestation(what, f"byte {at} is not as Flyball writes it")
