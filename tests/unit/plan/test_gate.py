from inspect import getdoc

import pytest
from msgspec.structs import replace
from tests.simulation.verdicts import CHECKED, NEVER_RED, QUESTIONED, REGRESSED, STILL_RED, judged

from flyball.plan.gate import GATES, gate_faults, judge, judge_all, judge_done
from flyball.plan.library import LIBRARY
from flyball.plan.template import EvidenceSchema, GateUse
from flyball.plan.verdict import Case, Failed, Missing, Passed
from flyball.terms.evidence import (
    ApprovalReport,
    BaseRun,
    CheckKind,
    CheckReport,
    CommandReport,
    ConsoleReport,
    CoverageReport,
    DiffReport,
    FailedTest,
    FileChange,
    FileReport,
    HttpReport,
    SuiteReport,
    VisualReport,
    Weakened,
    WeakeningReport,
)
from flyball.terms.tool import TOOL_ROWS

TREE, BASE, OTHER = "tree-now", "tree-base", "tree-before"
FORM = EvidenceSchema(required=("notes",), criteria_checklist={"c1": "Explained", "c2": "Planned"})


def suite(tree=TREE, *, passed=3, failed=(), command="pytest", **more):
    return SuiteReport(
        id="e",
        tree=tree,
        runner="pytest",
        command=command,
        exit_code=more.pop("exit_code", 1 if failed else 0),
        passed=passed,
        failed=len(failed),
        failures=tuple(FailedTest(name) for name in failed),
        **more,
    )


def look(kind=CheckKind.BUILD, exit_code=0, tree=TREE, command="make", **more):
    return CheckReport(id="e", tree=tree, kind=kind, command=command, exit_code=exit_code, **more)


def command(text="make it", exit_code=0, tree=TREE, **more):
    return CommandReport(id="e", tree=tree, command=text, exit_code=exit_code, **more)


def diff(*files, tree=TREE, base=BASE, **more):
    changes = tuple(FileChange(path, "modify", 3, 2) for path in files)
    return DiffReport(id="e", tree=tree, base=base, files=changes, **more)


def base_run(outcome, tree=TREE, base=BASE, **more):
    return BaseRun(id="e", tree=tree, base=base, report="e", outcome=outcome, **more)


def weakening(*findings, base=BASE):
    return WeakeningReport(id="e", tree=TREE, base=base, findings=findings)


def http(status=200, url="http://localhost:3000/pricing", tree=TREE, **more):
    return HttpReport(id="e", tree=tree, url=url, status=status, **more)


def console(*errors, url="http://localhost:3000/", **more):
    return ConsoleReport(id="e", tree=TREE, url=url, errors=errors, **more)


def picture(ok, url="http://h/", note="", own=False):
    expected = "a red box"
    return VisualReport(id="e", tree=TREE, url=url, expectation=expected, ok=ok, note=note, own=own)


def file(path="a.md", *, exists=True, asked=(), contains=(), tree=TREE):
    return FileReport(id="e", tree=tree, path=path, exists=exists, asked=asked, contains=contains)


def coverage(before, after):
    return CoverageReport(id="e", tree=TREE, before=before, after=after)


def approval(granted, what="", tree=TREE):
    return ApprovalReport(id="e", tree=tree, by="kim", granted=granted, what=what)


def ask(gate, evidence=(), *, submission=None, **parameters):
    case = Case(tuple(evidence), TREE, BASE, submission or {}, FORM)
    return judge(GateUse(gate, parameters), case)


BOTH = {"criteria_checklist": {"c1": True, "c2": True}}


@pytest.mark.parametrize(
    ("gate", "evidence", "parameters", "verdict", "words"),
    [
        ("tests_pass", [suite()], {}, Passed, "3 tests pass"),
        ("tests_pass", [], {}, Missing, "Nothing has run yet; run `test`"),
        ("tests_pass", [suite(OTHER)], {}, Missing, "for an earlier tree"),
        ("tests_pass", [suite(failed=["t1", "t2"])], {}, Failed, "2 tests fail, first t1"),
        ("tests_pass", [suite(failed=["t1"]), suite()], {}, Passed, ""),
        ("tests_pass", [suite(), suite(failed=["t1"])], {}, Failed, "first t1"),
        (
            "tests_pass",
            [suite(failed=["t1"]), suite(command="pytest -k x", selected=True)],
            {},
            Failed,
            "first t1",
        ),
        ("tests_pass", [suite(passed=0)], {}, Failed, "ran no tests"),
        ("tests_pass", [suite(passed=0, exit_code=5)], {}, Failed, "ran no tests"),
        ("tests_pass", [suite(timed_out=True)], {}, Failed, "took too long"),
        (
            "tests_pass",
            [suite(passed=0, exit_code=2, reason="cannot import")],
            {},
            Failed,
            "exit code 2: cannot import",
        ),
        ("tests_pass", [suite(exit_code=3)], {}, Failed, "exit code 3."),
        ("tests_pass", [suite()], {"at_least": 4}, Failed, "Only 3 tests passed"),
        (
            "tests_pass",
            [
                suite(BASE, failed=["old"]),
                suite(failed=["old"]),
                suite(command="pytest -k new", selected=True),
            ],
            {},
            Failed,
            "first old",
        ),
        ("tests_pass", [suite(command="pytest -k x", selected=True)], {}, Missing, "run `test`"),
        ("tests_pass", [judged(TREE, BASE)], {}, Passed, "3 tests pass: red → green"),
        ("tests_pass", [suite(failed=["t1"]), judged(TREE, BASE)], {}, Passed, "3 tests pass"),
        ("tests_pass", [suite(), judged(TREE, BASE, REGRESSED)], {}, Failed, "test_a fails"),
        ("tests_pass", [judged(TREE, BASE, NEVER_RED)], {}, Passed, "nothing shown to fail"),
        ("tests_pass", [judged(TREE, BASE, STILL_RED)], {}, Passed, "Not test_old: failing before"),
        ("tests_pass", [judged(TREE, BASE, CHECKED)], {}, Missing, "has no tests"),
        ("tests_pass", [judged(TREE, BASE)], {"at_least": 4}, Failed, "Only 3 tests passed"),
        ("tests_pass", [judged(TREE, OTHER)], {}, Missing, "run `test`"),
        ("tests_pass", [judged(OTHER, BASE)], {}, Missing, "run `test`"),
        ("new_test_fails_before", [judged(TREE, BASE)], {}, Passed, "failed before: test_a"),
        (
            "new_test_fails_before",
            [base_run("red"), judged(TREE, BASE, NEVER_RED)],
            {},
            Failed,
            "none proves anything",
        ),
        ("tests_not_weakened", [judged(TREE, BASE)], {}, Passed, "No test got easier"),
        ("tests_not_weakened", [judged(TREE, BASE, QUESTIONED)], {}, Failed, "it checks less"),
        (
            "tests_not_weakened",
            [judged(TREE, BASE, replace(QUESTIONED, accepted_by="kim"))],
            {},
            Passed,
            "unasked",
        ),
        ("new_test_fails_before", [base_run("red")], {}, Passed, "fail without the change"),
        ("new_test_fails_before", [base_run("green")], {}, Failed, "prove nothing"),
        (
            "new_test_fails_before",
            [base_run("error", detail="no pytest")],
            {},
            Missing,
            "no pytest",
        ),
        ("new_test_fails_before", [base_run("error")], {}, Missing, "error"),
        ("new_test_fails_before", [base_run("red", OTHER)], {}, Missing, "earlier tree"),
        ("new_test_fails_before", [base_run("red", base="x")], {}, Missing, "base tree"),
        ("new_test_fails_before", [], {}, Missing, "base tree"),
        ("tests_not_weakened", [weakening()], {}, Passed, ""),
        ("tests_not_weakened", [], {}, Missing, "compare the tests"),
        ("tests_not_weakened", [weakening(base="x")], {}, Missing, "compare the tests"),
        (
            "tests_not_weakened",
            [weakening(Weakened("t.py", 4, "skip"))],
            {},
            Failed,
            "t.py:4 (skip)",
        ),
        (
            "tests_not_weakened",
            [weakening(Weakened("t.py", 4, "skip")), approval(True, "weakened-tests")],
            {},
            Passed,
            "kim accepted",
        ),
        (
            "tests_not_weakened",
            [weakening(Weakened("t.py", 4, "skip")), approval(False, "weakened-tests")],
            {},
            Failed,
            "t.py:4",
        ),
        ("command_succeeds", [command()], {"command": "make  it"}, Passed, "succeeded"),
        ("command_succeeds", [command(exit_code=2)], {"command": "make it"}, Failed, "code 2"),
        ("command_succeeds", [command("x")], {"command": "make it"}, Missing, "run `make it`"),
        ("command_succeeds", [command(tree=OTHER)], {"command": "make it"}, Missing, "earlier"),
        ("command_succeeds", [diff("a")], {"command": "make it"}, Missing, "Nothing has run yet"),
        (
            "command_succeeds",
            [command("true", proves_nothing="it cannot fail")],
            {"command": "true"},
            Failed,
            "proves nothing: it cannot fail",
        ),
        ("command_succeeds", [suite()], {"command": "pytest"}, Passed, ""),
        ("command_succeeds", [suite(passed=0)], {"command": "pytest"}, Failed, "ran no tests"),
        ("command_succeeds", [look(command="mypy")], {"command": "mypy"}, Passed, ""),
        ("build_passes", [look()], {}, Passed, "`make` is clean"),
        ("build_passes", [look(CheckKind.LINT)], {}, Missing, "`check` for build"),
        ("build_passes", [look(exit_code=1)], {}, Failed, "some problems"),
        ("build_passes", [look()], {"command": "tsc"}, Missing, ""),
        ("build_passes", [look(command="tsc -p .")], {"command": "tsc -p  ."}, Passed, ""),
        (
            "lint_clean",
            [look(CheckKind.LINT, problems=("a.py:1", "b.py:2"))],
            {},
            Failed,
            "2 problems, first a.py:1",
        ),
        ("types_clean", [look(CheckKind.TYPES, count=7)], {}, Failed, "7 problems"),
        ("diagnostics_clean", [look(CheckKind.DIAGNOSTICS)], {}, Passed, ""),
        (
            "diagnostics_clean",
            [
                look(CheckKind.DIAGNOSTICS, command="types-server"),
                look(CheckKind.LINT, 1, command="style-server", is_of_change=True),
            ],
            {},
            Failed,
            "`style-server` reports some problems",
        ),
        ("lint_clean", [look(CheckKind.DIAGNOSTICS, is_of_change=True)], {}, Missing, "for lint"),
        ("diff_within", [diff("src/a.py")], {"paths": ["src"]}, Passed, "1 changed files"),
        ("diff_within", [diff("src/a.py", "b")], {"paths": ["src"]}, Failed, "outside src: b"),
        ("diff_within", [], {"paths": ["src"]}, Missing, "compare the current tree"),
        ("diff_within", [diff("a", base="x")], {"paths": ["src"]}, Missing, "compare"),
        ("diff_size", [diff("a", "b")], {"max_files": 2, "max_lines": 10}, Passed, "10 lines"),
        ("diff_size", [diff("a", "b")], {"max_files": 1}, Failed, "2 files changed; at most 1"),
        ("diff_size", [diff("a", "b")], {"max_lines": 9}, Failed, "10 lines changed; at most 9"),
        ("diff_size", [], {"max_lines": 9}, Missing, ""),
        (
            "forbidden_paths_untouched",
            [diff(*"abcdef")],
            {"paths": ["**"]},
            Failed,
            "a, b, c, d, e and 1 more",
        ),
        ("forbidden_paths_untouched", [diff("a")], {"paths": ["b"]}, Passed, "Nothing in b"),
        ("forbidden_paths_untouched", [], {"paths": ["b"]}, Missing, ""),
        ("keep_regions_intact", [diff()], {}, Passed, "intact"),
        ("keep_regions_intact", [diff(keep_regions_touched=("nav",))], {}, Failed, "nav"),
        ("keep_regions_intact", [], {}, Missing, ""),
        ("no_secrets_added", [diff()], {}, Passed, ""),
        ("no_secrets_added", [diff(secrets_added=("a.py:3",))], {}, Failed, "a.py:3"),
        ("no_secrets_added", [], {}, Missing, ""),
        ("file_exists", [file()], {"path": "a.md"}, Passed, ""),
        ("file_exists", [file(exists=False)], {"path": "a.md"}, Failed, "does not exist"),
        ("file_exists", [file("b.md")], {"path": "a.md"}, Missing, "look for a.md"),
        (
            "file_contains",
            [file(asked=("x",), contains=("x",)), file(asked=("y",), contains=("y",))],
            {"path": "a.md", "text": "x"},
            Passed,
            "",
        ),
        ("file_contains", [file(asked=("x",))], {"path": "a.md", "text": "x"}, Failed, "'x'"),
        ("file_contains", [file(asked=("y",))], {"path": "a.md", "text": "x"}, Missing, "'x'"),
        ("file_contains", [file("b")], {"path": "a.md", "text": "x"}, Missing, "'x'"),
        ("file_contains", [file(exists=False)], {"path": "a.md", "text": "x"}, Failed, "exist"),
        ("http_ok", [http()], {}, Passed, "answered 200"),
        ("http_ok", [http()], {"url": "/pricing"}, Passed, ""),
        ("http_ok", [http(url="http://h")], {"url": "/"}, Passed, ""),
        ("http_ok", [http(url="http://h/a?b=/c#d")], {"url": "/a"}, Passed, ""),
        ("http_ok", [http(url="http://h#d")], {"url": "/"}, Passed, ""),
        ("http_ok", [http()], {"url": "/other"}, Missing, "no request was made to /other"),
        ("http_ok", [http()], {"url": "http://localhost:3000/pricing"}, Passed, ""),
        ("http_ok", [http(404)], {}, Failed, "answered 404."),
        ("http_ok", [http(404)], {"status": 404}, Passed, ""),
        ("http_ok", [http(200)], {"status": 404}, Failed, "200, not 404"),
        ("http_ok", [http(0, error="refused")], {}, Failed, "did not answer: refused"),
        ("console_clean", [console()], {}, Passed, ""),
        ("console_clean", [console("boom", failed_requests=("x",))], {}, Failed, "2 errors: boom"),
        ("console_clean", [], {"url": "/a"}, Missing, "no browser has opened /a"),
        ("visual_ok", [picture(True)], {}, Passed, ""),
        ("visual_ok", [picture(True, own=True)], {}, Passed, "no model judged its appearance"),
        ("visual_ok", [picture(False, note="it is blue")], {}, Failed, "expected: it is blue"),
        ("visual_ok", [picture(False)], {}, Failed, "as expected."),
        (
            "visual_ok",
            [picture(True)],
            {"expectation": "a hat"},
            Missing,
            "no picture was taken of the page",
        ),
        ("coverage_not_dropped", [coverage(80, 81)], {}, Passed, "80 % to 81 %"),
        ("coverage_not_dropped", [coverage(80, 79)], {}, Failed, "dropped"),
        ("coverage_not_dropped", [coverage(80, 79)], {"tolerance": 1}, Passed, ""),
        ("coverage_not_dropped", [coverage(80, 81)], {"minimum": 90}, Failed, "at least 90 %"),
        ("coverage_not_dropped", [], {}, Missing, "measure coverage"),
        ("human_approved", [approval(True)], {}, Passed, "kim accepted"),
        ("human_approved", [approval(True), approval(False)], {}, Failed, "did not accept"),
        ("human_approved", [approval(True, tree=OTHER)], {}, Missing, "earlier tree"),
        ("human_approved", [approval(True)], {"what": "release"}, Missing, "accept release"),
    ],
)
def test_gate_judges_evidence_about_the_present_tree(gate, evidence, parameters, verdict, words):
    answer = ask(gate, evidence, **parameters)
    assert isinstance(answer, verdict), answer
    assert words in answer.sentence


@pytest.mark.parametrize(
    ("submission", "verdict", "words"),
    [
        (BOTH, Passed, "claimed"),
        ({}, Missing, "c1 (Explained), c2 (Planned)"),
        ({"criteria_checklist": "done"}, Missing, "c1"),
        ({"criteria_checklist": {"c1": True}}, Missing, "c2 (Planned)"),
        ({"criteria_checklist": {"c1": True, "c2": "yes"}}, Failed, "c2 (Planned)"),
    ],
)
def test_checklist_is_the_drivers_word(submission, verdict, words):
    answer = ask("criteria_checklist_complete", submission=submission)
    assert isinstance(answer, verdict)
    assert words in answer.sentence


def test_checklist_without_criteria_is_never_complete():
    answer = judge(GateUse("criteria_checklist_complete"), Case((), TREE, submission=BOTH))
    assert isinstance(answer, Missing)


@pytest.mark.parametrize(
    ("submission", "parameters", "verdict", "words"),
    [
        ({"notes": "x"}, {}, Passed, "notes"),
        ({}, {}, Missing, "Submit notes"),
        ({"notes": "  "}, {}, Failed, "text that is not empty"),
        ({"commands_run": ["a"]}, {"names": ["commands_run"]}, Passed, ""),
        ({"commands_run": "a"}, {"names": ["commands_run"]}, Failed, "a list of texts"),
    ],
)
def test_evidence_present_looks_at_the_form(submission, parameters, verdict, words):
    answer = ask("evidence_present", submission=submission, **parameters)
    assert isinstance(answer, verdict)
    assert words in answer.sentence


def test_evidence_present_without_any_name_asks_for_nothing():
    answer = judge(GateUse("evidence_present"), Case((), TREE))
    assert answer == Passed("Submitted: nothing was asked for.")


def test_a_claim_satisfies_no_gate_that_flyball_checks_itself():
    lies = BOTH | {"notes": "all tests pass", "tests_passed": 100, "human_approved": True}
    for name, gate in GATES.items():
        parameters = {
            "command_succeeds": {"command": "x"},
            "diff_within": {"paths": ["x"]},
            "diff_size": {"max_files": 1},
            "forbidden_paths_untouched": {"paths": ["x"]},
            "file_exists": {"path": "x"},
            "file_contains": {"path": "x", "text": "x"},
        }.get(name, {})
        answer = ask(name, submission=lies, **parameters)
        assert isinstance(answer, Passed if gate.claims else Missing), name


def test_there_are_the_gates_of_the_specification_and_each_explains_itself():
    assert len(GATES) == 22
    for gate in GATES.values():
        assert gate.summary
        assert getdoc(gate.parameters)


@pytest.mark.parametrize(
    ("use", "code", "path", "words"),
    [
        ({"type": "tests_pas"}, "unknown-gate", ("type",), "Did you mean `tests_pass`?"),
        ({"type": "file_exists"}, "bad-parameter", ("parameters",), "Add `path`"),
        (
            {"type": "tests_pass", "parameters": {"at_least": "3"}},
            "bad-parameter",
            ("parameters", "at_least"),
            "a whole number of at least 1",
        ),
        (
            {"type": "tests_pass", "parameters": {"atleast": 3}},
            "unknown-field",
            ("parameters", "atleast"),
            "Did you mean `at_least`?",
        ),
        (
            {"type": "diff_within", "parameters": {"paths": []}},
            "bad-parameter",
            ("parameters", "paths"),
            "a list with something in it",
        ),
        ({"type": "diff_size"}, "bad-parameter", ("parameters",), "Add what is missing"),
        (
            {"type": "coverage_not_dropped", "parameters": {"minimum": 101}},
            "bad-parameter",
            ("parameters", "minimum"),
            "from 0 to 100",
        ),
        ({"type": "tests_pass", "parameters": 3}, "bad-parameter", ("parameters",), "a map"),
    ],
)
def test_a_wrong_gate_is_told_where_and_how_to_fix_it(use, code, path, words):
    (fault,) = gate_faults(use)
    assert (fault.code, fault.path) == (code, path)
    assert words in f"{fault.message} {fault.hint}"


@pytest.mark.parametrize("use", [{"type": "tests_pass"}, {"type": 3}, {"type": " "}, {}])
def test_what_the_shape_of_a_gate_already_says_is_not_said_twice(use):
    assert gate_faults(use) == ()


def test_a_gate_that_is_itself_wrong_never_passes():
    assert "There is no gate" in ask("tests_pas").sentence
    assert "parameters of `tests_pass` are wrong" in ask("tests_pass", at_least="x").sentence


def test_all_gates_of_a_template_are_judged_with_its_own_form():
    template = LIBRARY["D1"]
    ((use, verdict),) = judge_all(template, Case((), TREE, submission=BOTH))
    assert use.type == "criteria_checklist_complete"
    assert isinstance(verdict, Passed)


@pytest.mark.parametrize(
    ("evidence", "has_suite", "verdict", "words"),
    [
        ([suite()], True, Passed, "tests are green"),
        ([suite(), base_run("red")], True, Passed, "from red to green"),
        ([suite()], False, Passed, "tests are green"),
        ([], True, Missing, "Run `test`."),
        ([], False, Missing, "Run `check` for build or types"),
        (
            [suite(OTHER)],
            True,
            Missing,
            "changed since it was last verified. Run `test` (`pytest`)",
        ),
        ([suite(OTHER)], False, Missing, "changed since"),
        ([suite(failed=["t1"])], True, Failed, "first t1. Fix that and run `pytest` again."),
        ([suite(failed=["t1"]), suite()], True, Passed, ""),
        ([suite(passed=0)], True, Missing, "ran no tests, and that is not a pass"),
        ([suite(passed=0, exit_code=5)], True, Missing, "ran no tests"),
        ([suite(passed=0, exit_code=2)], True, Failed, "exit code 2"),
        ([suite(passed=0, timed_out=True)], True, Failed, "took too long"),
        (
            [suite(passed=0, exit_code=5, command="pytest -k typo"), suite(selected=True)],
            True,
            Passed,
            "",
        ),
        ([suite(passed=0, exit_code=5), look()], False, Passed, "builds or type-checks"),
        (
            [suite(BASE, failed=["old"]), suite(failed=["old"])],
            True,
            Missing,
            "fails only where it failed before",
        ),
        (
            [
                suite(BASE, failed=["old"]),
                suite(failed=["old"]),
                suite(command="pytest -k new", selected=True),
            ],
            True,
            Passed,
            "",
        ),
        ([suite(BASE, failed=["old"]), suite(failed=["old", "new"])], True, Failed, "2 tests fail"),
        ([look()], True, Missing, "does not show that it works"),
        ([look()], False, Passed, "builds or type-checks"),
        ([look(CheckKind.LINT)], False, Missing, "Nothing verifies"),
        ([look(CheckKind.SYNTAX)], True, Missing, "does not show that it works"),
        ([look(exit_code=2)], False, Failed, "`make` ended with exit code 2."),
        ([look(exit_code=2)], True, Missing, "Run `test`"),
        ([look(), look(CheckKind.TYPES, 1, command="mypy")], False, Failed, "`mypy`"),
        ([look(), look(CheckKind.LINT, 1, command="ruff")], False, Passed, ""),
        (
            [
                look(CheckKind.TYPES, 1, BASE, command="mypy"),
                look(),
                look(CheckKind.TYPES, 1, command="mypy"),
            ],
            False,
            Passed,
            "",
        ),
        ([http()], True, Passed, "it answers"),
        ([console()], True, Passed, "it answers"),
        ([http(), console("boom")], True, Failed, "reports: boom"),
        ([http(), http(500, "http://h/x")], True, Failed, "http://h/x answered 500"),
        ([console(), http(0, error="refused")], True, Failed, "answered refused"),
        ([http(), picture(False)], True, Failed, "does not look as expected"),
        ([http(), command(exit_code=1, verification=True)], True, Failed, "exit code 1"),
        ([http(tree=OTHER)], True, Missing, "changed since"),
        ([look(), http()], True, Passed, "it answers"),
        (
            [command("true", proves_nothing="it cannot fail")],
            True,
            Missing,
            "`true` proves nothing",
        ),
        ([command()], True, Missing, "Nothing verifies"),
    ],
)
def test_the_gate_before_done(evidence, has_suite, verdict, words):
    answer = judge_done(evidence, TREE, BASE, has_suite=has_suite)
    assert isinstance(answer, verdict), answer
    assert words in answer.sentence


def test_a_later_full_run_answers_an_earlier_red_selection():
    story = [suite(), suite(failed=["t"], command="pytest -k t", selected=True), suite()]
    assert isinstance(judge_done(story, TREE, BASE, has_suite=True), Passed)


@pytest.mark.parametrize("gate", ["http_ok", "console_clean", "visual_ok"])
def test_a_gate_of_pages_names_no_tool_that_may_be_missing(gate):
    answer = judge(GateUse(gate), Case((), TREE))
    assert isinstance(answer, Missing)
    assert not [row.name for row in TOOL_ROWS.values() if row.name in answer.sentence.split("`")]
    assert "Chromium" not in answer.sentence
