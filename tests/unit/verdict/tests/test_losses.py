"""Shapes of honest work that once were alarms, each beside a lie that resembles it."""

from __future__ import annotations

import pytest

from flyball.verdict.tests import compare_tests
from flyball.verdict.tests._finding import ALARMS


def alarms(path: str, before: str, after: str) -> set[str]:
    found = compare_tests({path: before}, {path: after})
    return {one.sentence.partition(":")[0] for one in found if one.comparison in ALARMS}


def go(body: str, name: str = "TestA") -> str:
    return f"package x\n\nfunc {name}(t *testing.T) {{\n{body}}}\n"


MADE = go(
    '\tdir, err := ioutil.TempDir("", "")\n\tif err != nil {\n\t\tt.Fatal(err)\n\t}\n'
    "\tgot, err := Read(dir)\n\tif err != nil {\n\t\tt.Fatal(err)\n\t}\n"
    '\tif got != "x" {\n\t\tt.Fatal(got)\n\t}\n'
)
STEP = '\tdir, err := ioutil.TempDir("", "")\n\tif err != nil {\n\t\tt.Fatal(err)\n\t}\n'
BOTH = go("\tassert.Equal(t, F(1), 2)\n\tassert.Equal(t, F(2), 4)\n\tassert.Equal(t, F(3), 6)\n")
ROWS = go(
    "\ttests := []struct{ in, want int }{{1, 2}, {2, 4}, {5, 10}}\n"
    "\tfor _, tt := range tests {\n\t\tassert.Equal(t, F(tt.in), tt.want)\n\t}\n"
)
ONE_ROW = ROWS.replace("{1, 2}, {2, 4}, {5, 10}", "{9, 18}")
COUNTED = (
    "test('listens', () => {\n  const signal = fake()\n  run(signal)\n"
    "  assert.equal(signal.listeners, 0)\n})\n"
)
COUNTS = COUNTED.replace(
    "const signal = fake()", "let count = 0\n  const signal = tap(() => count++)"
)
ACCEPTED = '#[test]\nfn reads() {\n    assert_eq!(parse("-09 00"), Ok(dt));\n}\n'
ROUTED = (
    "\tr := NewRouter()\n\tr.NotFound(func(w http.ResponseWriter, r *http.Request) {\n"
    "\t\tw.WriteHeader(404)\n\t})\n\tassert.Equal(t, Get(r), 404)\n"
)
QUALIFIED = '#[test]\nfn helps() {\n    utils::assert_output(cmd, "help", "one line", false);\n}\n'
MACRO = (
    "const testSize = (t, run) => {\n  t.is(run(1), 2)\n}\n\n"
    "test('old way', t => {\n  t.is(run(1, old), 2)\n})\n"
)
GIVEN = MACRO.replace(
    "test('old way', t => {\n  t.is(run(1, old), 2)\n})", "test('old way of run', testSize, run)"
)


@pytest.mark.parametrize(
    ("path", "before", "after"),
    [
        # A step that can no longer fail is no longer asked whether it did.
        ("a_test.go", MADE, MADE.replace(STEP, "\tdir := t.TempDir()\n")),
        ("a_test.go", BOTH, ROWS),
        (
            "a_test.go",
            go("\tif ok != true {\n\t\tt.Fatal()\n\t}\n"),
            go("\tif !ok {\n\t\tt.Fatal()\n\t}\n"),
        ),
        (
            "a_test.go",
            go("\tif no() == false {\n\t\tt.Fatal()\n\t}\n"),
            go("\tif !no() {\n\t\tt.Fatal()\n\t}\n"),
        ),
        ("a_test.go", go("\tassert.NoError(t, err)\n"), go("\tassertNoError(t, err)\n")),
        (
            "a_test.go",
            go(ROUTED),
            go(ROUTED.replace("r.NotFound(func", "r.With(mw).NotFound(func")),
        ),
        (
            "a_test.go",
            go("\tF(1)\n", "BenchmarkF") + go("\tassert.Equal(t, F(1), 2)\n"),
            go("\tassert.Equal(t, F(1), 2)\n"),
        ),
        ("test/benchmark/speed.js", "run('a', 1)\nrun('b', 2)\n", "run('a', 1)\n"),
        ("test/a.js", COUNTED, COUNTS.replace("signal.listeners", "count")),
        (
            "tests/a.rs",
            ACCEPTED,
            ACCEPTED.replace(
                'assert_eq!(parse("-09 00"), Ok(dt))', 'assert!(parse("-09 00").is_err())'
            ),
        ),
        ("test/a.js", MACRO, GIVEN),
        ("tests/a.rs", QUALIFIED, QUALIFIED.replace("one line", "two lines")),
    ],
)
def test_it_is_no_alarm(path: str, before: str, after: str):
    assert alarms(path, before, after) == set()


@pytest.mark.parametrize(
    ("path", "before", "after", "kind"),
    [
        (
            "a_test.go",
            MADE,
            MADE.replace(STEP, '\tdir, _ := ioutil.TempDir("", "")\n'),
            "removed-assertion",
        ),
        (
            "a_test.go",
            MADE,
            MADE.replace(
                "\tif err != nil {\n\t\tt.Fatal(err)\n\t}\n\tif got", "\t_ = err\n\tif got"
            ),
            "removed-assertion",
        ),
        ("a_test.go", BOTH, ONE_ROW, "removed-assertion"),
        (
            "a_test.go",
            go("\tif ok != true {\n\t\tt.Fatal()\n\t}\n"),
            go("\tif ok == false && false {\n\t\tt.Fatal()\n\t}\n"),
            "tautology",
        ),
        (
            "a_test.go",
            go('\tr.NotContains(s, "x")\n\tr.True(ok)\n'),
            go("\tr.True(ok)\n"),
            "removed-assertion",
        ),
        (
            "test/a.js",
            COUNTED,
            COUNTED.replace(
                "const signal = fake()", "const count = 0\n  const signal = fake()"
            ).replace("signal.listeners", "count"),
            "tautology",
        ),
        (
            "tests/a.rs",
            ACCEPTED,
            ACCEPTED.replace(
                'assert_eq!(parse("-09 00"), Ok(dt))', 'assert!(parse("other").is_err())'
            ),
            "removed-assertion",
        ),
        (
            "test/a.js",
            MACRO,
            MACRO.split("test('old")[0] + "test('old way', t => {})\n",
            "emptied-test",
        ),
    ],
)
def test_what_resembles_it_is(path: str, before: str, after: str, kind: str):
    assert kind in alarms(path, before, after)


TOX = "[testenv:style]\ncommands =\n    isort --recursive src tests\n"


@pytest.mark.parametrize(
    ("path", "before", "after"),
    [
        (
            "pytest.ini",
            "[pytest]\naddopts = --tb=native\nnorecursedirs = x\n",
            "[pytest]\nnorecursedirs = x\n",
        ),
        ("tox.ini", "[testenv]\ncommands = pytest\n" + TOX, "[testenv]\ncommands = pytest\n"),
        (
            ".travis.yml",
            "script:\n  - cargo test\n",
            "before_script: (cargo install fmt || true)\nscript:\n  - cargo test\n",
        ),
    ],
)
def test_a_setting_that_runs_no_test_is_no_alarm(path: str, before: str, after: str):
    assert alarms(path, before, after) == set()


@pytest.mark.parametrize(
    ("path", "before", "after"),
    [
        (
            "pytest.ini",
            "[pytest]\naddopts = --tb=native --strict-markers\nx = 1\n",
            "[pytest]\nx = 1\n",
        ),
        (
            "tox.ini",
            "[testenv]\ncommands = pytest\n" + TOX + "    pytest tests\n",
            "[testenv]\ncommands = pytest\n",
        ),
        (".travis.yml", "script:\n  - cargo test\n", "script:\n  - cargo test || true\n"),
        (
            ".travis.yml",
            "script:\n  - make\n",
            "before_script: pytest || true\nscript:\n  - make\n",
        ),
    ],
)
def test_one_that_does_is(path: str, before: str, after: str):
    assert "edited-config" in alarms(path, before, after)
