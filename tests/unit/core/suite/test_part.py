from flyball.core.suite.part import Part, PartSuite, owner_of, reached

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
