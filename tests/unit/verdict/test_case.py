from flyball.verdict.case import CaseOutcome, SuiteCase, digest_of, merged, number_duplicates
from flyball.verdict.part import Part, PartSuite, owner_of, reached

PASSED, FAILED = CaseOutcome.PASSED, CaseOutcome.FAILED


def test_the_same_name_in_two_files_is_two_tests():
    one, two = SuiteCase("works", PASSED, "a.test.js"), SuiteCase("works", FAILED, "b.test.js")
    assert one.label != two.label
    assert one.function != two.function
    assert two.label == "b.test.js > works"
    assert (one.is_bad, two.is_bad) == (False, True)


def test_a_name_carries_suites_and_parameters_unless_the_runner_spells_it_otherwise():
    assert (
        SuiteCase("adds", PASSED, "a.js", ("sum", "deep"), "1-2").label
        == "a.js > sum > deep > adds[1-2]"
    )
    assert SuiteCase("t", PASSED, "a.py", spelling="a.py::t").label == "a.py::t"


def test_parameters_are_left_out_where_two_trees_are_compared():
    assert (
        SuiteCase("t", PASSED, "a", (), "12:01").function
        == SuiteCase("t", FAILED, "a", (), "12:02").function
    )


def test_a_test_that_reports_twice_ended_as_its_worst():
    error = SuiteCase("t", CaseOutcome.ERROR, message="in clean-up", seconds=1)
    (found,) = merged([SuiteCase("t", PASSED, seconds=2), error])
    assert (found.outcome, found.message, found.seconds) == (CaseOutcome.ERROR, "in clean-up", 3)
    (again,) = merged([SuiteCase("t", FAILED, message="one"), error])
    assert (again.outcome, again.message) == (FAILED, "one\nin clean-up")


def test_tests_that_share_a_name_are_numbered():
    found = number_duplicates(
        [SuiteCase("t", PASSED), SuiteCase("t", FAILED), SuiteCase("t", PASSED, spelling="t")]
    )
    assert [case.label for case in found] == ["t", "t #2", "t #3"]


def test_a_digest_tells_runs_apart_and_not_their_order():
    one, two = SuiteCase("a", PASSED), SuiteCase("b", PASSED)
    assert digest_of([one, two]) == digest_of([two, one])
    assert digest_of([one, two]) != digest_of([one, SuiteCase("b", FAILED)])
    assert digest_of([]) == ""


SUITE = (PartSuite("pytest"),)


def paths(parts):
    return [part.path for part in parts]


REPO = (
    Part(".", suites=SUITE),
    Part("web", suites=SUITE),
    Part("web/icons"),
    Part("api", suites=SUITE, depends_on=("lib",)),
    Part("lib", suites=SUITE),
    Part("cli", suites=SUITE, depends_on=("api",)),
    Part("loop", suites=SUITE, depends_on=("loop",)),
)


def test_a_file_belongs_to_the_innermost_part_with_a_suite():
    assert owner_of(REPO, "web/icons/a.svg").path == "web"
    assert owner_of(REPO, "webby/a.js").path == "."
    assert owner_of(REPO, "setup.py").path == "."
    assert owner_of(REPO, "lib/x/y.py").path == "lib"


def test_without_any_suite_the_innermost_part_answers_and_without_parts_nobody():
    assert owner_of((Part("."), Part("a"), Part("a/b")), "a/b/c").path == "a/b"
    assert owner_of((Part("a"),), "b/c") is None


def test_a_change_reaches_those_that_need_what_was_changed_however_far():
    assert paths(reached(REPO, ["lib/x.py"])) == ["api", "lib", "cli"]
    assert paths(reached(REPO, ["web/a.js", "b"])) == [".", "web"]
    assert paths(reached(REPO, ["loop/a"])) == ["loop"]
    assert reached((Part("a"),), ["b/c"]) == ()
