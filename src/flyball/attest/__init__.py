"""Attest verdicts: signed, bound to both trees, and repeatable by anyone with the repository."""

from flyball.attest.envelope import Attestation, decode, encode
from flyball.attest.making import make_statement
from flyball.attest.signing import (
    KEYLESS,
    NAMESPACE,
    Keyless,
    Signature,
    SigningKey,
    Trust,
    check_signatures,
    keyless_signer,
    make_key,
    write_attestation,
)
from flyball.attest.statement import (
    AttestedTree,
    AttestedVerdict,
    Difference,
    Statement,
    compare_runs,
    outcomes_of,
)

__all__ = [
    "KEYLESS",
    "NAMESPACE",
    "Attestation",
    "AttestedTree",
    "AttestedVerdict",
    "Difference",
    "Keyless",
    "Signature",
    "SigningKey",
    "Statement",
    "Trust",
    "check_signatures",
    "compare_runs",
    "decode",
    "encode",
    "keyless_signer",
    "make_key",
    "make_statement",
    "outcomes_of",
    "write_attestation",
]
