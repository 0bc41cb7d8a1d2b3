"""Whatever the files hold, weakened tests are judged without a fault."""

from __future__ import annotations

import ast

from hypothesis import given, settings
from hypothesis import strategies as st

from flyball.verdict.tests import weakenings

PATHS = (
    "tests/test_a.py",
    "a.spec.ts",
    "a_test.go",
    "src/lib.rs",
    "ATest.java",
    "spec/a_spec.rb",
    "conftest.py",
    "pytest.ini",
    "setup.cfg",
    "pyproject.toml",
    "package.json",
    "Makefile",
    ".github/workflows/ci.yml",
    "tests/golden/a.txt",
)
PIECES = st.sampled_from(
    [
        "def test_a():\n",
        "class TestA:\n",
        "    assert f(1) == 2\n",
        "    return\n",
        "@pytest.mark.skip\n",
        "    with pytest.raises(E, match='x'):\n        f()\n",
        "it('a', () => { expect(f(",
        ")).toBe(1) })\n",
        "#[cfg(test)]\n",
        "t.Errorf(",
        "if x {\n",
        "[pytest]\naddopts = -q\n",
        "test:\n\tpytest\n",
        "{",
        "}",
        "'",
        '"',
        "`",
        "\\",
        "/*",
        "\r\n",
        "\x00",
    ]
)
texts = st.none() | st.lists(PIECES | st.text(max_size=5), max_size=12).map("".join)
files = st.dictionaries(st.sampled_from(PATHS), texts, max_size=4)

STATEMENTS = st.lists(
    st.sampled_from(
        [
            "assert f(x) == 1",
            "assert x in (1, 2), 'why'",
            "assert not g(x) and h",
            "self.assertEqual(f(x), {'a': [1, 2.5]})",
            "x = f()",
            "expected = [1, 'two']",
            "assert k() == expected",
            "with pytest.raises(ValueError, match='no'):\n        f()",
            "if x:\n        assert y",
            "for _ in x:\n        assert z",
        ]
    ),
    min_size=1,
    max_size=8,
)

relaxed = settings(deadline=None)


@relaxed
@given(files, files)
def test_it_answers_for_any_two_states(before: dict[str, str | None], after: dict[str, str | None]):
    found = weakenings(before, after)
    assert list(found) == sorted(set(found), key=lambda w: (w.path, w.line, w.kind, w.detail))
    assert {w.path for w in found} <= {*before, *after}
    assert all(w.line >= 1 for w in found)


@relaxed
@given(files)
def test_what_did_not_change_is_not_weaker(state: dict[str, str | None]):
    assert weakenings(state, dict(state)) == ()


@relaxed
@given(STATEMENTS)
def test_formatting_and_additions_are_not_weaker(statements: list[str]):
    text = "def test_a(self):\n" + "".join(f"    {s}\n" for s in statements)
    again = "# tidy\n\n\n" + ast.unparse(ast.parse(text)).replace("\n", "\n\n") + "\n"
    more = text + "    assert more() == 1\n\n\ndef test_b():\n    assert b() == 2\n"
    for new in (again, more):
        assert weakenings({"tests/test_a.py": text}, {"tests/test_a.py": new}) == ()


@relaxed
@given(STATEMENTS, st.data())
def test_an_assertion_that_vanishes_is_always_noticed(statements: list[str], data: st.DataObject):
    asserting = [n for n, s in enumerate(statements) if "assert" in s or "raises" in s]
    if not asserting:
        statements, asserting = [*statements, "assert last()"], [len(statements)]
    gone = data.draw(st.sampled_from(asserting))
    rest = [s for n, s in enumerate(statements) if n != gone] or ["x = 1"]
    old, new = (
        "def test_a(self):\n" + "".join(f"    {s}\n" for s in lines) for lines in (statements, rest)
    )
    assert weakenings({"tests/test_a.py": old}, {"tests/test_a.py": new})
