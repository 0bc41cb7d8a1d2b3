"""Forms that tests and their surroundings take, which must be understood and not only noticed."""

from __future__ import annotations

import pytest

from flyball.terms.evidence import Comparison
from flyball.verdict.tests import compare_tests
from flyball.verdict.tests._finding import ALARMS

RUST = """\
fn assert_output(args: &[&str]) {
    assert_eq!(run(args), EXPECTED);
}

#[test]
fn test_plain() {
    assert_output(&["--plain"]);
}
"""
RUST_METHOD = """\
#[test]
fn test_exec() {
    let env = TestEnv::new();
    env.assert_output(&["--exec"], WANTED);
}
"""
RUST_HELPED = """\
#[test]
fn test_exec() {
    assert_exec_output("--exec");
}

fn assert_exec_output(style: &str) {
    let env = TestEnv::new();
    env.assert_output(&[style], WANTED);
}
"""
RUST_ADDED = """
#[test]
fn test_json() {
    let text = r#"{"a": "b"}"#;
    assert_eq!(parse(text), 1);
}
"""
RUST_PRODUCT = """\
#[cfg(test)]
#[macro_use]
extern crate quickcheck;
#[cfg(test)]
mod tests;

pub fn add(a: u32, b: u32) -> u32 {
    check(a);
    a + b
}
"""
RUST_UNITS = """\
pub fn add(a: u32) -> u32 {
    assert!(a > 0);
    a
}

#[cfg(test)]
mod tests {
    #[test]
    fn adds() {
        assert_eq!(add(1), 1);
    }
}
"""
EXAMPLE = """\
package x

func ExampleGreet() {
	fmt.Println(Greet("Ann"))
	fmt.Println(Greet("Bob"))
	// Output:
	// Hello (Ann
	// Hello Bob
}

func TestGreet(t *testing.T) {
	require.Equal(t, "Hello", Greet(""))
}
"""
BUILT_ONLY = """\
package x

func ExampleServer() {
	serve("localhost:80")
	wait()
}

func TestServer(t *testing.T) {
	require.Equal(t, 1, count())
}
"""
PY_CHECK = """\
def test_vary(client):
    assert client.get("/a").vary == "Cookie"
    assert client.get("/b").vary is None
"""
PY_EITHER = """\
def test_vary(client):
    def expect(path, header=True):
        if header:
            assert client.get("/a").vary == "Cookie"
        else:
            assert {other}
    expect("/a")
    expect("/b", False)
    assert client.get("/b").vary is None
"""
JS_PLAN = """\
test('increments', t => {
  t.plan(1)
  t.equal(inc(version), wanted)
})
"""
JS_EITHER = """\
test('increments', t => {{
  if (wanted === null) {{
    t.plan(1)
    t.equal(inc(version), wanted)
  }} else {{
    {other}
  }}
}})
"""
PY_TWO = """\
def test_slash(client):
    assert client.get("/bar/foo").status == 204
    assert client.get("/spam/foo").status == 204
"""
PY_ROWS = """\
@pytest.mark.parametrize(argnames=["url"], argvalues=[("/a/b",), ("/a//b",), ("/a/b/",)])
def test_slash(client, url):
    assert client.get(url).status == 204
"""
PY_ONE_ROW = """\
@pytest.mark.parametrize("url", ["/a/b"])
def test_slash(client, url):
    assert client.get(url).status == 204
"""
PY_MIMES = """\
@pytest.mark.parametrize("mime", ["a/json", "b/json"])
def test_lexer(mime):
    assert lexer(mime) == "JSON"
"""
PY_MIMES_NAMED = """\
@pytest.mark.parametrize(
    argnames=["mime", "wanted"], argvalues=[("a/json", "JSON"), ("b/json", "JSON"), ("c", "Text")]
)
def test_lexer(mime, wanted):
    assert lexer(mime) == wanted
"""
PY_UNICODE = """\
def test_auth():
    strict_eq(user(), {prefix}"Ann")
    strict_eq(secret(), {prefix}"sesame")
"""
MAKE = """\
test: init
\t@echo $(TAG)Running tests$(END)
\tpytest --cov tests

publish-no-test:
\tpython setup.py sdist
\ttwine upload dist/*
"""
JUNIT = """\
class DateTest {
  @Rule public ExpectedException exception = ExpectedException.none();

  @Test
  public void rejectsBadTime() throws Exception {
    String text = "2018-06-25T61:60:62";
    exception.when(ParseException.class);
    parse(text);
  }

  @Test
  public void reads() {
    assertEquals(1, parse("1"));
  }
}
"""
PY_RAISES = """\
def test_key():
    with pytest.raises(ValueError) as e:
        render({"a": 1})
    assert "Invalid key: a" == e.value.args[0]
"""
PY_MATCHES = """\
def test_key():
    with pytest.raises(ValueError, match='Invalid key: a'):
        render({"a": 1})
"""
TOX = """\
[testenv]
commands = {envpython} -m pytest

[testenv:style]
commands = {envpython} -m flake8 src
"""
JS_OBJECTS = """\
function test(options) {
  options.valid.forEach(one => assert(validator[options.validator](one)));
}

describe('Validators', () => {
  it('should validate VAT numbers', () => {
    test({ validator: 'isVAT', valid: ['CH12'], invalid: ['CH'] });
    test({ validator: 'isVAT', valid: ['DE12'] });
  });
});
"""
TAGGED = "// +build {tag}\n\npackage x\n\nfunc TestA(t *testing.T) {{\n\trequire.Nil(t, f())\n}}\n"


def alarms(path: str, before: str, after: str) -> list[Comparison]:
    found = compare_tests({path: before}, {path: after})
    return [test.comparison for test in found if test.comparison in ALARMS]


@pytest.mark.parametrize(
    ("path", "before", "after"),
    [
        ("tests/test.rs", RUST, RUST + RUST_ADDED),
        ("src/lib.rs", RUST_UNITS, RUST_UNITS.replace("    assert!(a > 0);\n", "")),
        ("src/lib.rs", RUST_PRODUCT, RUST_PRODUCT.replace("    check(a);\n", "")),
        ("src/lib.rs", RUST_PRODUCT, RUST_PRODUCT.replace("#[macro_use]\nextern", "use")),
        ("tests/test.rs", "extern crate a;\n" + RUST, RUST),
        ("x_test.go", EXAMPLE, EXAMPLE.replace('"Bob"', '"Bo"').replace("Hello Bob", "Hello Bo")),
        ("x_test.go", BUILT_ONLY, BUILT_ONLY.replace("\twait()\n", "").replace(":80", ":8080")),
        ("x_test.go", TAGGED.replace("// +build {tag}", ""), TAGGED.format(tag="go1.9")),
        ("tests/ui/comma.stderr", "error: a\nhelp: b\n", "error: c\n"),
        ("tests/test_a.py", PY_CHECK, PY_EITHER.format(other="'Vary' not in client.headers")),
        ("test/inc.js", JS_PLAN, JS_EITHER.format(other="t.plan(1); t.throws(() => inc(version))")),
        ("tests/test_a.py", PY_TWO, PY_ROWS),
        ("tests/test_a.py", PY_MIMES, PY_MIMES_NAMED),
        ("tests/test_a.py", PY_UNICODE.format(prefix=""), PY_UNICODE.format(prefix="u")),
        ("Makefile", MAKE, MAKE.replace("Running tests$", "Running all tests$")),
        ("package.json", '{"scripts": {"test:ci": "nyc report --reporter=text"}}', "{}"),
        ("tox.ini", TOX, TOX.replace("-m flake8 src", "-m ruff check .")),
        ("package.json", '{"scripts": {"eslint:check": "eslint src/ test/"}}', "{}"),
        ("package.json", "{}", '{"scripts": {"test:some": "jest -t"}}'),
        ("tests/requirements.txt", "pytest\nmock\n", "pytest\n"),
        ("tests/test_a.py", PY_RAISES, PY_MATCHES),
        (
            "x_test.go",
            TAGGED.format(tag="!nomsg"),
            "//go:build !nomsg\n" + TAGGED.format(tag="!nomsg"),
        ),
        (
            "test/validators.js",
            JS_OBJECTS,
            JS_OBJECTS.replace("valid: ['CH12']", "valid: ['CH123']"),
        ),
        ("Makefile", MAKE, MAKE.replace("python setup.py sdist", "make build")),
        (
            "src/test/java/DateTest.java",
            JUNIT,
            JUNIT.replace(
                "    exception.when(ParseException.class);\n    parse(text);\n", ""
            ).replace(
                'String text = "2018-06-25T61:60:62";',
                'assertThrows(ParseException.class, () -> parse("2018-06-25T61:60:62"));',
            ),
        ),
        ("examples/hello/test.rb", 'get "/test" do\n  "a"\nend\n', 'get "/t" do\n  "a"\nend\n'),
        ("tests/test.rs", RUST_METHOD, RUST_HELPED),
    ],
)
def test_honest_work_is_understood(path: str, before: str, after: str):
    assert before != after
    assert alarms(path, before, after) == []


@pytest.mark.parametrize(
    ("path", "before", "after", "comparison"),
    [
        (
            "tests/test.rs",
            RUST,
            RUST.replace("assert_eq!(run(args), EXPECTED)", "run(args)"),
            Comparison.WEAKER,
        ),
        (
            "src/lib.rs",
            RUST_PRODUCT,
            RUST_PRODUCT.replace("#[cfg(test)]\nmod tests;\n", ""),
            Comparison.NOT_UNDERSTOOD,
        ),
        (
            "x_test.go",
            EXAMPLE,
            EXAMPLE.replace("\t// Output:\n\t// Hello (Ann\n\t// Hello Bob\n", ""),
            Comparison.GONE,
        ),
        (
            "x_test.go",
            TAGGED.replace("// +build {tag}", ""),
            TAGGED.format(tag="go1.99"),
            Comparison.SKIPPED,
        ),
        ("tests/test_a.py", PY_CHECK, PY_EITHER.format(other="True"), Comparison.WEAKER),
        ("tests/test_a.py", PY_TWO, PY_ONE_ROW, Comparison.WEAKER),
        (
            "test/inc.js",
            JS_PLAN,
            JS_EITHER.format(other="t.ok(true)"),
            Comparison.WEAKER,
        ),
        (
            "test/inc.js",
            JS_PLAN,
            JS_EITHER.format(other="inc(version)"),
            Comparison.WEAKER,
        ),
        ("Makefile", MAKE, MAKE.replace("pytest --cov tests", "echo pytest"), Comparison.WEAKER),
        ("tox.ini", TOX, TOX.replace("-m pytest", "-m ruff check ."), Comparison.WEAKER),
        (
            "package.json",
            '{"scripts": {"eslint:check": "eslint src/ && tsc"}}',
            "{}",
            Comparison.WEAKER,
        ),
        (
            "package.json",
            "{}",
            '{"scripts": {"test": "jest -t some"}}',
            Comparison.WEAKER,
        ),
        (
            "tests/test_a.py",
            PY_RAISES,
            PY_MATCHES.replace(", match='Invalid key: a'", ""),
            Comparison.WEAKER,
        ),
        (
            "package.json",
            '{"scripts": {"test:ci": "nyc report && ava"}}',
            "{}",
            Comparison.WEAKER,
        ),
        (
            "test/validators.js",
            JS_OBJECTS,
            JS_OBJECTS.replace("    test({ validator: 'isVAT', valid: ['DE12'] });\n", ""),
            Comparison.WEAKER,
        ),
        (
            "test/validators.js",
            JS_OBJECTS,
            JS_OBJECTS.replace(", invalid: ['CH']", ""),
            Comparison.WEAKER,
        ),
        (
            "test/b.js",
            "test({ name: 'adds', fn() { assertEquals(add([1]), 1) } })\n",
            "export {}\n",
            Comparison.GONE,
        ),
        (
            "test/a.js",
            "Deno.test({ name: 'adds', fn() { assertEquals(add(1), 1) } })\n",
            "export {}\n",
            Comparison.GONE,
        ),
        (
            "Makefile",
            MAKE.replace("pytest --cov", "echo $$(pytest --cov)"),
            MAKE.replace("pytest --cov", "echo $$(true)"),
            Comparison.WEAKER,
        ),
    ],
)
def test_what_resembles_it_is_still_found(
    path: str, before: str, after: str, comparison: Comparison
):
    assert comparison in alarms(path, before, after)


def test_what_an_example_must_print_is_compared_line_by_line():
    after = EXAMPLE.replace("// Hello Bob", "// Hello Bo")
    (found,) = compare_tests({"x_test.go": EXAMPLE}, {"x_test.go": after})
    assert found.function == "ExampleGreet"
    assert found.comparison is Comparison.OTHER_EXPECTATION


def test_a_parametrize_without_rows_is_no_table():
    before = PY_ONE_ROW.replace(', ["/a/b"]', "")
    after = before.replace("204", "205")
    (found,) = compare_tests({"tests/test_a.py": before}, {"tests/test_a.py": after})
    assert found.comparison is Comparison.OTHER_EXPECTATION


def test_a_value_that_changed_from_invalid_to_valid_is_another_expectation():
    after = JS_OBJECTS.replace("['CH12'], invalid: ['CH']", "['CH12', 'CH']")
    (found,) = compare_tests({"test/validators.js": JS_OBJECTS}, {"test/validators.js": after})
    assert found.comparison is Comparison.OTHER_EXPECTATION
