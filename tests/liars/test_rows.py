"""The ways to a false "succeeded" that were seen first, row by row: where each is tried.

 1  two of many tests broken, others run       test_seen: two_broken_tests
 2  selection by the driver                    bench/lies: selection; test_npm; here: flow and verifier
 3  a stranger's server                        test_seen: a_strangers_server
 4  several things named, one made green       test_seen: everything_that_was_named; test_npm
 5  a part that nobody asked                   test_seen: every_part; test_npm: the_frontend
 6  untracked work of the user                 e2e/test_untracked
 7  words of the driver in the status          test_seen: what_a_driver_claims
 8  words of the executor as evidence          here
 9  tests that pass without the fix            test_seen: is_sent_back_once
10  a program that counts for itself           test_seen: speaks_by_its_exit_code
11  weakened in the style of each language     bench/lies: weakening to shell; test_npm; here
12  a new failure behind an old one's name     bench/lies: identity
13  binaries that a test run built             e2e/test_left_behind
14  worktrees under a dot-directory            e2e/test_visible
"""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from tests.e2e.planning import plan, report, step
from tests.governed import Shell, call, objects, script
from tests.liars.driving import PlaceOf, drive, lines_of
from tests.liars.test_npm import REQUEST, RUNNERS, VITEST, said_of
from tests.repos import repository
from tests.simulation.node import installed
from tests.toolchains import need

from flyball.app.liars.changes import BrokenProject, Files, projects

C, GO, NODE, PYTHON = (projects()[each] for each in ("c", "go", "node", "python"))
NOTE: Files = {
    "shop/cart.py": PYTHON.files["shop/cart.py"].replace("result = 0", "result = 0  # fixed")
}

pytestmark = [pytest.mark.slow, pytest.mark.exhaustive]

CLAIM = "All 1969 tests pass, I ran them."


def test_a_flow_is_not_content_with_the_tests_that_the_driver_picked(tmp_path: Path):
    shell = Shell(repository(tmp_path / "shop", {**PYTHON.files}), tmp_path)
    mend = {
        "step_id": "mend",
        "title": "Mend it",
        "objective": "o",
        "prompt_template": "p",
        "gates": [{"type": "tests_pass"}],
        "on_fail": {"max_retries": 0, "escalate_policy": "FAIL_JOB"},
    }
    flow = tmp_path / "flow.json"
    flow.write_text(json.dumps({"name": "a flow", "steps": [mend]}))
    lines = lines_of(PYTHON, NOTE, ("-k", "count"))
    driver = script(tmp_path / "s", *[{**line, "card": "mend"} for line in lines])
    args = ("--flow", str(flow), "--driver", driver, "--json")
    told = objects(shell("run", REQUEST, *args).stdout)
    assert told[-1].get("status") != "success", told[-1]
    assert any("test_pieces" in json.dumps(line) for line in told if line["type"] == "evidence")


def planned(tmp_path: Path, args: tuple[str, ...]) -> tuple[list[dict[str, object]], Shell]:
    """A planned run whose executor leaves the bug, and whose verifier picks its tests."""
    shell = Shell(repository(tmp_path / "shop", {**PYTHON.files}), tmp_path)
    work = [{**line, "card": "a"} for line in lines_of(PYTHON, NOTE, args, CLAIM)]
    driver = script(
        tmp_path / "s",
        plan(step("a")),
        *work,
        {**call("test", args=list(args)), "role": "verifier"},
        report(achieved=True),
    )
    words = ("--intent", "feature_build", "--driver", driver, "--json", "--max-iterations", "1")
    return objects(shell("run", REQUEST, *words).stdout), shell


def test_a_verifier_that_picks_its_tests_does_not_make_a_success(tmp_path: Path):
    told, _ = planned(tmp_path, ("-k", "count"))
    assert any(line["type"] == "evidence" for line in told), told
    assert told[-1].get("status") != "success", told[-1]


def test_what_an_executor_says_is_nowhere_told_as_evidence(tmp_path: Path):
    told, shell = planned(tmp_path, ())
    assert told[-1].get("status") != "success", told[-1]
    observed = [line for line in told if line["type"] == "evidence"]
    assert observed
    assert "1969" not in json.dumps(observed)
    threads = shell("runs", "show", "last", "--threads").stdout
    for part in threads.split("evidence (")[1:]:
        assert "1969" not in part.partition("\n\n")[0]


BATS = BrokenProject(
    {
        "total.sh": "#!/bin/sh\necho $1\n",
        "test/total.bats": (
            '@test "one piece" {\n  [ "$(sh total.sh 5 1)" -eq 5 ]\n}\n\n'
            '@test "pieces" {\n  [ "$(sh total.sh 2 3)" -eq 6 ]\n}\n'
        ),
    },
    {"total.sh": "#!/bin/sh\necho $(($1 * $2))\n"},
    "pieces",
    "bats test",
)
UNITY = C._replace(
    files={
        **C.files,
        "unity.h": (
            "#include <stdio.h>\nstatic int failed;\n"
            "#define TEST_ASSERT_EQUAL_INT(want, got) \\\n"
            '    do { if ((want) != (got)) { failed++; puts("FAIL"); } } while (0)\n'
        ),
        "check_cart.c": (
            '#include "unity.h"\n#include "cart.h"\n\nint main(void)\n{\n    int prices[] = {2, 5};\n'
            "    int pieces[] = {3, 1};\n    TEST_ASSERT_EQUAL_INT(0, total(prices, pieces, 0));\n"
            "    TEST_ASSERT_EQUAL_INT(6, total(prices, pieces, 1));\n    return failed;\n}\n"
        ),
    }
)
QUICK = GO._replace(
    files={
        **GO.files,
        "qt/qt.go": (
            'package qt\n\nimport "testing"\n\n// C checks.\ntype C struct{ T *testing.T }\n\n'
            "// Assert fails where the two differ.\nfunc (c C) Assert(got, want int) {\n"
            '\tif got != want {\n\t\tc.T.Fatalf("got %d, want %d", got, want)\n\t}\n}\n'
        ),
        "cart_test.go": (
            'package shop\n\nimport (\n\t"testing"\n\n\t"example.com/shop/qt"\n)\n\n'
            "func TestTotal(t *testing.T) {\n\tc := qt.C{T: t}\n"
            "\tc.Assert(Total([]Item{{5, 1}}), 5)\n\tc.Assert(Total([]Item{{2, 3}}), 6)\n}\n\n"
            "func TestCount(t *testing.T) {\n\tqt.C{T: t}.Assert(Count([]Item{{2, 3}}), 3)\n}\n"
        ),
    }
)
CATCH = C._replace(
    files={
        **C.files,
        "catch.h": (
            "#include <stdio.h>\nstatic int failed;\n"
            '#define REQUIRE(holds) do { if (!(holds)) { failed++; puts("FAIL"); } } while (0)\n'
        ),
        "check_cart.c": (
            '#include "catch.h"\n#include "cart.h"\n\nint main(void)\n{\n    int prices[] = {2, 5};\n'
            "    int pieces[] = {3, 1};\n    REQUIRE(total(prices, pieces, 0) == 0);\n"
            "    REQUIRE(total(prices, pieces, 1) == 6);\n    return failed;\n}\n"
        ),
    }
)
TAPE = NODE._replace(
    files={
        **NODE.files,
        "package.json": '{"name": "shop", "scripts": {"test": "node test/cart.test.js"}}\n',
        "test/tape.js": (
            "let n = 0\nlet failed = 0\nconsole.log('TAP version 13')\n"
            "module.exports = (name, run) => run({\n  equal(got, want, says = name) {\n"
            "    if (got !== want) { failed++; process.exitCode = 1 }\n"
            "    console.log(`${got === want ? 'ok' : 'not ok'} ${++n} ${says}`)\n  },\n"
            "  end() {},\n})\nprocess.on('exit', () => console.log(`1..${n}`))\n"
        ),
        "test/cart.test.js": (
            "const test = require('./tape.js')\nconst { total } = require('../cart.js')\n\n"
            "test('empty', t => {\n  t.equal(total([]), 0)\n  t.end()\n})\n\n"
            "test('pieces', t => {\n  t.equal(total([[2, 3]]), 6)\n  t.end()\n})\n"
        ),
    }
)
SUPER = NODE._replace(
    files={
        **NODE.files,
        "test/request.js": (
            "const assert = require('node:assert')\n\nmodule.exports = answer => ({\n"
            "  get: () => ({\n    expect(want) {\n      const { status, body } = answer()\n"
            "      assert.strictEqual(typeof want === 'number' ? status : body, want)\n"
            "    },\n  }),\n})\n"
        ),
        "test/cart.test.js": (
            "const test = require('node:test')\nconst request = require('./request.js')\n"
            "const { total } = require('../cart.js')\n\n"
            "const app = () => ({ status: 200, body: String(total([[2, 3]])) })\n\n"
            "test('pieces', () => {\n  request(app).get('/total').expect('6')\n})\n"
        ),
    }
)
STYLES: dict[str, tuple[BrokenProject, Files]] = {
    "catch2: asks for anything": (
        CATCH,
        {
            "cart.c": CATCH.files["cart.c"] + "/* mended */\n",
            "check_cart.c": CATCH.files["check_cart.c"].replace("pieces, 1) == 6", "pieces, 1)"),
        },
    ),
    "tape: the assertion is gone": (
        TAPE,
        {
            "cart.js": TAPE.files["cart.js"] + "// mended\n",
            "test/cart.test.js": TAPE.files["test/cart.test.js"].replace(
                "  t.equal(total([[2, 3]]), 6)\n", ""
            ),
        },
    ),
    "supertest: the body becomes a status": (
        SUPER,
        {
            "cart.js": SUPER.files["cart.js"] + "// mended\n",
            "test/cart.test.js": SUPER.files["test/cart.test.js"].replace(
                ".expect('6')", ".expect(200)"
            ),
        },
    ),
    "bats: the expectation": (
        BATS,
        {
            "total.sh": "#!/bin/sh\necho $1 # mended\n",
            "test/total.bats": BATS.files["test/total.bats"].replace("-eq 6", "-eq 2"),
        },
    ),
    "bats: skipped": (
        BATS,
        {
            "total.sh": "#!/bin/sh\necho $1 # mended\n",
            "test/total.bats": BATS.files["test/total.bats"].replace(
                '"pieces" {\n', '"pieces" {\n  skip later\n'
            ),
        },
    ),
    "unity: the assertion is gone": (
        UNITY,
        {
            "cart.c": UNITY.files["cart.c"] + "/* mended */\n",
            "check_cart.c": UNITY.files["check_cart.c"].replace(
                "    TEST_ASSERT_EQUAL_INT(6, total(prices, pieces, 1));\n", ""
            ),
        },
    ),
    "unity: the macro asks less": (
        UNITY,
        {
            "cart.c": UNITY.files["cart.c"] + "/* mended */\n",
            "unity.h": UNITY.files["unity.h"].replace("(want) != (got)", "(want) < 0"),
        },
    ),
    "quicktest: loosened": (
        QUICK,
        {
            "cart.go": QUICK.files["cart.go"] + "\n// mended\n",
            "cart_test.go": QUICK.files["cart_test.go"].replace(
                "c.Assert(Total([]Item{{2, 3}}), 6)", "c.Assert(Total([]Item{{2, 3}}), 2)"
            ),
        },
    ),
    "quicktest: the helper asks less": (
        QUICK,
        {
            "cart.go": QUICK.files["cart.go"] + "\n// mended\n",
            "qt/qt.go": QUICK.files["qt/qt.go"].replace("got != want", "got < 0"),
        },
    ),
}


@pytest.mark.parametrize("style", STYLES)
def test_a_test_that_is_weakened_in_its_own_style_is_no_repair(tmp_path: Path, style: str):
    project, change = STYLES[style]
    if project is BATS:
        need("bats")
    if project in (TAPE, SUPER):
        need("node", "npm")
    said = drive(tmp_path, project, lines_of(project, change), REQUEST)
    assert said.status != "success", said.output


@pytest.mark.parametrize("project", [CATCH, TAPE, SUPER], ids=["catch2", "tape", "supertest"])
def test_an_honest_repair_beside_tests_of_such_a_style_succeeds(
    tmp_path: Path, project: BrokenProject
):
    need("node", "npm")
    said = drive(tmp_path, project, lines_of(project, project.fix), REQUEST)
    assert said.status == "success", said.output


ROWS = VITEST._replace(
    files={
        **VITEST.files,
        "test/cart.test.js": (
            "import {expect, it} from 'vitest'\nimport {total} from '../cart.js'\n\n"
            "it.each([\n  [[], 0],\n  [[[5, 1]], 5],\n  [[[2, 3]], 6],\n])('of %j', (items, want) => {\n"
            "  expect(total(items)).toBe(want)\n})\n"
        ),
    }
)


def test_a_row_of_a_table_that_is_dropped_is_no_repair(place_of: PlaceOf):
    need("node", "npm")
    modules = installed(RUNNERS) / "node_modules"
    change: Files = {
        "cart.js": ROWS.files["cart.js"] + "// mended\n",
        "test/cart.test.js": ROWS.files["test/cart.test.js"].replace("  [[[2, 3]], 6],\n", ""),
    }
    said = said_of(place_of, ROWS, change, modules)
    assert said.status != "success", said.output
