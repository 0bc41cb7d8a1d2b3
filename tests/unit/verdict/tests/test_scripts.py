"""Tests in other languages that got weaker."""

from __future__ import annotations

import pytest

from flyball.verdict.tests import weakenings

JS = """// it('is not a test', ...)
describe('cart', () => {
  it('totals', () => {
    expect(total([])).toBe(0);
    expect(total([1, 2])).toEqual({ sum: 3, items: ["a)"] }); /* expect(nothing) */
  });
  test("throws", async () => { await expect(() => f()).toThrow(TypeError) })
  const expected = 7;
});
"""
GO = """package x
func TestAdd(t *testing.T) {
	got := Add(1, 2)
	want := 3
	if got != want {
		t.Errorf("got %d", got)
	}
	require.NoError(t, err)
	t.Fatal("no")
}
"""
RUST = """pub fn a() { assert!(x); }
#[cfg(test)]
mod tests {
    #[test]
    fn adds() { assert_eq!(add(1, 2), 3); }
}
"""
JAVA = """class CartTest {
  @Test
  void adds() {
    assertEquals(3, add(1, 2));
    assertThat(x).isEqualTo(4);
  }
}
"""
RUBY = """describe "cart" do
  # expect(x).to eq 1
  it "adds" do
    expect(add(1, 2)).to eq 3
  end
end
"""

CASES = [
    ("src/cart.test.ts", JS, "toBe(0)", "toBe(1)", ["changed-expected"]),
    ("src/cart.test.ts", JS, "toBe(0)", "toBeDefined()", ["loosened"]),
    ("src/cart.test.ts", JS, "sum: 3", "sum: 4", ["changed-expected"]),
    ("src/cart.test.ts", JS, "    expect(total([])).toBe(0);\n", "", ["removed-assertion"]),
    (
        "src/cart.test.ts",
        JS,
        "    expect(total([])).toBe",
        "//  expect(total([])).toBe",
        ["commented-out"],
    ),
    ("src/cart.test.ts", JS, "it('totals'", "it.skip('totals'", ["new-skip"]),
    ("src/cart.test.ts", JS, "it('totals'", "xit('totals'", ["new-skip"]),
    ("src/cart.test.ts", JS, "it('totals'", "it.only('totals'", ["focused-test"]),
    ("src/cart.test.ts", JS, "expected = 7", "expected = 8", ["changed-expected"]),
    ("src/cart.test.ts", JS, "expected = 7", "expected = compute()", []),
    ("src/cart.test.ts", JS, "it('totals'", "it('adds up'", []),
    ("src/cart.test.ts", JS, "'totals'", '"totals"', []),
    ("src/cart.test.ts", JS, '{ sum: 3, items: ["a)"] }', "{\n sum: 3,\n items: ['a)'],\n}", []),
    ("src/cart.test.ts", JS, "describe(", "it('x', () => expect(1).toBe(one()));\ndescribe(", []),
    ("x_test.go", GO, "want := 3", "want := 4", ["changed-expected"]),
    ("x_test.go", GO, "got != want", "got < want", ["loosened"]),
    ("x_test.go", GO, '"got %d", got', '"got %v", got', []),
    ("x_test.go", GO, "\tgot :=", '\tt.Skip("flaky")\n\tgot :=', ["new-skip"]),
    ("x_test.go", GO, "\trequire.NoError(t, err)\n", "", ["removed-assertion"]),
    ("x_test.go", GO, "func TestAdd", "func testAdd", ["renamed-away"]),
    ("src/lib.rs", RUST, "assert!(x); ", "", []),
    ("src/lib.rs", RUST, ", 3)", ", 4)", ["changed-expected"]),
    (
        "src/lib.rs",
        RUST,
        "assert_eq!(add(1, 2), 3)",
        "assert!(add(1, 2) > 0)",
        ["loosened"],
    ),
    ("src/lib.rs", RUST, "    #[test]", "    #[test]\n    #[ignore]", ["new-skip"]),
    ("tests/api.rs", "fn a() { assert!(x); }", "assert!(x)", "b()", ["removed-assertion"]),
    ("src/CartTest.java", JAVA, "  @Test", "  @Disabled\n  @Test", ["new-skip"]),
    ("src/CartTest.java", JAVA, "isEqualTo(4)", "isNotNull()", ["loosened"]),
    ("src/CartTest.java", JAVA, "assertEquals(3", "assertEquals(4", ["changed-expected"]),
    ("src/CartTest.java", JAVA, "  @Test\n", "", ["renamed-away"]),
    ("spec/cart_spec.rb", RUBY, "eq 3", "eq 4", ["changed-expected"]),
    ("spec/cart_spec.rb", RUBY, '  it "adds"', '  xit "adds"', ["new-skip"]),
    ("spec/cart_spec.rb", RUBY, "    expect(add", "    # expect(add", ["commented-out"]),
    ("spec/cart_spec.rb", RUBY, "# expect(x).to eq 1", "# later", []),
]


@pytest.mark.parametrize(("path", "text", "old", "new", "kinds"), CASES)
def test_weaker_or_not(path: str, text: str, old: str, new: str, kinds: list[str]):
    assert old in text
    after = text.replace(old, new)
    assert [w.kind for w in weakenings({path: text}, {path: after})] == kinds


def test_a_deleted_file_is_told_once():
    (only,) = weakenings({"a.spec.js": JS}, {"a.spec.js": None})
    assert (only.kind, only.detail) == (
        "deleted-file",
        "deleted with its tests: totals, throws",
    )
    (support,) = weakenings({"tests/setup.js": "x()"}, {})
    assert (support.kind, support.detail) == ("changed-expected", "the file was deleted")
    (other,) = weakenings({"tests/run.js": "x()"}, {})
    assert (other.kind, other.detail) == ("not-understood", "the file was deleted")


def test_a_moved_file_is_not_deleted():
    assert weakenings({"a.spec.js": JS}, {"b.spec.js": JS}) == ()


def test_an_assertion_that_moved_between_files_is_not_lost():
    line = "    expect(total([])).toBe(0);\n"
    before = {"a.spec.js": JS, "b.spec.js": "it('b', () => {\n});\n"}
    after = {"a.spec.js": JS.replace(line, ""), "b.spec.js": f"it('b', () => {{\n{line}}});\n"}
    assert weakenings(before, after) == ()


def test_the_place_and_the_words_are_told():
    (only,) = weakenings({"a.spec.js": JS}, {"a.spec.js": JS.replace("toBe(0)", "toBe(1)")})
    assert only.line == 4
    assert only.detail == "`expect(total([])).toBe(0)` became `expect(total([])).toBe(1)`"


def test_a_bracket_that_never_closes_does_no_harm():
    old = "it('a', () => { expect(f("
    assert [w.kind for w in weakenings({"a.spec.js": old}, {"a.spec.js": "it('a', x)"})] == [
        "emptied-test"
    ]


def test_windows_line_ends_are_formatting():
    assert weakenings({"a.spec.js": JS}, {"a.spec.js": JS.replace("\n", "\r\n")}) == ()


def test_recorded_output_that_changed_is_an_expectation():
    for path in ("tests/golden/a.txt", "src/__snapshots__/a.snap", "tests/a.approved.txt"):
        if "tests" in path or path.endswith(".snap"):
            (only,) = weakenings({path: "1"}, {path: "2"})
            assert (only.kind, only.detail) == ("changed-expected", "recorded output was rewritten")
    assert weakenings({"tests/golden/a.txt": "1"}, {})[0].detail == "recorded output was deleted"
    assert weakenings({}, {"tests/golden/a.txt": "1"}) == ()
    (data,) = weakenings({"tests/data.txt": "1"}, {"tests/data.txt": "2"})
    assert (data.kind, data.detail) == ("changed-expected", "data for tests was changed")


def test_a_skip_that_was_there_is_not_new():
    old = "it.skip('a', () => {});\nit('b', () => {});\n"
    assert weakenings({"a.spec.js": old}, {"a.spec.js": old + "// more\n"}) == ()


def test_an_assertion_inside_another_is_part_of_it():
    old = "it('a', () => { expect(assertOk(1)).toBe(2); });\n"
    kinds = [w.kind for w in weakenings({"a.spec.js": old}, {"a.spec.js": "it('a', () => {});"})]
    assert kinds == ["emptied-test"]


def test_a_failure_that_became_a_result_is_another_expectation():
    old = "it('a', () => {\n  expect(() => f(1)).toThrow()\n})\n"
    new = "it('a', () => {\n  expect(g(2)).toBeTruthy()\n})\n"
    (only,) = weakenings({"a.test.js": old}, {"a.test.js": new})
    assert only.kind == "changed-expected"


def test_an_assertion_finds_the_one_about_the_same_thing():
    old = "it('a', () => {\n  expect(x).toBeDefined()\n  expect(f(1)).toBe(1)\n})\n"
    new = "it('a', () => {\n  expect(f(1)).toBe(2)\n})\n"
    kinds = {w.kind for w in weakenings({"a.test.js": old}, {"a.test.js": new})}
    assert kinds == {"changed-expected", "removed-assertion"}


def test_what_runs_before_tests_is_no_test():
    test = "test('a', t => {\n  t.is(f(1), 1)\n})\n"
    old = "test.before('setup', () => {\n  s.on('/a', () => go(1))\n  s.on('/b', go)\n})\n" + test
    new = old.replace("  s.on('/b', go)\n", "")
    assert weakenings({"test/a.js": old}, {"test/a.js": new}) == ()
    shown = old.replace(".before", "")
    kinds = {w.kind for w in weakenings({"test/a.js": shown}, {"test/a.js": new})}
    assert "not-understood" in kinds or "removed-test" in kinds


def test_declarations_of_types_beside_tests_are_support():
    old, new = "declare const a: string\ndeclare const b: number\n", "declare const a: string\n"
    (only,) = weakenings({"test/types/x.d.ts": old}, {"test/types/x.d.ts": new})
    assert only.kind == "changed-expected"
