"""Attest verdicts: signed, bound to both trees, and repeatable by anyone with the repository."""

from flyball.attest.envelope import Attestation, decode, encode
from flyball.attest.making import make_statement
from flyball.attest.signing import (
    NAMESPACE,
    Signature,
    SigningKey,
    check_signatures,
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
    "NAMESPACE",
    "Attestation",
    "AttestedTree",
    "AttestedVerdict",
    "Difference",
    "Signature",
    "SigningKey",
    "Statement",
    "check_signatures",
    "compare_runs",
    "decode",
    "encode",
    "make_key",
    "make_statement",
    "outcomes_of",
    "write_attestation",
]
