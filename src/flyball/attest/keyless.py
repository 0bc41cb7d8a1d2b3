"""Sign and check attestations by an identity instead of a key, with Sigstore.

A forge's CI vouches for the job that runs; a certificate for a few minutes and a public log do the
rest. Needs the extra `sigstore`, so this module is imported only for such signatures.
"""

from __future__ import annotations

import json
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

from cryptography.x509 import (
    Certificate,
    ExtensionNotFound,
    ObjectIdentifier,
    RFC822Name,
    SubjectAlternativeName,
    UniformResourceIdentifier,
    UnrecognizedExtension,
)
from sigstore.errors import Error, VerificationError
from sigstore.models import Bundle, ClientTrustConfig
from sigstore.oidc import IdentityToken, detect_credential
from sigstore.sign import SigningContext
from sigstore.verify import Verifier

from flyball.attest.envelope import canonical, require_same
from flyball.errors import BadAttestation, NotFound, ToolUnavailable, UsageError

_ISSUER = ObjectIdentifier("1.3.6.1.4.1.57264.1.1")
"""Where a certificate of Sigstore names who vouched for the identity."""


class Identity(NamedTuple):
    """Who signed, and the service that vouched for it."""

    name: str
    issuer: str


def sign(data: bytes, config: Path | None) -> bytes:
    """Return a Sigstore bundle with a signature of these bytes by this CI job's identity."""
    with _failures_of("Sigstore cannot sign", "Try again, or use a key: `flyball attest key`."):
        token = detect_credential()
        if not token:
            raise UsageError(
                "Nothing here vouches for an identity: this is no job of a CI that can.",
                "Sign with a key (`flyball attest key`), or run this in your forge's CI.",
            )
        context = SigningContext.from_trust_config(_trust_config(config))
        with context.signer(IdentityToken(token)) as signer:
            bundle = signer.sign_artifact(data)
    return canonical(json.loads(bundle.to_json()))


def find_signer(data: bytes, blob: bytes, config: Path | None, place: str) -> Identity:
    """Return who signed these bytes; raise if the bundle does not hold for them."""
    place = f"{place}.sig"
    try:
        bundle = Bundle.from_json(blob)
        read = canonical(json.loads(bundle.to_json()))
    except (Error, ValueError, RecursionError) as error:
        raise BadAttestation(place, "it is no Sigstore bundle") from error
    require_same(blob, read, place)
    with _failures_of(
        "Sigstore's trust root cannot be had", "Try again, or name its file: --trust-config."
    ):
        verifier = Verifier(trusted_root=_trust_config(config).trusted_root)
    found = _Found()
    try:
        verifier.verify_artifact(data, bundle, found)
    except (Error, ValueError) as error:
        raise BadAttestation(place, f"the bundle does not hold: {error}") from error
    return found.identity


class _Found:
    """A verification policy that keeps the certificate's identity for who asked."""

    identity = Identity("", "")

    def verify(self, cert: Certificate) -> None:
        try:
            names = cert.extensions.get_extension_for_class(SubjectAlternativeName).value
            issuer = cert.extensions.get_extension_for_oid(_ISSUER).value
        except ExtensionNotFound as error:
            raise VerificationError("the certificate names no identity and issuer") from error
        found: list[str] = names.get_values_for_type(UniformResourceIdentifier)
        found += names.get_values_for_type(RFC822Name)
        if len(found) != 1 or not isinstance(issuer, UnrecognizedExtension):
            raise VerificationError("the certificate names no single identity")
        self.identity = Identity(found[0], issuer.value.decode(errors="replace"))


def _trust_config(file: Path | None) -> ClientTrustConfig:
    """Return the configuration of the public Sigstore, or of the one that a file describes."""
    if file is None:
        return ClientTrustConfig.production()
    try:
        return ClientTrustConfig.from_json(file.read_text(encoding="utf-8"))
    except OSError as error:
        raise NotFound("trust configuration", str(file), f"{error.strerror}.") from error
    except (Error, ValueError) as error:
        raise UsageError(
            f"{file} is no trust configuration of Sigstore.",
            "It is JSON of the type application/vnd.dev.sigstore.clienttrustconfig.v0.1+json.",
        ) from error


@contextmanager
def _failures_of(what: str, hint: str) -> Generator[None]:
    """Turn what a service or its client raises into one error that says what failed."""
    try:
        yield
    except (UsageError, NotFound):
        raise
    # Its services fail with errors of the client's private modules, and of its HTTP library.
    except Exception as error:
        why = str(error) or type(error).__name__
        raise ToolUnavailable(f"{what}: {why.rstrip('.')}.", hint) from error
