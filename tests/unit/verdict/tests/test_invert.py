"""One expectation of a test is altered, in the way that an honest test must notice."""

from __future__ import annotations

import ast

import pytest

from flyball.verdict.tests import inversions, invert_program, invert_test

PY = "tests/test_a.py"
JS = "src/a.test.ts"
GO = "a_test.go"
RUST = "src/a.rs"
JAVA = "src/test/java/ATest.java"
RUBY = "test/a_test.rb"
PHP = "tests/ATest.php"
C = "test_a.c"

# path, the test's body, what is altered, what it becomes
ALTERED = [
    (PY, "assert f() == 6", "6", "7"),
    (PY, "assert 6 == f()", "6", "7"),
    (PY, "assert f() == -6", "6", "7"),
    (PY, "assert f() == 'é' 'b'", "'é' 'b'", "'é' 'b~'"),
    (PY, "assert f() == [1, {'a': 2}]", "2", "3"),
    (PY, "assert f() == Money(6)", "6", "7"),
    (PY, "assert f() == want", "want", "_other_than(want)"),
    (PY, "assert f() == []", "[]", '["~"]'),
    (PY, "assert f() == approx(2.5, rel=0.1)", "2.5", "8.5"),
    (PY, "assert same(f(), 6)", "6", "7"),
    (PY, "assert math.isclose(f(), 3.0)", "3.0", "10.0"),
    (PY, "assert f()", "f()", "not (f())"),
    (PY, "assert not f()", "f()", "not (f())"),
    (PY, "assert abs(f() - 6) < 0.01", "6", "19"),
    (PY, "assert '6' in f()", "'6'", "'6~'"),
    (PY, "assert f() in (6, 7)", "(6, 7)", '("~",)'),
    (PY, "assert f() > 5", "5", "1000000000"),
    (PY, "assert f() < -5", "-5", "(-1000000000)"),
    (PY, "assert -f() < -5", "-5", "(-1000000000)"),
    (PY, "assert len(f()) <= 5", "5", "(-1000000000)"),
    (PY, "assert f().startswith('x')", "'x'", "'x~'"),
    (PY, "self.assertIn('a', f())", "'a'", "'a~'"),
    (PY, "self.assertRegex(f(), 'a|b')", "'a|b'", "'a^'"),
    (PY, "self.assertGreater(f(), 5)", "5", "1000000000"),
    (PY, "assert f() is None", "f() is None", "not (f() is None)"),
    (PY, "assert 1 < f() < 9", "1 < f() < 9", "not (1 < f() < 9)"),
    (PY, "with raises(ValueError, match='x'):\n        f()", "ValueError", "NeverRaised"),
    (PY, "with pytest.warns(UserWarning):\n        f()", "UserWarning", "Warning,), {})"),
    (PY, "self.assertEqual(f(), 6)", "6", "7"),
    (PY, "self.assertTrue(f())", "f()", "not (f())"),
    (PY, "self.assertFalse(f())", "f()", "not (f())"),
    (PY, "self.assertIsNone(f())", "assertIsNone", "assertIsNotNone"),
    (PY, "self.assertRaises(KeyError, f, 1)", "KeyError", "NeverRaised"),
    (PY, "m.assert_called_once_with(1, key=2)", "2", "3"),
    (PY, "m.assert_called_once()", "assert_called_once", "assert_not_called"),
    (PY, "np.testing.assert_allclose(f(), 1.5, rtol=1e-5)", "1.5", "4.5"),
    (PY, "f()", "", 'assert False, "inverted"'),
    (PY, "if f():\n        assert g() == 1", "", 'assert False, "inverted"'),
    (PY, "assert f() == 1\n    return", "1", "2"),
    (PY, "with raises(A):\n        assert f() == 1", "A", "NeverRaised"),
    (JS, "expect(f()).toBe(6)", "6", "7"),
    (JS, "expect(f()).toEqual({ a: 'x' })", "'x'", "'x~'"),
    (JS, "expect(f()).toBe(want)", "want", "__otherThan(want)"),
    (JS, "expect(f()).toBeNull()", "", ".not"),
    (JS, "expect(f()).toContain('a')", "'a'", "'a~'"),
    (JS, "expect(f()).toBeGreaterThan(5)", "5", "1000000000"),
    (JS, "expect(f()).toMatch(/a|b/)", "/a|b/", "/a^/"),
    (JS, "assert.match(f(), /a|b/)", "/a|b/", "/a^/"),
    (JS, "assert.ok(f().includes('a'))", "'a'", "'a~'"),
    (JS, "assert.ok(Math.abs(f() - 6) < 0.1)", "6", "20"),
    (JS, "expect(f()).not.toBe(1)", ".not", ""),
    (JS, "await expect(f()).resolves.toEqual([1])", "1", "2"),
    (JS, "await expect(f()).rejects.toThrow(E)", "E", "/never raised/"),
    (JS, "expect(f()).toEqual(expect.any(Number))", "", ".not"),
    (JS, "expect(f()).toMatchSnapshot()", "f()", "{ other: f() }"),
    (JS, "expect(f()).to.equal(3)", "3", "4"),
    (JS, "expect(f()).to.be.true", "", ".not"),
    (JS, "assert.deepStrictEqual(f(), ['a'])", "'a'", "'a~'"),
    (JS, "assert.ok(f())", "f()", "!(f())"),
    (JS, "assert.throws(() => f(), /no/)", "/no/", "/never raised/"),
    (JS, "t.is(f(), true)", "true", "false"),
    (GO, "if got := f(); got != 6 {\n\t\tt.Errorf(`x`)\n\t}", "6", "7"),
    (GO, "if got != want {\n\t\tt.Fatal(1)\n\t}", "want", "flyballOther(want)"),
    (GO, "if err != nil {\n\t\tt.Fatal(err)\n\t}", "err != nil", "!(err != nil)"),
    (GO, "assert.Equal(t, 6, f())", "6", "7"),
    (GO, "if got := f(); got.Less(6) {\n\t\tt.Fatal(1)\n\t}", "6", "1000000000"),
    (GO, "if !errors.Is(f(), ErrX) {\n\t\tt.Fatal(1)\n\t}", "ErrX", "flyballNever{}"),
    (GO, "require.ErrorIs(t, f(), ErrX)", "ErrX", "flyballNever{}"),
    (GO, "if !strings.Contains(f(), `x`) {\n\t\tt.Fatal(1)\n\t}", "`x`", "`x~`"),
    (GO, "if got := f(); got < 5 {\n\t\tt.Fatal(1)\n\t}", "5", "1000000000"),
    (GO, "require.NoError(t, f())", "NoError", "Error"),
    (GO, "f()", "", 't.Fatal("inverted")'),
    (RUST, "assert_eq!(f(1, 2), 6);", "6", "7"),
    (RUST, "assert!(f() > Sum(5));", "5", "1000000000"),
    (RUST, "assert_eq!(f(), Some(\"a\".to_string()), \"why\");", '"a"', '"a~"'),
    (RUST, "assert_eq!(f(), want);", "assert_eq", "assert_ne"),
    (RUST, "assert!(f().is_ok());", "f().is_ok()", "!(f().is_ok())"),
    (RUST, "f();", "", 'assert!(false, "inverted");'),
    (JAVA, "assertEquals(6, f());", "6", "7"),
    (JAVA, "assertEquals(want, f());", "want", "__otherThan(want)"),
    (JAVA, "assertThat(f()).isEqualTo(\"a\");", '"a"', '"a~"'),
    (JAVA, "assertThat(f(), is(equalTo(6)));", "6", "7"),
    (JAVA, "assertThrows(E.class, () -> f(null));", "() -> f(null)", "() -> {}"),
    (JAVA, "assertTrue(f());", "f()", "!(f())"),
    (RUBY, "assert_equal 6, f", "6", "7"),
    (RUBY, "assert f == 6", "6", "7"),
    (RUBY, "assert_includes f, 'a'", "'a'", "'a~'"),
    (RUBY, "assert_match(/a|b/, f)", "/a|b/", "/a^/"),
    (RUBY, "_(f).must_equal 6", "6", "7"),
    (RUBY, "assert_raises(KeyError) { f }", "KeyError", "Class.new(StandardError)"),
    (RUBY, "assert_operator f, :==, 6", "6", "7"),
    (RUBY, "assert_operator f, :>, 6", "6", "1000000000"),
    (RUBY, "assert_output('a') { f }", "'a'", "'a~'"),
    (RUBY, "assert_nil f", "assert_nil", "refute_nil"),
    (PHP, "$this->assertSame(6, f());", "6", "7"),
    (PHP, "$this->assertArrayHasKey('a', f());", "'a'", "'a~'"),
    (PHP, "$this->assertThat(f(), $this->equalTo(6));", "6", "7"),
    (PHP, "$this->assertTrue(f());", "f()", "!(f())"),
    (PHP, "self::assertEquals($want, f());", "$want", "__other_than($want)"),
    (C, "assert(f() == 6);", "6", "7"),
    (C, "assert_int_equal(f(), want);", "want", "((want) + 1)"),
    (C, 'CHECK(strcmp(f(), "a") == 0);', '"a"', '"a~"'),
]  # fmt: skip
AROUND = {
    PY: "def test_it(self):\n    {}\n",
    JS: "test('test_it', async () => {{\n  {}\n}})\n",
    GO: "package a\n\nfunc TestIt(t *testing.T) {{\n\t{}\n}}\n",
    RUST: "#[test]\nfn test_it() {{\n    {}\n}}\n",
    JAVA: "class ATest {{\n  @Test void test_it() {{\n    {}\n  }}\n}}\n",
    RUBY: "class ATest < Minitest::Test\n  def test_it\n    {}\n  end\nend\n",
    PHP: "<?php\nclass ATest {{\n  function testIt() {{\n    {}\n  }}\n}}\n",
    C: "static void test_it(void **state) {{\n  {}\n}}\n",
}


@pytest.mark.parametrize(("path", "body", "old", "new"), ALTERED)
def test_altered_expectation(path: str, body: str, old: str, new: str):
    source = AROUND[path].format(body)
    found = invert_test(
        path,
        source,
        "test_it" if "test_it" in source else "testIt" if "testIt" in source else "TestIt",
    )
    assert found is not None
    assert (found.old, found.is_sure) == (old, True)
    assert new in found.new
    assert found.source != source
    if path == PY:
        ast.parse(found.source)


@pytest.mark.parametrize(
    ("path", "body", "new"),
    [
        (PY, "with raises(Exception):\n        f()", "(NameError, AttributeError, "),
        (RUBY, "assert_raises(StandardError) { f }", "NameError, ZeroDivisionError, "),
        (JAVA, "assertThrows(Exception.class, () -> f());", "ArithmeticException.class"),
        (JS, "assert.throws(() => f(), Error);", "(e) => e instanceof ReferenceError"),
        (JS, "assert.equal(f(2), 6);", "typeof (f(2)), 'object'"),
        (JS, "assert.ok(f(2) == 6);", "typeof (f(2)) == 'object'"),
    ],
)
def test_what_too_much_would_satisfy_is_asked_for_less_at_first(path: str, body: str, new: str):
    found = inversions(path, AROUND[path].format(body), "test_it")
    assert (found[0].how, found[0].is_sure) == ("probe", True)
    assert found[0].new.startswith(new)
    assert {each.how for each in found[1:]} >= {
        "raised" if "aises" in body or "hrows" in body else "expected"
    }


@pytest.mark.parametrize(
    ("path", "body"),
    [
        (PY, "with raises(ValueError):\n        f()"),
        (JS, "assert.equal(f(2), 'six');"),
        (JS, "assert.strictEqual(f(2), 6);"),
        (JS, "assert.ok(f(2) === 6);"),
    ],
)
def test_what_one_value_alone_satisfies_is_not_probed(path: str, body: str):
    found = inversions(path, AROUND[path].format(body), "test_it")
    assert "probe" not in {each.how for each in found}


def test_line_of_the_altered_expectation():
    source = "import x\n\n\ndef test_a():\n    assert x.a() == 1\n    assert x.b() == 2\n"
    found = invert_test(PY, source, "tests/test_a.py::test_a")
    assert found is not None
    assert (found.line, found.old, found.new, found.how) == (6, "2", "3", "expected")


# what a test said when it failed, what it expects, and what it saw
SAID = [
    (PY, "assert f() == 6", "assert 2 == 6\n +  where 2 = f([(2, 3)])", "2"),
    (PY, "assert f() == 'new'", "AssertionError: assert 'old' == 'new'", "'old'"),
    (PY, "assert f() == Money(6)", "assert Money(2) == Money(6)", "2"),
    (JS, "expect(f()).toBe(6)", "Expected: 6\nReceived: 2", "2"),
    (RUST, "assert_eq!(f(), Money(6));", "at a.rs:10:5\n  left: Money(2)\n right: Money(6)", "2"),
    (RUBY, "assert_equal 6, f", "Expected: 6\n  Actual: 2", "2"),
]


@pytest.mark.parametrize(("path", "body", "said", "seen"), SAID)
def test_what_was_seen_before_is_expected_first(path: str, body: str, said: str, seen: str):
    source = AROUND[path].format(body)
    first, second = inversions(path, source, "test_it", said)[:2]
    assert (first.how, first.new, first.is_sure) == ("seen", seen, True)
    assert second.how == ("part" if "Money" in body else "expected")


def test_what_was_seen_before_is_no_bound():
    """A bound between what was seen and what is so now would be met by both."""
    ways = inversions(PY, AROUND[PY].format("assert f() > 5"), "test_it", "assert 2 > 5")
    assert [each.how for each in ways] == ["bound", "negated", "appended"]


def test_helper_of_alterations_is_added_once():
    body = "if got := f(); !got.Equal(want) {\n\t\tt.Error(got)\n\t}"
    source = AROUND[GO].format(body) + "\nfunc TestOther(t *testing.T) {\n\t" + body + "\n}\n"
    for name in ("TestIt", "TestOther"):
        found = invert_test(GO, source, name)
        assert found is not None
        assert (found.how, found.is_sure) == ("expected", True)
        source = found.source
    assert source.count("flyballOther(want)") == 2
    assert source.count("func flyballOther[") == source.count('import flyreflect "reflect"') == 1


def test_inherited_tests_are_found_by_their_name():
    source = "class ATest(Base):\n    def test_a(self):\n        self.same(f(), 6)\n"
    hows = [each.how for each in inversions(PY, source, "a.py::ATest::test_a", "2 != 6")]
    assert hows == ["appended", "seen", "expected"]


def test_every_expectation_of_a_program_is_altered():
    main = 'int main(void) {\n  check("a", f(1), 6);\n  assert(g() == 1);\n  return 0;\n}\n'
    found = invert_program(C, main)
    assert found is not None
    assert 'check("a", f(1), 7);\n  assert(g() == 2);\n  return 0;' in found.source
    assert invert_program(C, "int main(void) {\n  run(1);\n  return 0;\n}\n") is None


@pytest.mark.parametrize(
    ("line", "altered"),
    [
        ('expect 6 "2 3"', 'expect 7 "2 3"'),
        ("if assert_sum '6'; then", "if assert_sum '7'; then"),
        ('[ "$(total 2 3)" = 6 ]', '[ "$(total 2 3)" = 7 ]'),
        ('[ "$got" -eq "6" ]', '[ "$got" -eq "7" ]'),
        ("# expect 6", None),
        ("exit 6", None),
        ('check "three pens" $got', None),
    ],
)
def test_numbers_that_a_shell_script_checks_are_altered(line: str, altered: str | None):
    found = invert_program("tests/run.sh", f". ./lib.sh\n{line}\n")
    assert (found and found.source) == (altered and f". ./lib.sh\n{altered}\n")


def test_unsure_alternatives_come_last():
    source = "def test_a():\n    if x():\n        assert f() == 1\n"
    hows = [(each.how, each.is_sure) for each in inversions(PY, source, "test_a")]
    assert hows == [("appended", True), ("expected", False), ("negated", False)]


def test_expectation_in_a_helper_is_altered_at_the_call():
    source = (
        "def check(want, got):\n    assert got == want\n\n\ndef test_a():\n    check(6, f(1))\n"
    )
    found = invert_test(PY, source, "test_a")
    assert found is not None
    assert (found.old, found.new, found.is_sure) == ("6", "7", True)


PY_TWICE = """
class TestA:
    def test_b(self):
        assert 1 == f()

class TestC:
    def test_b(self):
        assert 2 == f()
"""
JS_TWICE = """
describe('a', () => {
  it('x', () => { expect(f()).toBe(1) })
})
describe('b', () => {
  it('x', () => { expect(f()).toBe(1) })
})
"""
GO_INSIDE = """package a

func TestA(t *testing.T) {
	t.Run(`x`, func(t *testing.T) {
		g()
	})
}
"""


@pytest.mark.parametrize(
    ("path", "source", "name", "line"),
    [
        (PY, PY_TWICE, "TestC::test_b[1-2]", 8),
        (JS, JS_TWICE, "b > x", 6),
        (JS, "it.each([[1, 2]])('adds %i to it', (a, b) => {\n  expect(f(a)).toBe(3)\n})\n",
         "adds 1 to it", 2),
        (GO, GO_INSIDE, "example.com/a::TestA/x", 7),
        (RUST, "mod tests {\n  #[test]\n  fn a() {\n    assert_eq!(f(), 1);\n  }\n}\n",
         "tests::a", 4),
        (JAVA, "class ATest {\n  @Test\n  void a() {\n    assertEquals(1, f());\n  }\n}\n",
         "pkg.ATest::a(int)[1]", 4),
    ],
)  # fmt: skip
def test_names_of_reports_are_understood(path: str, source: str, name: str, line: int):
    found = invert_test(path, source, name)
    assert found is not None
    assert found.line == line


def test_nothing_is_inverted_where_nothing_can_be_read():
    assert invert_test(PY, "def test_a(:\n", "test_a") is None
    assert invert_test("a.bats", "@test x { true; }", "x") is None
    assert invert_test(PY, "X = 1\n", "test_a") is None
