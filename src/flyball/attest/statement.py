"""The statement about a verdict: an in-toto test result with everything needed to repeat it.

The predicate is in-toto's own `test-result`, so that any reader of attestations understands it.
Flyball's own data is in one extension field. Schema changes raise `SCHEMA_VERSION`.
"""

from __future__ import annotations

import base64
import binascii
import json
import zlib
from collections.abc import Iterable, Mapping
from typing import Annotated, Literal, NamedTuple

import msgspec

from flyball.errors import BadAttestation
from flyball.terms.change_verdict import ChangeVerdict, VerdictStatus
from flyball.verdict.record import RunRecord, VerdictRecord

STATEMENT_TYPE = "https://in-toto.io/Statement/v1"
PREDICATE_TYPE = "https://in-toto.io/attestation/test-result/v0.1"
SCHEMA_VERSION = 1
LARGEST = 64 << 20
"""Most bytes of test outcomes that are unpacked."""

_RESULTS: Mapping[VerdictStatus, Literal["PASSED", "WARNED", "FAILED"]] = {
    VerdictStatus.SHOWN: "PASSED",
    VerdictStatus.QUESTION: "WARNED",
    VerdictStatus.NOT_SHOWN: "FAILED",
}

Sha256 = Annotated[str, msgspec.Meta(pattern="^[0-9a-f]{64}$")]
GitHash = Annotated[str, msgspec.Meta(pattern="^(?:[0-9a-f]{40}|[0-9a-f]{64})$")]
RunOutcomes = dict[str, dict[str, str]]
"""Run → test → outcome."""


class _Closed(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A part of a statement, in which unknown fields are refused rather than ignored."""


class AttestedTree(_Closed, frozen=True, omit_defaults=True):
    """A git tree, and the commit it belongs to unless it was a working tree."""

    tree: GitHash
    commit: GitHash | None = None


class FlyballBuild(_Closed, frozen=True):
    """The Flyball that took the verdict, with a digest of its own source."""

    version: str
    sha256: Sha256


class Toolchain(_Closed, frozen=True):
    """A program that ran tests, by its name and the digest of its file."""

    name: str
    sha256: Sha256


class Surroundings(_Closed, frozen=True):
    """The environment of the tests: names of variables, never their values."""

    platform: str
    sandbox: str
    network: bool
    variables: tuple[str, ...]
    toolchains: tuple[Toolchain, ...]


class AttestedRun(_Closed, frozen=True, omit_defaults=True):
    """One run of one suite; its tests are in `outcomes`."""

    part: str
    suite: str
    run: str
    command: str
    exit_code: int
    tests: int
    trouble: str = ""

    @property
    def key(self) -> str:
        return f"{self.part} · {self.suite} · {self.run}"


class Outcomes(_Closed, frozen=True):
    """The outcome of every test of every run: JSON, deflated, in base64."""

    encoding: Literal["json+zlib+base64"]
    data: str


class AttestedVerdict(_Closed, frozen=True, omit_defaults=True):
    """Flyball's extension of the test result: all that is needed to check and repeat it."""

    schema: Literal[1]
    flyball: FlyballBuild
    base: AttestedTree
    head: AttestedTree
    status: VerdictStatus
    label: str
    verdict: ChangeVerdict
    runs: tuple[AttestedRun, ...]
    outcomes: Outcomes
    surroundings: Surroundings
    began: float
    ended: float
    unsteady: tuple[str, ...] = ()
    unavailable: tuple[str, ...] = ()
    run: str = ""
    """The governed run whose change this is, if any."""
    request: str = ""
    """What that run was asked to do."""


class Configuration(_Closed, frozen=True):
    """An in-toto resource descriptor: here, a command that ran tests."""

    name: str


class TestResult(_Closed, frozen=True, omit_defaults=True):
    """In-toto's test result, with Flyball's extension and the checksums that locate tampering."""

    result: Literal["PASSED", "WARNED", "FAILED"]
    configuration: tuple[Configuration, ...]
    flyball_verdict: AttestedVerdict
    flyball_sums: dict[str, Sha256]
    failedTests: tuple[str, ...] = ()  # noqa: N815
    warnedTests: tuple[str, ...] = ()  # noqa: N815


class Subject(_Closed, frozen=True):
    """The subject of an attestation: the new tree and its commit."""

    name: str
    digest: dict[str, str]


class Statement(_Closed, frozen=True):
    """An in-toto Statement v1 about one verdict."""

    type: Literal["https://in-toto.io/Statement/v1"] = msgspec.field(name="_type")
    subject: tuple[Subject, ...]
    predicateType: Literal["https://in-toto.io/attestation/test-result/v0.1"]  # noqa: N815
    predicate: TestResult

    @property
    def attested(self) -> AttestedVerdict:
        return self.predicate.flyball_verdict


class Difference(NamedTuple):
    """A test, or a whole run, that ended differently when the verdict was repeated."""

    run: str
    test: str
    then: str
    now: str


def build_statement(
    record: VerdictRecord,
    base: AttestedTree,
    head: AttestedTree,
    build: FlyballBuild,
    surroundings: Surroundings,
    *,
    run: str = "",
    request: str = "",
) -> Statement:
    """Return the statement about a verdict, without its checksums."""
    verdict = record.verdict
    after = [each for each in record.runs if each.run == "new"]
    warned = {*verdict.old_failures, *record.unsteady}
    failed = {
        name for each in after for name, end in each.ends.items() if end in ("failed", "error")
    }
    attested = AttestedVerdict(
        schema=SCHEMA_VERSION,
        flyball=build,
        base=base,
        head=head,
        status=verdict.status,
        label=verdict.headline,
        verdict=verdict,
        runs=tuple(map(_attested_run, record.runs)),
        outcomes=_pack(record.runs),
        surroundings=surroundings,
        began=record.began,
        ended=record.ended,
        unsteady=record.unsteady,
        unavailable=record.unavailable,
        run=run,
        request=request,
    )
    result = TestResult(
        result=_RESULTS[verdict.status],
        configuration=tuple(
            Configuration(name) for name in dict.fromkeys(each.command for each in after)
        ),
        flyball_verdict=attested,
        flyball_sums={},
        failedTests=tuple(sorted(failed - warned)),
        warnedTests=tuple(sorted(warned)),
    )
    return Statement(STATEMENT_TYPE, subjects_of(head), PREDICATE_TYPE, result)


def subjects_of(head: AttestedTree) -> tuple[Subject, ...]:
    """Return the subjects of a statement about this tree."""
    tree = Subject("tree", {"gitTree": head.tree})
    return (tree, Subject("commit", {"gitCommit": head.commit})) if head.commit else (tree,)


def find_contradiction(statement: Statement) -> tuple[str, str] | None:
    """Return the field that contradicts another one, with the reason, or None."""
    attested, result = statement.attested, statement.predicate
    verdict = attested.verdict
    checks = (
        ("subject", statement.subject == subjects_of(attested.head), "it names another tree"),
        ("status", attested.status is verdict.status, "the verdict's findings say otherwise"),
        ("label", attested.label == verdict.headline, "the verdict's findings say otherwise"),
        ("result", result.result == _RESULTS[verdict.status], "the verdict says otherwise"),
        ("base", attested.base.tree != attested.head.tree, "it is the tree that was verified"),
        ("ended", attested.began <= attested.ended, "it is before the beginning"),
    )
    found = next(((field, why) for field, holds, why in checks if not holds), None)
    if found:
        return found
    counted = {each.key: each.tests for each in attested.runs}
    packed = {name: len(ends) for name, ends in outcomes_of(attested).items()}
    return None if counted == packed else ("outcomes", "they are not those of the runs")


def outcomes_of(attested: AttestedVerdict) -> RunOutcomes:
    """Return the outcome of every test of every run."""
    try:
        packed = base64.b64decode(attested.outcomes.data, validate=True)
        plain = zlib.decompressobj()
        data = plain.decompress(packed, LARGEST)
        if plain.unconsumed_tail or not plain.eof:
            raise BadAttestation("outcomes", "they are cut short or too large")
        ends = msgspec.json.decode(data, type=RunOutcomes)
    except (binascii.Error, ValueError, zlib.error, msgspec.MsgspecError) as error:
        raise BadAttestation("outcomes", "they cannot be unpacked") from error
    if plain.unused_data or data != _outcomes_as_json(ends):
        raise BadAttestation("outcomes", "they are not as Flyball writes them")
    return ends


def _outcomes_as_json(ends: RunOutcomes) -> bytes:
    return json.dumps(ends, sort_keys=True).encode()


def compare_runs(then: AttestedVerdict, now: AttestedVerdict) -> tuple[Difference, ...]:
    """Return every test that ended differently; tests that were unsteady in either verdict are left
    out."""
    old, new = outcomes_of(then), outcomes_of(now)
    unsteady = {*then.unsteady, *now.unsteady}
    found: list[Difference] = []
    for run in sorted(old.keys() | new.keys()):
        if run not in old or run not in new:
            ends = ("ran", "did not run") if run in old else ("did not run", "ran")
            found.append(Difference(run, "", *ends))
            continue
        for test in sorted((old[run].keys() | new[run].keys()) - unsteady):
            ends = (old[run].get(test, "did not run"), new[run].get(test, "did not run"))
            if ends[0] != ends[1]:
                found.append(Difference(run, test, *ends))
    labels = tuple(_label_without_answer(each, of_run=bool(then.run)) for each in (then, now))
    if labels[0] != labels[1]:
        found.append(Difference("verdict", "", *labels))
    return tuple(found)


def _label_without_answer(attested: AttestedVerdict, *, of_run: bool) -> str:
    """Return the label of a verdict without a person's answer, which no second run can give.

    What a governed run asks depends on its request and its plan, so only its strength is repeated.
    """
    verdict = attested.verdict
    if of_run:
        return verdict.strength.label
    return msgspec.structs.replace(verdict, accepted_by="").headline


def _attested_run(record: RunRecord) -> AttestedRun:
    return AttestedRun(
        record.part,
        record.suite,
        record.run,
        record.command,
        record.exit_code,
        len(record.ends),
        record.trouble,
    )


def _pack(runs: Iterable[RunRecord]) -> Outcomes:
    ends: RunOutcomes = {_attested_run(each).key: dict(each.ends) for each in runs}
    packed = zlib.compress(_outcomes_as_json(ends), 9)
    return Outcomes("json+zlib+base64", base64.b64encode(packed).decode())
