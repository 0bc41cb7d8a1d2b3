"""What is said of every test of a change: lies are found, honest work is left in peace."""

from __future__ import annotations

import pytest
from tests.unit.verdict.tests.honest import HONEST
from tests.unit.verdict.tests.lies import LIES
from tests.unit.verdict.tests.samples import (
    AVA,
    COUPON,
    GO,
    JEST,
    JS_ASIDE,
    JS_HELPED,
    JS_NAMED,
    JS_NAMED_CALL,
    JS_PLAIN,
    JS_TABLE,
    JS_THREE,
    PY,
    PY_STEPS,
    SPLIT,
    WRAPPED,
    A,
    G,
    J,
    P,
)

from flyball.terms.evidence import ChangedTest, Comparison
from flyball.verdict.tests import compare_tests, weakenings
from flyball.verdict.tests._finding import ALARMS, GRAVITY, MAX_TEXT

QUIET = {Comparison.SAME, Comparison.ADDED, Comparison.STRONGER}


@pytest.mark.parametrize(("path", "before", "old", "new", "fate"), LIES)
def test_a_lie_is_found(path: str, before: str, old: str, new: str, fate: str):
    assert old in before
    after = before.replace(old, new, 1)
    tests = compare_tests({path: before}, {path: after})
    assert max((test.comparison for test in tests), key=GRAVITY.__getitem__) == fate
    assert all(test.sentence for test in tests)
    if fate in ALARMS:
        assert weakenings({path: before}, {path: after})


@pytest.mark.parametrize(("path", "before", "old", "new"), HONEST)
def test_honest_work_is_left_in_peace(path: str, before: str, old: str, new: str):
    assert old in before
    after = before.replace(old, new)
    assert {test.comparison for test in compare_tests({path: before}, {path: after})} <= QUIET
    assert weakenings({path: before}, {path: after}) == ()


def comparisons(before: dict[str, str], after: dict[str, str]) -> dict[str, str]:
    return {test.name: test.comparison for test in compare_tests(before, after)}


def find(tests: tuple[ChangedTest, ...], function: str) -> ChangedTest:
    (only,) = [test for test in tests if test.function == function]
    return only


def test_a_test_is_named_by_file_and_suites_and_what_did_not_change_is_not_named():
    (test,) = compare_tests({J: JEST}, {J: JEST.replace("toBe(0)", "toBe(1)")})
    assert (test.path, test.suite, test.function) == (J, ("cart",), "totals")
    assert test.name == f"{J}::cart::totals"
    assert test.comparison == "other-expectation"
    titled = "describe('a > b', () => {\n  it('c > d', () => {\n    expect(x()).toBe(1)\n  })\n})\n"
    (only,) = compare_tests({J: titled}, {J: titled.replace("(1)", "(2)")})
    assert (only.suite, only.function) == (("a > b",), "c > d")


def test_first_tests_beside_rust_code_are_additions():
    code = "pub fn f() -> i64 {\n    6\n}\n"
    tests = "mod tests {\n    #[test]\n    fn a() {\n        assert!(f() > 5);\n    }\n}\n"
    more = f"{code}\n#[cfg(test)]\n{tests}"
    found = compare_tests({"src/lib.rs": code}, {"src/lib.rs": more})
    assert [each.comparison for each in found] == [Comparison.ADDED]


def test_new_and_stronger_tests_are_told():
    more = PY + "\n\ndef test_more():\n    assert f() == 1\n"
    more = more.replace("cart.total == 5\n", "cart.total == 5\n    assert cart.open\n")
    assert comparisons({P: PY}, {P: more}) == {
        f"{P}::test_more": "added",
        f"{P}::test_total": "stronger",
    }
    js = AVA + "test('third', t => {\n\tt.is(m(''), '');\n});\n"
    assert comparisons({A: AVA}, {A: js}) == {f"{A}::third": "added"}


def test_both_texts_are_shown_and_bounded():
    long = PY.replace("    cart = make(3)\n", "    cart = make(3)\n" + "    cart.step()\n" * 400)
    test = find(compare_tests({P: PY}, {P: long}), "test_total")
    assert test.before.startswith("def test_total():\n    cart = make(3)\n")
    assert len(test.after) <= MAX_TEXT
    assert "\n…\n" in test.after
    assert test.after.endswith("cart.add(None)")


def test_bytes_are_read_and_what_is_binary_is_nobodys_test():
    (test, *_) = compare_tests({"tests/a.bin": b"\0x", G: GO.encode()}, {"tests/a.bin": b"\0y"})
    assert (test.path, test.comparison) == (G, "gone")
    assert comparisons({"tests/a.bin": "x"}, {}) == {"tests/a.bin": "not-understood"}


def test_a_test_that_moved_says_where_it_went():
    test = find(compare_tests({"a_test.go": GO}, {"b_test.go": GO}), "TestAdd")
    assert (test.path, test.comparison, test.became) == ("a_test.go", "same", "b_test.go::TestAdd")
    found = compare_tests({"tests/test_a.py": PY}, {"tests/test_b.py": PY})
    assert {test.comparison for test in found} == {"same"}
    assert found[0].became == "tests/test_b.py::test_square"
    inside = "class TestA:\n    def test_b(self):\n        assert f() == 1\n"
    test = find(compare_tests({P: inside}, {P: inside.replace("TestA", "TestC")}), "test_b")
    assert (test.suite, test.became) == (("TestA",), f"{P}::TestC::test_b")


def test_a_setting_that_got_weaker_is_told_about_its_file():
    before, after = "[pytest]\naddopts = -q\n", "[pytest]\naddopts = -q -k a\n"
    (only,) = compare_tests({"pytest.ini": before}, {"pytest.ini": after})
    assert (only.name, only.function, only.comparison) == ("pytest.ini", "", "weaker")
    assert only.sentence == "edited-config: pytest.addopts: -q became -q -k a"


BACK = "it('goes twice', () => {\n  expect(location('back')).toBe('/a')\n})\n"
PREFIXED = "def test_prefix_is_added():\n    assert add(1, 'p').name == 'p1'\n\n\n"
RUST_LIST = "tests/it/main.rs"
RUST_TEST = "#[test]\nfn adds() {\n    assert_eq!(add(1, 2), 3);\n}\n"

APART = (
    "def test_none():\n    assert total([]) == 0\n\n\ndef test_one():\n    assert total([2]) == 2\n"
)
TABLE = (
    "@pytest.mark.parametrize(('prices', 'wanted'), [([], 0), ([2], 2), ([3], 3)])\n"
    "def test_total(prices, wanted):\n    assert total(prices) == wanted\n"
)
TOGETHER = [
    pytest.param({P: APART}, {P: TABLE}, set(), id="tests that became rows of a table"),
    pytest.param(
        {P: APART},
        {P: TABLE.replace("([], 0), ", "")},
        {"other-expectation"},
        id="tests of which not all became rows of a table",
    ),
    pytest.param(
        {"src/cart.ts": "export function total() {}\n", J: JS_NAMED_CALL},
        {"src/cart.ts": "export function sum() {}\n", J: JS_NAMED_CALL.replace("total", "sum")},
        set(),
        id="a name that the product changed",
    ),
    pytest.param(
        {"a.test.js": JS_TABLE, "b.test.js": JS_PLAIN},
        {
            "a.test.js": JS_TABLE.replace(", [2, 4]", ""),
            "b.test.js": JS_PLAIN + JS_TABLE.replace("[1, 2], ", "").replace("doubles", "twice"),
        },
        set(),
        id="a row that moved",
    ),
    pytest.param(
        {"a.test.js": JS_TABLE},
        {"a.test.js": JS_TABLE.replace(", [3, 6]", "") + JS_THREE},
        {"other-expectation"},
        id="a row that became a test",
    ),
    pytest.param(
        {"a.test.js": JS_TABLE},
        {"a.test.js": JS_TABLE.replace(", [3, 6]", "").replace("\n})", JS_ASIDE)},
        set(),
        id="a row that became an assertion",
    ),
    pytest.param(
        {"a.test.js": JS_PLAIN + JS_THREE},
        {
            "a.test.js": JS_PLAIN.replace(
                "    expect(add(1", "  expect(double(3)).toBe(6)\nexpect(add(1"
            )
        },
        set(),
        id="a test that went into another",
    ),
    pytest.param(
        {"src/cart.py": "class Coupon:\n    pass\n", P: COUPON + SPLIT},
        {"src/cart.py": "class Cart:\n    pass\n", P: SPLIT},
        {"other-expectation"},
        id="a feature that went with its test",
    ),
    pytest.param(
        {"src/cart.py": "class Coupon:\n    pass\n", P: COUPON + SPLIT},
        {"src/cart.py": "class Cart:\n    pass\n", P: COUPON},
        {"gone"},
        id="a test that went beside a feature",
    ),
    pytest.param(
        {"src/cart.py": "class Coupon:\n    pass\n", P: "from cart import Coupon\n" + SPLIT},
        {"src/cart.py": ""},
        {"other-expectation"},
        id="a feature that went with its file of tests",
    ),
    pytest.param(
        {"src/help.js": "class Help {\n  wrapped(str) {\n    go();\n  }\n}\n", J: WRAPPED + JEST},
        {"src/help.js": "class Help {\n}\n", J: JEST},
        {"other-expectation"},
        id="a method that went with its test",
    ),
    pytest.param(
        {"src/url.js": "if (url === 'back') go()\n", J: BACK + JEST},
        {"src/url.js": "go()\nstay()\nleave()\n", J: JEST},
        {"other-expectation"},
        id="a word that went with its test",
    ),
    pytest.param(
        {"src/url.js": "if (url === 'back') go()\n", J: BACK + JEST},
        {"src/url.js": "go()\nstay()\nleave()\n", J: JEST + BACK.replace("twice", "once")},
        set(),
        id="a word that tests still say",
    ),
    pytest.param(
        {"src/url.js": "if (url === 'back') go()\n", J: BACK + JEST},
        {"src/url.js": "if (url === 'back') stay()\n", J: JEST},
        {"gone"},
        id="a word that the product still says",
    ),
    pytest.param(
        {"src/manager.py": "def add(x, prefix=None):\n    pass\n", P: PREFIXED + SPLIT},
        {"src/manager.py": "def add(x):\n    a()\n    b()\n", P: SPLIT},
        {"other-expectation"},
        id="a feature that only the name of its test names",
    ),
    pytest.param(
        {"src/url.js": "one()\ntwo()\nthree()\n", J: BACK + JEST},
        {"src/url.js": "one()\n", J: JEST},
        {"other-expectation"},
        id="code that went, and none that came",
    ),
    pytest.param(
        {"src/url.js": "one()\ntwo()\nthree()\n", J: BACK + JEST},
        {"src/url.js": "one()\n// two()\nfour()\n", J: JEST},
        {"gone"},
        id="code that went, and some that came",
    ),
    pytest.param(
        {"source/templates.js": "go()\nstay()\n", "test/template-literal.js": BACK},
        {"source/index.js": "a()\nb()\nleave()\n"},
        {"other-expectation"},
        id="a file that went with its tests",
    ),
    pytest.param(
        {"src/a.py": "x = 1\n", P: "import cart\n\nsize = cart.count('a')\n"},
        {"src/a.py": "x = 1\n", P: "import cart\n\nsize = cart.count('a')  # type: ignore\n"},
        {"other-expectation"},
        id="a mark on code without types",
    ),
    pytest.param(
        {P: "def f() -> int:\n    return cart.count('a')\n"},
        {P: "def f() -> int:\n    return cart.count('a')  # type: ignore\n"},
        {"weaker"},
        id="a mark on code with types",
    ),
    pytest.param(
        {"src/a.py": "def f() -> None:\n    teardown.close()\n"},
        {
            "src/a.py": "def f() -> None:\n    teardown.close()\n\n\ndef g() -> None:\n"
            "    teardown.close()  # type: ignore[union-attr]\n"
        },
        set(),
        id="a mark on a new line like one that stays",
    ),
    pytest.param(
        {"a.js": "'use strict';\n"},
        {"a.js": "/* eslint-disable no-console */\n'use strict';\n"},
        {"other-expectation"},
        id="a rule of style that is named",
    ),
    pytest.param(
        {"examples/todo/tests/test_todo.py": SPLIT},
        {},
        {"other-expectation"},
        id="an example that went",
    ),
    pytest.param(
        {"tests/cases.conf": "a=1\n", "tests/run.rb": "load 'cases.conf'\nassert a\n"},
        {"tests/run.rb": "assert a\n"},
        {"other-expectation"},
        id="data that went with who named it",
    ),
    pytest.param(
        {"a.test.js": JS_NAMED},
        {"a.test.js": JS_HELPED + JS_NAMED.replace("expect(value).toBe(1)", "checkOne(value)")},
        set(),
        id="an assertion that went into a helper",
    ),
    pytest.param(
        {"tests/test_a.py": SPLIT, "tests/test_b.py": PY_STEPS},
        {
            "tests/test_a.py": SPLIT.replace("    assert x.size == 3\n", "    x.go()\n"),
            "tests/test_b.py": PY_STEPS + "    assert x.sum == 3\n",
        },
        {"weaker"},
        id="a gain in another file",
    ),
    pytest.param(
        {RUST_LIST: "mod a;\nmod b;\nmod c;\n", "tests/it/b.rs": RUST_TEST},
        {RUST_LIST: "mod a;\nmod c;\n", "tests/more/b.rs": RUST_TEST},
        set(),
        id="a module that moved with its file",
    ),
    pytest.param(
        {RUST_LIST: 'mod a;\n#[cfg(feature = "x")]\npub mod b;\n', "tests/it/b/mod.rs": RUST_TEST},
        {RUST_LIST: "mod a;\n"},
        {"gone"},
        id="a module that went with its file of tests",
    ),
    pytest.param(
        {RUST_LIST: "mod a;\nmod b;\nmod c;\n", "tests/it/a.rs": RUST_TEST},
        {RUST_LIST: "mod a;\n// mod b;\nmod c;\n", "tests/it/a/mod.rs": RUST_TEST},
        {"not-understood"},
        id="a module that is not named, and whose file stays",
    ),
    pytest.param(
        {"src/lib.rs": "pub fn f() {}\n#[cfg(test)]\nmod tests;\n", "src/tests.rs": RUST_TEST},
        {"src/lib.rs": "pub fn f() {}\n", "tests/it.rs": RUST_TEST},
        set(),
        id="unit tests that became tests of the whole",
    ),
    pytest.param(
        {RUST_LIST: '#![cfg(feature = "x")]\nmod a;\n'},
        {RUST_LIST: "mod a;\n"},
        set(),
        id="a condition that was lifted",
    ),
]


@pytest.mark.parametrize(("before", "after", "alarms"), TOGETHER)
def test_files_are_judged_together(before: dict[str, str], after: dict[str, str], alarms: set[str]):
    found = set(comparisons(before, after).values())
    assert found & {*ALARMS, "other-expectation"} == alarms
