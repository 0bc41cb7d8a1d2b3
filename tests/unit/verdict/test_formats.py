"""Verdicts written for other programs: a forge's commands, JUnit, SARIF, Markdown."""

from __future__ import annotations

import json
from xml.etree import ElementTree

from msgspec.structs import replace

from flyball.terms.change_verdict import (
    ChangeFinding,
    ChangeStrength,
    ChangeVerdict,
    FindingKind,
    SuiteLine,
    Weight,
)
from flyball.verdict.formats import junit, markdown, place_of, sarif, workflow_commands

FILES = {"shop/cart.py", "tests/test_cart.py"}
RAN = (SuiteLine("after", ".", "pytest", 1, 2, elapsed=1.5),)
BROKEN = ChangeFinding(
    FindingKind.REGRESSION,
    Weight.BLOCKS,
    "tests/test_cart.py::test_count fails: 50%\nof it.",
    tests=("tests/test_cart.py::test_count",),
)
REACHES = ChangeFinding(FindingKind.REACHES_RUNNER, Weight.ASKS, "shop/cart.py:12 ends it.")
OLD = ChangeFinding(
    FindingKind.OLD_FAILURE, Weight.NOTES, "CartTest::test_tax failed before.", tests=("CartTest",)
)
BAD = ChangeVerdict(
    ChangeStrength.OLD_TESTS, (BROKEN, REACHES, OLD), RAN, mended=("tests/test_cart.py::test_pens",)
)
GOOD = ChangeVerdict(ChangeStrength.OLD_TESTS, ran=RAN, mended=("tests/test_cart.py::test_pens",))
UNCHANGED = ChangeVerdict(ran=RAN, old_failures=("test_a", "test_b"), is_unchanged=True)


def is_file(path: str) -> bool:
    return path in FILES


def test_a_finding_is_at_the_line_it_names_or_in_the_file_of_its_test():
    assert place_of(REACHES, is_file) == ("shop/cart.py", 12)
    assert place_of(BROKEN, is_file) == ("tests/test_cart.py", 0)
    assert place_of(OLD, is_file) is None


def test_each_finding_is_a_command_of_the_forge_on_one_line():
    broken, reaches, old = workflow_commands(BAD, is_file)
    assert broken.startswith("::error file=tests/test_cart.py,title=flyball%3A regression::")
    assert broken.endswith("50%25%0Aof it.")
    assert reaches.startswith("::warning file=shop/cart.py,line=12,title=")
    assert old.startswith("::notice title=")
    assert list(workflow_commands(GOOD, is_file)) == []


def test_what_shows_nothing_and_has_no_finding_is_an_error_too():
    (only,) = workflow_commands(ChangeVerdict(has_suite=False), is_file)
    assert only.startswith("::error ") and ChangeVerdict(has_suite=False).missing_reason in only


def test_a_junit_report_fails_with_the_verdict_and_counts():
    (suite,) = ElementTree.fromstring(junit(BAD))
    assert {name: suite.get(name) for name in ("tests", "failures", "skipped", "time")} == {
        "tests": "5", "failures": "3", "skipped": "1", "time": "1.500",
    }  # fmt: skip
    (good,) = ElementTree.fromstring(junit(GOOD))
    assert (good.get("tests"), good.get("failures")) == ("2", "0")


def test_a_junit_report_can_be_read_whatever_is_in_a_name():
    odd = ChangeFinding(FindingKind.OLD_FAILURE, Weight.NOTES, "\x1b[31m<a>\x00 & b", tests=())
    (suite,) = ElementTree.fromstring(junit(ChangeVerdict(findings=(odd,))))
    assert suite.findall("testcase")[-1].get("name") == "[31m<a> & b"


def test_sarif_has_a_rule_for_each_kind_and_a_line_for_each_place():
    (run,) = json.loads(sarif(BAD, is_file, "1.0"))["runs"]
    assert [each["id"] for each in run["tool"]["driver"]["rules"]] == [
        "regression", "reaches-runner", "old-failure",
    ]  # fmt: skip
    assert [each["level"] for each in run["results"]] == ["error", "warning", "note"]
    place = run["results"][1]["locations"][0]["physicalLocation"]
    assert place["artifactLocation"] == {"uri": "shop/cart.py"}
    assert place["region"] == {"startLine": 12}
    assert "locations" not in run["results"][2]


def test_an_alert_without_a_place_of_its_own_is_at_the_first_changed_file():
    verdict = ChangeVerdict(findings=(OLD,), changed=("gone.py", "shop/a b.py"))
    (run,) = json.loads(sarif(verdict, {"shop/a b.py"}.__contains__, "1.0"))["runs"]
    place = run["results"][0]["locations"][0]["physicalLocation"]
    assert place["artifactLocation"] == {"uri": "shop/a%20b.py"}
    assert place["region"] == {"startLine": 1}


def test_what_shows_nothing_has_an_alert_although_there_is_no_finding():
    verdict = ChangeVerdict(has_suite=False, changed=("shop/cart.py",))
    (run,) = json.loads(sarif(verdict, is_file, "1.0"))["runs"]
    assert [(each["ruleId"], each["level"]) for each in run["results"]] == [("unverified", "error")]
    assert [each["id"] for each in run["tool"]["driver"]["rules"]] == ["unverified"]


def test_an_alert_is_the_same_one_when_only_its_words_changed():
    other = replace(BROKEN, sentence="It fails again.")
    prints = [
        json.loads(sarif(ChangeVerdict(findings=(each,)), is_file, "1.0"))["runs"][0]["results"][0]
        for each in (BROKEN, other)
    ]
    assert prints[0]["partialFingerprints"] == prints[1]["partialFingerprints"]


def test_texts_in_a_comment_stay_within_their_fences():
    question = ChangeFinding(
        FindingKind.PROMISE_CHANGED, Weight.ASKS, "It got weaker.", before="```\n# Hi", after="b"
    )
    said = markdown(ChangeVerdict(ChangeStrength.GREEN, (question,), RAN), "a → b")
    assert said.startswith("### A question: ")
    assert "````\n```\n# Hi\n````" in said


def test_where_nothing_changed_nothing_is_accused_and_what_fails_is_said():
    assert UNCHANGED.headline == "nothing changed; 2 tests still fail: test_a, test_b"
    (said,) = workflow_commands(UNCHANGED, is_file)
    assert said.startswith("::notice ")
    (suite,) = ElementTree.fromstring(junit(UNCHANGED))
    assert suite.get("failures") == "0"
    assert markdown(UNCHANGED, "a → b").startswith("### Nothing changed; 2 tests still fail")
    assert ChangeVerdict(is_unchanged=True).headline == "nothing changed"
