"""A Sigstore of one's own on the loopback: who vouches for a job, who certifies, and the log.

It speaks what the public one speaks (Fulcio's and Rekor's first interface, the token service of a
CI), so that the real client signs and checks here as it does there.
"""

from __future__ import annotations

import base64
import hashlib
import json
import struct
import threading
import time
from collections.abc import Generator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import jwt
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID

WORKFLOW = "https://forge.example/ana/shop/.forge/workflows/flyball.yml@refs/heads/main"
ISSUER = "https://token.forge.example"
_ISSUED_BY = x509.ObjectIdentifier("1.3.6.1.4.1.57264.1.1")
_TIMESTAMPS = x509.ObjectIdentifier("1.3.6.1.4.1.11129.2.4.2")
_SINCE = {"start": "2020-01-01T00:00:00Z"}
_P256 = "PKIX_ECDSA_P256_SHA_256"


def _b64(data: bytes) -> str:
    return base64.b64encode(data).decode()


def _public(key: ec.EllipticCurvePrivateKey) -> bytes:
    return key.public_key().public_bytes(
        serialization.Encoding.DER, serialization.PublicFormat.SubjectPublicKeyInfo
    )


def _id_of(key: ec.EllipticCurvePrivateKey) -> bytes:
    return hashlib.sha256(_public(key)).digest()


def _signed(key: ec.EllipticCurvePrivateKey, data: bytes) -> bytes:
    return key.sign(data, ec.ECDSA(hashes.SHA256()))


class Sigstore:
    """Its keys, and what each service answers."""

    def __init__(self, url: str, identity: str = WORKFLOW, issuer: str = ISSUER) -> None:
        self.url, self.identity, self.issuer = url, identity, issuer
        self._ca, self._log, self._certificates_log = (
            ec.generate_private_key(ec.SECP256R1()) for _ in range(3)
        )
        self._root = self._make_root()

    def environment(self) -> dict[str, str]:
        """What a CI sets for a job that may ask for its identity."""
        return {
            "GITHUB_ACTIONS": "true",
            "ACTIONS_ID_TOKEN_REQUEST_TOKEN": "of-this-job",
            "ACTIONS_ID_TOKEN_REQUEST_URL": f"{self.url}/token?job=1",
        }

    def trust_config(self) -> str:
        """What its clients are given to sign and to check."""
        service = {"url": self.url, "majorApiVersion": 1, "validFor": _SINCE, "operator": "own"}
        root = _b64(self._root.public_bytes(serialization.Encoding.DER))
        authority = {
            "subject": {"organization": "own", "commonName": "own"},
            "certChain": {"certificates": [{"rawBytes": root}]},
            "validFor": _SINCE,
        }
        return json.dumps({
            "mediaType": "application/vnd.dev.sigstore.clienttrustconfig.v0.1+json",
            "trustedRoot": {
                "mediaType": "application/vnd.dev.sigstore.trustedroot+json;version=0.1",
                "tlogs": [self._log_instance(self._log)],
                "certificateAuthorities": [authority],
                "ctlogs": [self._log_instance(self._certificates_log)],
            },
            "signingConfig": {
                "mediaType": "application/vnd.dev.sigstore.signingconfig.v0.2+json",
                "caUrls": [service],
                "rekorTlogUrls": [service],
                "rekorTlogConfig": {"selector": "ANY"},
            },
        })  # fmt: skip

    def token(self) -> dict[str, str]:
        """What a CI answers a job that asks who it is."""
        now = int(time.time())
        claims = {"iss": self.issuer, "sub": self.identity, "aud": "sigstore",
                  "iat": now, "nbf": now - 5, "exp": now + 600}  # fmt: skip
        return {"value": jwt.encode(claims, "x" * 32, algorithm="HS256")}

    def certify(self, asked: dict[str, Any], token: str) -> dict[str, Any]:
        """Answer as Fulcio: a certificate of the token's identity, with the log's timestamp."""
        claims = jwt.decode(token, options={"verify_signature": False})
        request = x509.load_pem_x509_csr(base64.b64decode(asked["certificateSigningRequest"]))
        now = datetime.now(UTC)
        plain = (
            x509.CertificateBuilder()
            .subject_name(x509.Name([]))
            .issuer_name(self._root.subject)
            .public_key(request.public_key())
            .serial_number(x509.random_serial_number())
            .not_valid_before(now - timedelta(minutes=1))
            .not_valid_after(now + timedelta(minutes=10))
            .add_extension(_usage(digital_signature=True), critical=True)
            .add_extension(x509.ExtendedKeyUsage([ExtendedKeyUsageOID.CODE_SIGNING]), False)
            .add_extension(
                x509.AuthorityKeyIdentifier.from_issuer_public_key(self._ca.public_key()), False
            )
            .add_extension(
                x509.SubjectAlternativeName([x509.UniformResourceIdentifier(claims["sub"])]), True
            )
            .add_extension(x509.UnrecognizedExtension(_ISSUED_BY, claims["iss"].encode()), False)
        )
        logged = plain.sign(self._ca, hashes.SHA256()).tbs_certificate_bytes
        stamped = x509.UnrecognizedExtension(_TIMESTAMPS, self._timestamp(logged))
        made = plain.add_extension(stamped, False).sign(self._ca, hashes.SHA256())
        pems = [
            each.public_bytes(serialization.Encoding.PEM).decode() for each in (made, self._root)
        ]
        return {"signedCertificateEmbeddedSct": {"chain": {"certificates": pems}}}

    def log(self, entry: dict[str, Any]) -> dict[str, Any]:
        """Answer as Rekor: the entry in a log that has no other, with the log's promises."""
        body = json.dumps(entry, sort_keys=True, separators=(",", ":")).encode()
        root = hashlib.sha256(b"\0" + body).digest()
        promised = {
            "body": _b64(body),
            "integratedTime": int(time.time()),
            "logID": _id_of(self._log).hex(),
            "logIndex": 0,
        }
        note = f"own - 1\n1\n{_b64(root)}\n"
        signature = _id_of(self._log)[:4] + _signed(self._log, note.encode())
        proof = {
            "logIndex": 0, "rootHash": root.hex(), "treeSize": 1, "hashes": [],
            "checkpoint": f"{note}\n\u2014 own {_b64(signature)}\n",
        }  # fmt: skip
        signed = json.dumps(promised, sort_keys=True, separators=(",", ":")).encode()
        verification = {
            "inclusionProof": proof,
            "signedEntryTimestamp": _b64(_signed(self._log, signed)),
        }
        return {root.hex(): {**promised, "verification": verification}}

    def _make_root(self) -> x509.Certificate:
        name = x509.Name([x509.NameAttribute(NameOID.ORGANIZATION_NAME, "own")])
        key, now = self._ca.public_key(), datetime.now(UTC)
        return (
            x509.CertificateBuilder()
            .subject_name(name)
            .issuer_name(name)
            .public_key(key)
            .serial_number(x509.random_serial_number())
            .not_valid_before(now - timedelta(days=1))
            .not_valid_after(now + timedelta(days=1))
            .add_extension(x509.BasicConstraints(ca=True, path_length=0), critical=True)
            .add_extension(_usage(key_cert_sign=True), critical=True)
            .add_extension(x509.SubjectKeyIdentifier.from_public_key(key), critical=False)
            .sign(self._ca, hashes.SHA256())
        )

    def _timestamp(self, certificate: bytes) -> bytes:
        """The promise of the log of certificates: RFC 6962's list of one timestamp, in DER."""
        key, now = self._certificates_log, int(time.time()) * 1000
        entry = _id_of(self._ca) + len(certificate).to_bytes(3, "big") + certificate
        signature = _signed(key, struct.pack("!BBQH", 0, 0, now, 1) + entry + b"\0\0")
        one = b"\0" + _id_of(key) + now.to_bytes(8, "big") + b"\0\0"
        one += b"\4\3" + len(signature).to_bytes(2, "big") + signature
        listed = len(one).to_bytes(2, "big") + one
        listed = len(listed).to_bytes(2, "big") + listed
        assert len(listed) < 128, "DER writes its length in one byte"
        return b"\4" + bytes([len(listed)]) + listed

    def _log_instance(self, key: ec.EllipticCurvePrivateKey) -> dict[str, Any]:
        public = {"rawBytes": _b64(_public(key)), "keyDetails": _P256, "validFor": _SINCE}
        return {
            "baseUrl": self.url, "hashAlgorithm": "SHA2_256", "publicKey": public,
            "logId": {"keyId": _b64(_id_of(key))},
        }  # fmt: skip


def _usage(*, digital_signature: bool = False, key_cert_sign: bool = False) -> x509.KeyUsage:
    return x509.KeyUsage(
        digital_signature, False, False, False, False, key_cert_sign, False, False, False
    )


@contextmanager
def serving() -> Generator[Sigstore]:
    """A Sigstore that answers on a free port of the loopback."""

    class Answers(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self._answer(here.token())

        def do_POST(self) -> None:
            asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            if self.path == "/api/v2/signingCert":
                self._answer(here.certify(asked, self.headers["Authorization"].split()[1]))
            else:
                self._answer(here.log(asked))

        def _answer(self, plain: object) -> None:
            data = json.dumps(plain).encode()
            self.send_response(201 if self.command == "POST" else 200)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)

        def log_message(self, *_: object) -> None:  # pyright: ignore[reportIncompatibleMethodOverride]
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Answers)
    here = Sigstore(f"http://127.0.0.1:{server.server_port}")
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield here
    finally:
        server.shutdown()
        server.server_close()
