"""Attestations: what is signed holds, and what was changed is refused with its place."""

from __future__ import annotations

import base64
import json
import os
import subprocess
import tempfile
import zlib
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import msgspec
import pytest

from flyball import attest
from flyball.errors import BadAttestation, UsageError
from flyball.terms.change_verdict import (
    ChangeFinding,
    ChangeStrength,
    ChangeVerdict,
    FindingKind,
    SuiteLine,
    Weight,
)
from flyball.verdict.case import CaseOutcome
from flyball.verdict.record import RunRecord, VerdictRecord

PASSED, FAILED = CaseOutcome.PASSED, CaseOutcome.FAILED
VERDICT = ChangeVerdict(
    strength=ChangeStrength.OLD_TESTS,
    ran=(SuiteLine("after", ".", "pytest", passed=2),),
    mended=("test_cart.py::test_total",),
    changed=("cart.py",),
)
RECORD = VerdictRecord(
    "1" * 40,
    "2" * 40,
    VERDICT,
    (
        RunRecord(".", "pytest", "old", "pytest -q", 1, {"a": PASSED, "b": FAILED}),
        RunRecord(".", "pytest", "new", "pytest -q", 0, {"a": PASSED, "b": PASSED}),
    ),
    variables=("LANG",),
    began=1.0,
    ended=2.0,
)
BASE = attest.AttestedTree("1" * 40, "3" * 40)
HEAD = attest.AttestedTree("2" * 40, "4" * 40)


def statement(record: VerdictRecord = RECORD) -> attest.Statement:
    return attest.make_statement(record, BASE, HEAD, "kernel", str, request="the total is wrong")


@pytest.fixture(scope="module")
def key(tmp_path_factory: pytest.TempPathFactory) -> attest.SigningKey:
    file = tmp_path_factory.mktemp("key") / "inner" / "id_ed25519"
    attest.make_key(file, "ana@example.org", os.environ)
    return attest.SigningKey(os.fspath(file), os.environ)


@pytest.fixture(scope="module")
def signed(key: attest.SigningKey) -> bytes:
    return attest.write_attestation(statement(), key)


def check(data: bytes, allowed: Path | None = None) -> tuple[attest.Signature, ...]:
    """Do what `flyball attest check` does apart from looking into a repository."""
    found = attest.decode(data)
    signatures = attest.check_signatures(found, attest.Trust(allowed))
    found.refuse_wrong_fields()
    return signatures


def test_signed_attestation_says_who_signed_what(signed: bytes, key: attest.SigningKey):
    assert len(check(signed)) == 1
    told = attest.decode(signed).statement
    assert told.attested.status == "shown" and told.attested.request == "the total is wrong"
    assert attest.outcomes_of(told.attested)[". · pytest · old"] == {"a": "passed", "b": "failed"}
    plain = json.loads(base64.b64decode(json.loads(signed)["payload"]))
    assert plain["_type"] == "https://in-toto.io/Statement/v1"
    assert plain["predicate"]["result"] == "PASSED"
    assert plain["subject"][0]["digest"] == {"gitTree": "2" * 40}
    assert Path(key.named).stat().st_mode & 0o777 == 0o600


def test_same_verdict_makes_the_same_bytes(signed: bytes, key: attest.SigningKey):
    assert attest.write_attestation(statement(), key) == signed


def test_known_signer_is_named_and_an_unknown_one_refused(
    signed: bytes, key: attest.SigningKey, tmp_path: Path
):
    public = Path(f"{key.named}.pub").read_text()
    allowed = tmp_path / "signers"
    allowed.write_text(f"ana@example.org {public}")
    assert [each.signer for each in check(signed, allowed)] == ["ana@example.org"]
    other = attest.make_key(tmp_path / "other", "bo", os.environ)
    allowed.write_text(f"bo {other}\n")
    with pytest.raises(BadAttestation) as refused:
        check(signed, allowed)
    assert refused.value.place == "signatures[0]"


def test_key_with_a_passphrase_and_no_agent_is_refused_and_asks_nobody(tmp_path: Path):
    from flyball.workspace.process.spawn import run_sync

    args = ("ssh-keygen", "-q", "-t", "ed25519", "-N", "a passphrase", "-f")
    run_sync((*args, str(tmp_path / "id")), cwd=tmp_path, env=os.environ)
    with pytest.raises(UsageError):
        attest.write_attestation(statement(), attest.SigningKey(str(tmp_path / "id"), os.environ))


@pytest.fixture
def agent(key: attest.SigningKey) -> Iterator[Mapping[str, str]]:
    """Yield the environment of an SSH agent that holds the key."""
    with tempfile.TemporaryDirectory(dir="/tmp") as short:
        socket = f"{short}/agent"
        ran = subprocess.Popen(["ssh-agent", "-D", "-a", socket], stdout=subprocess.PIPE)
        assert ran.stdout is not None and ran.stdout.readline()
        env = {**os.environ, "SSH_AUTH_SOCK": socket}
        try:
            subprocess.run(["ssh-add", "-q", key.named], env=env, check=True)
            yield env
        finally:
            ran.terminate()
            ran.communicate()


@pytest.mark.parametrize("named", ["key::{}", "{}"])
def test_key_that_an_agent_holds_signs_by_its_public_part(
    named: str, key: attest.SigningKey, agent: Mapping[str, str], signed: bytes
):
    public = Path(f"{key.named}.pub").read_text().strip()
    theirs = attest.SigningKey(named.format(public), agent)
    assert attest.write_attestation(statement(), theirs) == signed


def test_key_is_named_by_a_relative_path(
    key: attest.SigningKey, signed: bytes, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.chdir(Path(key.named).parent)
    mine = attest.SigningKey("id_ed25519", os.environ)
    assert attest.write_attestation(statement(), mine) == signed


def test_secrets_are_redacted_in_every_field():
    record = msgspec.structs.replace(
        RECORD,
        verdict=msgspec.structs.replace(VERDICT, not_run=("needs hunter2",)),
        runs=(RunRecord(".", "x", "new", "run hunter2", 1, {"t[hunter2]": FAILED}, "hunter2"),),
        unsteady=("u[hunter2]",),
    )
    redact: Callable[[str], str] = lambda text: text.replace("hunter2", "[redacted]")  # noqa: E731
    told = attest.make_statement(record, BASE, HEAD, "kernel", redact, request="use hunter2")
    assert "hunter2" not in msgspec.json.encode(told).decode()
    assert attest.outcomes_of(told.attested) == {". · x · new": {"t[[redacted]]": "failed"}}


def test_repeated_verdict_is_compared_test_by_test():
    then = statement().attested
    assert attest.compare_runs(then, statement().attested) == ()
    new = RunRecord(".", "pytest", "new", "pytest -q", 1, {"a": FAILED, "c": PASSED, "u": PASSED})
    weak = msgspec.structs.replace(VERDICT, strength=ChangeStrength.GREEN)
    record = msgspec.structs.replace(RECORD, runs=(new,), unsteady=("u",), verdict=weak)
    now = statement(record).attested
    assert [tuple(each) for each in attest.compare_runs(then, now)] == [
        (". · pytest · new", "a", "passed", "failed"),
        (". · pytest · new", "b", "passed", "did not run"),
        (". · pytest · new", "c", "did not run", "passed"),
        (". · pytest · old", "", "ran", "did not run"),
        ("verdict", "", f"{VERDICT.strength.label} (2 tests)", f"{weak.strength.label} (2 tests)"),
    ]


QUESTION = ChangeFinding(FindingKind.PROMISE_CHANGED, Weight.ASKS, "A test promises less.")


def test_answer_of_a_person_is_no_difference():
    asked = msgspec.structs.replace(VERDICT, findings=(QUESTION,))
    accepted = msgspec.structs.replace(asked, accepted_by="ana")
    then, now = (
        statement(msgspec.structs.replace(RECORD, verdict=each)).attested
        for each in (accepted, asked)
    )
    assert then.status is not now.status
    assert attest.compare_runs(then, now) == ()


def test_governed_run_is_compared_by_its_strength():
    asked = msgspec.structs.replace(VERDICT, findings=(QUESTION,))
    weak = msgspec.structs.replace(VERDICT, strength=ChangeStrength.GREEN)
    then = msgspec.structs.replace(statement().attested, run="calm-otter")
    for verdict, count in ((asked, 0), (weak, 1)):
        now = statement(msgspec.structs.replace(RECORD, verdict=verdict)).attested
        assert len(attest.compare_runs(then, now)) == count


def with_field(path: str, value: object) -> Callable[[dict[str, Any]], None]:
    """Return a change of one field of the statement, named by its path."""

    def change(plain: dict[str, Any]) -> None:
        *outer, last = path.split(".")
        place: Any = plain
        for name in outer:
            place = place[int(name) if name.isdigit() else name]
        place[last] = value

    return change


INNER = "predicate.flyball_verdict"
FIELDS = [
    ("_type", "https://in-toto.io/Statement/v2", "the statement"),
    ("predicateType", "https://example.org/other", "the statement"),
    ("subject.0.digest", {"gitTree": "9" * 40}, "subject"),
    ("subject.0.name", "another", "subject"),
    ("subject", [], "subject"),
    ("predicate.result", "FAILED", "result"),
    ("predicate.result", "GREAT", "the statement"),
    ("predicate.configuration", [{"name": "true"}], "configuration"),
    ("predicate.failedTests", ["a"], "failedTests"),
    ("predicate.warnedTests", ["a"], "warnedTests"),
    ("predicate.extra", 1, "the statement"),
    ("predicate.flyball_sums", {}, "_type"),
    ("predicate.flyball_sums.status", "0" * 64, "status"),
    (f"{INNER}.schema", 2, "the statement"),
    (f"{INNER}.flyball.version", "9.9.9", "flyball"),
    (f"{INNER}.flyball.sha256", "0" * 64, "flyball"),
    (f"{INNER}.base.tree", "9" * 40, "base"),
    (f"{INNER}.base.commit", "9" * 40, "base"),
    (f"{INNER}.head.tree", "9" * 40, "head"),
    (f"{INNER}.head.commit", "9" * 40, "head"),
    (f"{INNER}.head.commit", "HEAD", "the statement"),
    (f"{INNER}.status", "not shown", "status"),
    (f"{INNER}.label", "green", "label"),
    (f"{INNER}.verdict.strength", 3, "verdict"),
    (f"{INNER}.verdict.mended", ["b"], "verdict"),
    (f"{INNER}.verdict.accepted_by", "ana", "verdict"),
    (f"{INNER}.verdict.findings", [], "the statement"),
    (f"{INNER}.verdict.note", "unknown to every reader", "the statement"),
    (f"{INNER}.runs", [], "runs"),
    (f"{INNER}.runs.0.command", "true", "runs"),
    (f"{INNER}.runs.0.exit_code", 0, "runs"),
    (f"{INNER}.runs.0.tests", 7, "runs"),
    (f"{INNER}.outcomes.data", "AAAA", "outcomes"),
    (f"{INNER}.outcomes.encoding", "json", "the statement"),
    (f"{INNER}.surroundings.platform", "Plan 9", "surroundings"),
    (f"{INNER}.surroundings.network", True, "surroundings"),
    (f"{INNER}.surroundings.sandbox", "none", "surroundings"),
    (f"{INNER}.surroundings.variables", ["LANG", "TOKEN"], "surroundings"),
    (f"{INNER}.surroundings.toolchains", [{"name": "x", "sha256": "0" * 64}], "surroundings"),
    (f"{INNER}.began", 0.5, "began"),
    (f"{INNER}.ended", 9.0, "ended"),
    (f"{INNER}.request", "another", "request"),
    (f"{INNER}.run", "another", "run"),
    (f"{INNER}.unsteady", ["b"], "unsteady"),
]


@pytest.mark.parametrize("is_signed", [True, False])
@pytest.mark.parametrize(("path", "value", "place"), FIELDS, ids=[each[0] for each in FIELDS])
def test_changed_field_is_refused_with_its_place(
    signed: bytes, path: str, value: object, place: str, is_signed: bool
):
    envelope = json.loads(signed)
    plain = json.loads(base64.b64decode(envelope["payload"]))
    with_field(path, value)(plain)
    text = json.dumps(plain, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    envelope["payload"] = base64.b64encode(text.encode()).decode()
    if not is_signed:
        envelope["signatures"] = []
    data = json.dumps(envelope, sort_keys=True, separators=(",", ":")).encode() + b"\n"
    with pytest.raises(BadAttestation) as refused:
        found = attest.decode(data)
        found.refuse_wrong_fields()
    assert place in refused.value.place
    if is_signed and place != "the statement":
        found = attest.decode(data)
        with pytest.raises(BadAttestation) as refused:
            attest.check_signatures(found)
        assert place in refused.value.place


def test_changed_field_with_a_matching_sum_contradicts_the_others():
    plain = msgspec.to_builtins(statement())
    inner = plain["predicate"]["flyball_verdict"]
    for field, value in (
        ("status", "not shown"),
        ("label", "green"),
        ("base", {"tree": "2" * 40}),
        ("head", {"tree": "9" * 40}),
        ("ended", 0.5),
        ("runs", []),
    ):
        changed = {**plain, "predicate": {**plain["predicate"]}}
        changed["predicate"]["flyball_verdict"] = {**inner, field: value}
        told = msgspec.convert(changed, attest.Statement)
        with pytest.raises(BadAttestation):
            attest.decode(attest.write_attestation(told, None)).refuse_wrong_fields()


def test_outcomes_with_more_than_they_say_are_refused():
    plain = msgspec.to_builtins(statement())
    outcomes = plain["predicate"]["flyball_verdict"]["outcomes"]
    packed = base64.b64decode(outcomes["data"])
    twice = zlib.decompress(packed).replace(b'{"a":', b'{"a": "failed", "a":', 1)
    for data in (packed + b"more", zlib.compress(twice)):
        outcomes["data"] = base64.b64encode(data).decode()
        told = msgspec.convert(plain, attest.Statement)
        with pytest.raises(BadAttestation) as refused:
            attest.decode(attest.write_attestation(told, None)).refuse_wrong_fields()
        assert refused.value.place == "outcomes"


def test_any_changed_byte_is_refused(signed: bytes):
    for at in range(0, len(signed), max(1, len(signed) // 150)):
        changed = bytearray(signed)
        changed[at] = ord("A") if changed[at] != ord("A") else ord("B")
        with pytest.raises(BadAttestation):
            check(bytes(changed))
    for data in (
        signed[:-1],
        signed + b"\n",
        b" " + signed,
        signed[: len(signed) // 2],
        b"",
        b"[]",
    ):
        with pytest.raises(BadAttestation):
            attest.decode(data)


def test_signature_of_another_statement_or_key_is_refused(signed: bytes, tmp_path: Path):
    attest.make_key(tmp_path / "id", "bo", os.environ)
    other = attest.SigningKey(str(tmp_path / "id"), os.environ)
    changed = msgspec.structs.replace(RECORD, ended=9.0)
    theirs = json.loads(attest.write_attestation(statement(changed), other))
    mine = json.loads(signed)
    mixed = {**mine, "signatures": theirs["signatures"]}
    data = json.dumps(mixed, sort_keys=True, separators=(",", ":")).encode() + b"\n"
    with pytest.raises(BadAttestation) as refused:
        check(data)
    assert refused.value.place == "signatures[0]"
