"""Small changes to new lines, by the syntax tree."""

from __future__ import annotations

import pytest

from flyball.verdict.tests import mutants

PY = """def f(a, b):
    \"\"\"Add.\"\"\"
    if a < b and b:
        log(a)
    return a + 1
"""


def changes(path: str, source: str, *lines: int) -> set[tuple[str, str, str]]:
    return {(m.operator, m.old, m.new) for m in mutants(path, source, lines, most=50)}


def test_operators_in_python():
    assert changes("a.py", PY, 1, 2, 3, 4, 5) == {
        ("comparison", "<", "<="),
        ("condition", "and", "or"),
        ("condition", "a < b and b", "not (a < b and b)"),
        ("statement", "log(a)", "pass"),
        ("constant", "1", "2"),
        ("arithmetic", "+", "-"),
        ("return", "a + 1", "None"),
    }


@pytest.mark.parametrize(
    ("path", "line", "wanted"),
    [
        ("a.ts", "if (a === 1) { go(); } return a;", {("comparison", "===", "!=="),
         ("constant", "1", "2"), ("condition", "a === 1", "!(a === 1)"),
         ("statement", "go();", ";"), ("return", "a", "undefined")}),
        ("a.go", "if a == 1 { go1() }\nreturn a > 2", {("comparison", "==", "!="),
         ("constant", "1", "2"), ("condition", "a == 1", "!(a == 1)"),
         ("statement", "go1()", "")}),
        ("a.rs", "if a < 1 { go(); }", {("comparison", "<", "<="), ("constant", "1", "2"),
         ("condition", "a < 1", "!(a < 1)"), ("statement", "go();", "")}),
        ("a.java", "if (a < 1 || b) { go(); }", {("comparison", "<", "<="),
         ("constant", "1", "2"), ("condition", "||", "&&"),
         ("condition", "a < 1 || b", "!(a < 1 || b)"), ("statement", "go();", ";")}),
        ("a.c", "if (a < 1) { go(); }", {("comparison", "<", "<="), ("constant", "1", "2"),
         ("condition", "a < 1", "!(a < 1)"), ("statement", "go();", ";")}),
    ],
)  # fmt: skip
def test_operators_by_grammar(path: str, line: str, wanted: set[tuple[str, str, str]]):
    around = {
        "a.ts": "function f(a: number) {{\n{}\n}}\n",
        "a.go": "package a\nfunc f(a int) bool {{\n{}\n}}\n",
        "a.rs": "fn f(a: i32) {{\n{}\n}}\n",
        "a.java": "class A {{\nvoid f(int a) {{\n{}\n}}\n}}\n",
        "a.c": "void f(int a) {{\n{}\n}}\n",
    }[path]
    source = around.format(line)
    number = source[: source.index(line)].count("\n") + 1
    assert changes(path, source, number) == wanted


def test_every_line_gets_one_before_any_gets_two():
    source = "x = 1 + 2 + 3\ny = 4\n"
    assert [(m.line, m.old) for m in mutants("a.py", source, [1, 2], most=3)] == [
        (1, "+"),
        (2, "4"),
        (1, "+"),
    ]


def test_only_the_lines_asked_for_are_changed():
    (only,) = mutants("a.py", "x = 1\ny = 2\n", [2])
    assert (only.source, only.line) == ("x = 1\ny = 3\n", 2)
    assert mutants("a.py", "x = (\n", [1]) == ()
    assert mutants("a.txt", "1 == 2", [1]) == ()
