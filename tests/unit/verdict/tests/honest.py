"""Small edits of honest work, which must not raise an alarm.

A row is (path, before, old, new): `old` is replaced by `new` in `before`.
"""

from __future__ import annotations

from tests.unit.verdict.tests.samples import (
    AVA,
    BATS,
    C_DECLARED,
    CATCH2,
    CHAI,
    EXUNIT,
    GO,
    GO_LOOSE,
    GO_SUBTESTS,
    GOMEGA,
    GTEST,
    JA,
    JEST,
    JS_LOOPED,
    JS_MORE,
    JS_PLAIN,
    JS_TABLE,
    JUNIT,
    KOTEST,
    LISTED,
    MINITEST,
    MINITEST_RESCUE,
    NODE,
    PH,
    PHP,
    PY,
    PY_SKIPPED,
    PY_STEPS,
    QUICKTEST,
    RB,
    RSPEC,
    RSPEC_LOOSE,
    RUBY_RESCUED,
    RUST,
    RUST_MACRO,
    SHELL,
    SPLIT,
    SUPERTEST,
    TAPE,
    TESTIFY,
    TYPED,
    UNITY,
    XUNIT,
    A,
    B,
    C,
    E,
    G,
    J,
    M,
    N,
    P,
    R,
    S,
    U,
    X,
)

UNITTEST = """import unittest


class CartTest(unittest.TestCase):
    def test_total(self):
        self.assertEqual(total([1, 2]), 3)
        self.assertIsNone(owner())
        self.assertTrue(is_open())
        self.assertIn("a", names())
        with self.assertRaises(ValueError):
            total(None)
"""
PYTEST = """import pytest


def test_total():
    assert total([1, 2]) == 3
    assert owner() is None
    assert is_open()
    assert "a" in names()
    with pytest.raises(ValueError):
        total(None)
"""
TWO = """def test_both():
    x = make()
    assert x.size == 3
    assert x.name == "x"
"""
SINGLE = """def test_one():
    assert f(1) == 2


def test_two():
    assert f(2) == 4
"""
TABLE = """@pytest.mark.parametrize(("n", "want"), [(1, 2), (2, 4), (3, 6)])
def test_f(n, want):
    assert f(n) == want
"""
JS_SINGLE = """it('doubles one', () => {
  expect(double(1)).toBe(2)
  expect(double(2)).toBe(4)
})
"""
PY_INLINE = """def test_a():
    x = f()
    assert x.size == 3
    assert x.ok
"""
PY_HELPER = """def look(thing):
    assert thing.size == 3
    assert thing.ok


def test_a():
    x = f()
    look(x)
"""

ONE_BY_ONE = """def test_f():
    assert f(1) == 2
    assert f(2) == 4
    assert f(3) == 6
"""
PY_LOCAL = """def test_sizes():
    cases = [("a", 1), ("bb", 2)]
    for text, size in cases:
        assert measure(text) == size
"""
PY_PARAM = """import pytest


@pytest.mark.parametrize("n", [pytest.param(1), pytest.param(2)])
@pytest.mark.parametrize(*OTHERS)
def test_n(n):
    assert f(n) == g(n)
"""
PY_NESTED = """def test_outer():
    def skipping():
        pytest.skip("inner")

    assert run(skipping) == 1
"""

HONEST: list[tuple[str, str, str, str]] = [
    (A, AVA, "\tt.true(m.ok);\n", "\tt.true(m.ok);\n\tt.is(m('n'), 'n');\n"),
    (A, AVA, "t.is(m('a b'), 'a-b')", 't.is( m("a b"), "a-b" )'),
    (A, AVA, "test('main'", "test('slugifies'"),
    (A, AVA, "test('second'", "// about z\ntest('second'"),
    (A, AVA, "import m from", "import slug, {x} from './x.js';\nimport m from"),
    (A, AVA, "t.true(m.ok)", "t.is(m.ok, true)"),
    (A, AVA, "test('second', t =>", "test('second', async t =>"),
    (J, JEST, "toBe(0)", "toStrictEqual(0)"),
    (J, JEST, "{ sum: 3, items: [1, 2] }", "{\n      sum: 3,\n      items: [1, 2],\n    }"),
    (
        J,
        JEST,
        "    expect(total([])).toBe(0)\n",
        "    const none = []\n    expect(total([])).toBe(0)\n",
    ),
    (J, JEST, "toBeLessThan(10)", "toBeLessThan(6)"),
    (J, JEST, "toBeLessThan(10)", "toBe(5)"),
    (J, JEST, "    [3, 9],\n", "    [3, 9],\n    [4, 16],\n"),
    (J, JEST, "    [1, 1],\n    [2, 4],\n", "    [2, 4],\n    [1, 1],\n"),
    (J, JEST, "toThrow(TypeError)", "toThrow(TypeError) // never null"),
    (J, JEST, "describe('cart'", "describe('basket'"),
    (J, JEST, "it('totals', () => {", "it('totals', function () {"),
    (J, JEST, "toContain('total')", "toBe('total')"),
    (J, JS_SINGLE, JS_SINGLE, JS_TABLE),
    (S, SUPERTEST, ".expect(200, 'hey', done)", ".expect(200)\n    .expect(200, 'hey', done)"),
    (
        S,
        SUPERTEST,
        "    var app = express();\n",
        "    var app = express();\n    app.set('x', 1);\n",
    ),
    (S, SUPERTEST, "function(done){\n    request", "function (done) {\n      request"),
    (S, SUPERTEST, "var request", "const request"),
    (N, NODE, "assert.equal(add", "assert.strictEqual(add"),
    (N, NODE, "assert.equal(add(1, 2), 3)", "assert.equal(add(1, 2), 3, 'adds')"),
    (N, NODE, "test('adds', ()", "test('adds', async ()"),
    (N, NODE, "test('adds', ", "test('adds', { timeout: 500 }, "),
    ("test/parse.js", TAPE, "  t.end()\n", "  t.equal(parse('2'), 2)\n  t.end()\n"),
    ("test/parse.js", TAPE, "function (t) {", "(t) => {"),
    ("test/list.js", CHAI, "to.equal('a')", "to.eql('a')"),
    (
        "test/list.js",
        CHAI,
        "assert.strictEqual(size(), 3)",
        "assert.strictEqual(\n      size(),\n      3\n    )",
    ),
    (G, GO, 't.Errorf("got %d", got)', 't.Errorf("Add = %d, want 3", got)'),
    (G, GO, "if got != 3 {", "if 3 != got {"),
    (G, GO, '		{"ccc", 3},\n', '		{"ccc", 3},\n		{"dddd", 4},\n'),
    (G, GO, '{"a", 1}', '{in: "a", want: 1}'),
    (G, GO, "func TestAdd(", "func TestAddition("),
    (G, GO, "\tgot := Add(1, 2)\n\tif got != 3", "\tsum := Add(1, 2)\n\tif sum != 3"),
    (G, GO, "\tgot := Add", "\tt.Parallel()\n\tgot := Add"),
    (G, TESTIFY, "assert.Equal(t, 3, s.Len())", 'assert.Equal(t, 3, s.Len(), "count")'),
    (G, TESTIFY, "assert.Equal(t, 3, s.Len())", "require.Equal(t, 3, s.Len())"),
    (
        G,
        TESTIFY,
        "require.NoError(t, s.Open())",
        "if err := s.Open(); err != nil {\n\t\tt.Fatal(err)\n\t}",
    ),
    (G, TESTIFY, "\ts := New()\n", "\ts := New()\n\tdefer s.Close()\n"),
    (G, QUICKTEST, "qt.Equals, 8)", 'qt.Equals, 8, qt.Commentf("x"))'),
    (G, QUICKTEST, "qt.New(t)\n", "qt.New(t)\n\tc.Parallel()\n"),
    (R, RUST, "pub fn add(a: u8", "pub fn add(a: u16"),
    (R, RUST, "assert!(add(0, 0) == 0)", "assert_eq!(add(0, 0), 0)"),
    (R, RUST, "assert_eq!(add(1, 2), 3)", 'assert_eq!(add(1, 2), 3, "sum")'),
    (R, RUST, '("b", 2)]', '("b", 2), ("c", 3)]'),
    (R, RUST, "    fn adds()", "    fn sums()"),
    (C, CATCH2, "    CHECK(sub", "    CHECK(add(2, 2) == 4);\n    CHECK(sub"),
    (C, CATCH2, "CHECK(sub(3, 1) == 2)", "REQUIRE(2 == sub(3, 1))"),
    (U, UNITY, "    TEST_ASSERT_TRUE", "    /* now */\n    TEST_ASSERT_TRUE"),
    (U, UNITY, "EQUAL_INT(3, add(1, 2))", "EQUAL_INT( 3,\n                  add(1, 2) )"),
    ("cart_test.cc", GTEST, "EXPECT_EQ(total({}), 0)", "ASSERT_EQ(total({}), 0)"),
    ("cart_test.cc", GTEST, "1.5, 0.001);", "1.5, 0.001);\n  EXPECT_TRUE(open());"),
    (B, BATS, "  run add 1 2\n", "  # three\n  run add 1 2\n"),
    (B, BATS, '@test "adds"', '@test "adds numbers"'),
    (B, BATS, '  [ "$output" = "3" ]\n', '  [ "$output" = "3" ]\n  [ "${#lines[@]}" -eq 1 ]\n'),
    ("tests/run.sh", SHELL, "./tool list", "# alpha\n./tool list"),
    (RB, RSPEC, "to eq(3)", "to eq 3"),
    (RB, RSPEC, '"names"', '"has a name"'),
    (RB, RSPEC, "    cart = Cart.new\n", "    cart = Cart.new(1)\n"),
    (
        M,
        MINITEST,
        "    assert cart.open?\n",
        "    assert cart.open?\n    assert_equal 1, cart.size\n",
    ),
    (M, MINITEST, "def test_name", "def test_the_name"),
    (PH, PHP, "            [3, 4],\n", "            [3, 4],\n            [5, 6],\n"),
    (PH, PHP, "$this->assertSame(3,", "self::assertSame(3,"),
    (JA, JUNIT, "assertEquals(3, cart.total());", 'assertEquals(3, cart.total(), "total");'),
    (JA, JUNIT, "void adds()", "void addsUp()"),
    (JA, JUNIT, '"3,9"}', '"3,9", "4,16"}'),
    (X, XUNIT, "    [InlineData(2, 4)]\n", "    [InlineData(2, 4)]\n    [InlineData(3, 9)]\n"),
    (X, XUNIT, "public void Adds()", "public async Task Adds()"),
    (E, EXUNIT, "    refute", "    # never\n    refute"),
    (E, EXUNIT, "assert Cart.total([1, 2]) == 3", "assert 3 == Cart.total([1, 2])"),
    (P, PY, "cart.total == 5", "5 == cart.total"),
    (P, PY, "    cart = make(3)\n", '    """It adds up."""\n    cart = make(3)\n'),
    (P, PY, "(3, 9)]", "(3, 9), (4, 16)]"),
    (P, PY, "(1, 1), (2, 4)", "(2, 4), (1, 1)"),
    (P, PY, "def test_total", "def test_the_total"),
    (P, PY, '["a", "b"]', "['a', 'b']"),
    (P, PY, "cart", "basket"),
    (P, PY, '    load("alpha")\n', '    load("alpha")\n    load("gamma")\n'),
    (P, PY, 'for text, size in [("a", 1)', 'for text, size in [("", 0), ("a", 1)'),
    (P, UNITTEST, UNITTEST, PYTEST),
    (P, TWO, TWO, SPLIT),
    (P, SPLIT, SPLIT, TWO),
    (P, SINGLE, SINGLE, TABLE),
    (P, PY_INLINE, PY_INLINE, PY_HELPER),
    ("tests/cases.yaml", "- in: 1\n", "- in: 1\n", "- in: 1\n- in: 2\n"),
    ("src/__snapshots__/a.snap", "exports[`a`] = `1`\n", "`1`\n", "`1`\nexports[`b`] = `2`\n"),
    (P, PY, "(1, 1)", "(1, 1, None)"),
    (P, TABLE, TABLE, ONE_BY_ONE),
    (P, ONE_BY_ONE, ONE_BY_ONE, TABLE),
    (P, PY_LOCAL, '("bb", 2)]', '("bb", 2), ("ccc", 3)]'),
    (P, PY_PARAM, "pytest.param(2)]", "pytest.param(2), pytest.param(3)]"),
    (P, PY_NESTED, "run(skipping) == 1\n", "run(skipping) == 1\n    assert ran()\n"),
    (P, PY_STEPS, "test_a():\n", "test_b():\n    prepare()\n"),
    (G, GO_SUBTESTS, 't.Log("nothing")', 't.Log("something")'),
    (G, GO_SUBTESTS, '{"a"},\n', '{"a"},\n\t\t{"b"},\n'),
    (G, GO_SUBTESTS, '"x", "y"}', '"x", "y", "z"}'),
    ("tests/all.rs", RUST_MACRO, "|dir: Dir", "|_dir: Dir"),
    ("src/test/CartTest.kt", KOTEST, "one())\n", "one())\n        assertEquals(2, two())\n"),
    ("test/test_add.c", C_DECLARED, "3);\n}", "3);\n    assert(add(0, 0) == 0);\n}"),
    (J, JS_MORE, "  ${2} | ${4}\n", "  ${2} | ${4}\n  ${3} | ${6}\n"),
    (J, JS_MORE, "    close()\n", "    await close()\n"),
    (G, GOMEGA, "Total()", " Total( ) "),
    (P, LISTED, "[1, 2]", "[1, 2, 3]"),
    (G, GO_LOOSE, "Ok(tt)", "Ok( tt )"),
    (J, "it('a', () => {\n  expect(f(g(1 < 2)) === 3).toBe(true)\n})\n", "f(g(", "f( g("),
    (P, LISTED, "f(n) == g(n)\n", "f(n) == g(n)\n    assert ok(n)\n"),
    (J, JS_PLAIN, "toThrow()", "toThrow(TypeError)"),
    (J, JS_PLAIN, JS_PLAIN, JS_LOOPED),
    (J, JS_LOOPED, "[1, 2, 3]]", "[1, 2, 3], [2, 2, 4]]"),
    (J, JS_PLAIN, "it('adds'", "it('sums'"),
    ("src/a.ts", TYPED, "// @ts-ignore\nconst old", "// @ts-ignore\nconst older"),
    ("src/a.ts", TYPED, "export", "const more = read() as any\nexport"),
    ("src/a.ts", TYPED, "load()", "load( )"),
    ("cart_test.cc", GTEST + "TEST(Later)\n;\n", "TEST(Later)\n;\n", "TEST(Later)\n;\n// soon\n"),
    (RB, RSPEC_LOOSE, "it 'b'", "it 'c'"),
    (M, MINITEST_RESCUE, "    assert_equal 1, one\n", "    assert_equal 1, one\n    assert two\n"),
    (M, MINITEST_RESCUE, "end\nend\n", RUBY_RESCUED),
    (JA, JUNIT, "  @Test", '  @SuppressWarnings("unchecked")\n  @Test'),
    ("tests/tests.rs", "mod a;\n", "mod a;\n", 'mod a;\n#[cfg(feature = "x")]\nmod b;\n'),
    (P, PY_SKIPPED, "reason='no sed'", "reason='sed is missing'"),
    ("tests/helpers/ipc.js", "go()\n", "go()\n", "go()\ncome()\n"),
]
