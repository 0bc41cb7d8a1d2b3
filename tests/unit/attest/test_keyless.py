"""Signatures without a key, by the real client of Sigstore against one on the loopback."""

from __future__ import annotations

import base64
import json
import sys
from collections.abc import Generator, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import msgspec
import pytest
from tests.sigstore_services import ISSUER, WORKFLOW, Sigstore, serving
from tests.unit.attest.test_attest import RECORD, statement

from flyball import attest
from flyball.errors import BadAttestation, MissingExtra, ToolUnavailable, UsageError

PLACE = "signatures[0]"
HINTS = {"messageDigest", "timestampVerificationData", "rfc3161Timestamps"}
"""What a bundle of this log may leave out: the signed bytes' own digest, and no timestamps."""


class Signed(NamedTuple):
    """An attestation that a job signed, the Sigstore that certified it, and how to trust that."""

    data: bytes
    services: Sigstore
    config: Path

    def check(
        self, data: bytes, identity: str = WORKFLOW, issuer: str = ISSUER
    ) -> tuple[attest.Signature, ...]:
        trust = attest.Trust(identity=identity, issuer=issuer, config=self.config)
        return attest.check_signatures(attest.decode(data), trust)


@pytest.fixture(scope="module")
def signed(tmp_path_factory: pytest.TempPathFactory) -> Generator[Signed]:
    config = tmp_path_factory.mktemp("trust") / "config.json"
    with serving() as services, pytest.MonkeyPatch.context() as patch:
        config.write_text(services.trust_config())
        for name, value in services.environment().items():
            patch.setenv(name, value)
        data = attest.write_attestation(statement(), attest.Keyless(config))
        yield Signed(data, services, config)


def refused(signed: Signed, data: bytes, **who: str) -> str:
    with pytest.raises(BadAttestation) as error:
        signed.check(data, **who)
    return error.value.place


def bundle_of(data: bytes) -> dict[str, Any]:
    ((_, blob),) = attest.decode(data).signatures
    return json.loads(blob)


def with_bundle(data: bytes, blob: bytes) -> bytes:
    signature = {"keyid": attest.KEYLESS, "sig": base64.b64encode(blob).decode()}
    return as_written({**json.loads(data), "signatures": [signature]}) + b"\n"


def as_written(plain: Any) -> bytes:
    return json.dumps(plain, sort_keys=True, separators=(",", ":")).encode()


def test_job_signs_and_anyone_checks_whose_job_it_was(signed: Signed):
    found = attest.decode(signed.data)
    (known,) = attest.check_signatures(found, attest.Trust(config=signed.config))
    assert (known.identity, known.issuer, known.signer) == (WORKFLOW, ISSUER, "")
    (trusted,) = signed.check(signed.data)
    assert trusted.signer == WORKFLOW


@pytest.mark.parametrize(("who", "place"), [
    ({"identity": f"{WORKFLOW}2"}, f"{PLACE}.identity"),
    ({"identity": WORKFLOW.replace("main", "other")}, f"{PLACE}.identity"),
    ({"issuer": f"{ISSUER}.example"}, f"{PLACE}.issuer"),
])  # fmt: skip
def test_another_identity_or_issuer_is_refused(signed: Signed, who: dict[str, str], place: str):
    assert refused(signed, signed.data, **who) == place


def test_identity_is_not_accepted_where_only_keys_are(signed: Signed, tmp_path: Path):
    trust = attest.Trust(tmp_path / "signers", config=signed.config)
    with pytest.raises(BadAttestation) as error:
        attest.check_signatures(attest.decode(signed.data), trust)
    assert error.value.place == PLACE


def test_key_is_not_accepted_where_an_identity_is_named(signed: Signed, tmp_path: Path):
    attest.make_key(tmp_path / "id", "ana@example.org", {})
    key = attest.SigningKey(str(tmp_path / "id"), {})
    assert refused(signed, attest.write_attestation(statement(), key)) == PLACE


def test_bundle_of_another_statement_is_refused(signed: Signed):
    other = attest.write_attestation(statement(msgspec.structs.replace(RECORD, ended=3.0)), None)
    ((_, blob),) = attest.decode(signed.data).signatures
    assert refused(signed, with_bundle(other, blob)) == f"{PLACE}.sig"


def test_bundle_of_another_sigstore_is_refused(signed: Signed, tmp_path: Path):
    config = tmp_path / "config.json"
    config.write_text(Sigstore(signed.services.url).trust_config())
    assert refused(signed._replace(config=config), signed.data) == f"{PLACE}.sig"


def changes(plain: Any) -> Iterator[Any]:
    """Yield a value with every one of its leaves changed or removed, one at a time."""
    if isinstance(plain, dict):
        for name, value in plain.items():
            if name not in HINTS:
                yield {key: each for key, each in plain.items() if key != name}
            yield from ({**plain, name: each} for each in changes(value))
    elif isinstance(plain, list):
        yield [*plain, *(plain or [{}])]
        for n, value in enumerate(plain):
            yield from ([*plain[:n], each, *plain[n + 1 :]] for each in changes(value))
    elif plain.isdigit():
        yield str(int(plain) + 1)
    else:
        for at in {0, len(plain) // 2, len(plain) - 3}:
            yield f"{plain[:at]}{'B' if plain[at] == 'A' else 'A'}{plain[at + 1 :]}"
        yield f"{plain}\n"


def test_every_change_of_a_bundle_is_refused(signed: Signed):
    tried = [*changes(bundle_of(signed.data))]
    assert len(tried) > 60
    for each in tried:
        assert refused(signed, with_bundle(signed.data, as_written(each))) == f"{PLACE}.sig", each


@pytest.mark.parametrize("blob", [b"", b"{}", b"null", b"[" * 100_000, b"\xff", b'{"a": 1}'])
def test_what_is_no_bundle_is_refused(signed: Signed, blob: bytes):
    assert refused(signed, with_bundle(signed.data, blob)) == f"{PLACE}.sig"


def test_without_ci_nobody_vouches(signed: Signed, monkeypatch: pytest.MonkeyPatch):
    for name in signed.services.environment():
        monkeypatch.delenv(name)
    with pytest.raises(UsageError, match="CI"):
        attest.write_attestation(statement(), attest.Keyless(signed.config))


def test_service_that_fails_is_named(signed: Signed, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("ACTIONS_ID_TOKEN_REQUEST_URL", f"{signed.services.url}/nowhere")
    signed.services.token = dict
    with pytest.raises(ToolUnavailable):
        attest.write_attestation(statement(), attest.Keyless(signed.config))


def test_missing_client_is_named_with_its_extra(signed: Signed, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.delitem(sys.modules, "flyball.attest.keyless")
    monkeypatch.setitem(sys.modules, "sigstore.errors", None)
    found = attest.decode(signed.data)
    for ask in (
        lambda: attest.write_attestation(statement(), attest.Keyless(signed.config)),
        lambda: attest.check_signatures(found, attest.Trust()),
    ):
        with pytest.raises(MissingExtra, match=r"pip install 'flyball\[sigstore\]'"):
            ask()
    assert attest.check_signatures(found) == ()
