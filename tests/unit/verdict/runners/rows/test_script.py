import json

import pytest
from tests.repos import put

from flyball.verdict.runners.layout import look
from flyball.verdict.runners.rows.script import commands_in, composed, only_step, steps_of
from flyball.verdict.runners.table import BY_NAME


def land(top, **scripts):
    put(top, {"package.json": json.dumps({"scripts": scripts})})
    return look(top)


@pytest.mark.parametrize(
    ("script", "parts"),
    [
        ("jest", ["jest"]),
        ("xo && ava && tsd", ["xo", "ava", "tsd"]),
        ("mocha 'a && b' && x", ["mocha 'a && b'", "x"]),
        ('mocha "test/**/*.js"', ['mocha "test/**/*.js"']),
        ("jest | tee log", None),
        ("jest > log", None),
        ("jest; exit 0", None),
        ("jest || true", None),
        ("jest & wait", None),
        ("echo $(jest)", None),
        ('mocha "$FILES"', None),
        ("(jest)", None),
    ],
)
def test_a_script_is_split_only_where_it_is_understood(script, parts):
    assert commands_in(script) == parts


@pytest.mark.parametrize(
    ("script", "runners"),
    [
        ("jest --ci", ["jest"]),
        ("NODE_ENV=test cross-env A=1 jest", ["jest"]),
        ("npx vitest run", ["vitest"]),
        ("c8 --check-coverage mocha test/", ["mocha"]),
        ("nyc _mocha", ["mocha"]),
        ("./node_modules/.bin/mocha", ["mocha"]),
        ("node --experimental-vm-modules node_modules/jest/bin/jest.js", ["jest"]),
        ("node --test test/", ["node"]),
        ("node run.js", [""]),
        ("node", [""]),
        ("tape test/*.js | tap-spec", ["tape"]),
        ("tap test", ["tap"]),
        ("xo && ava && node --test", ["", "ava", "node"]),
        ("npm run unit", ["mocha"]),
        ("yarn unit", ["mocha"]),
        ("pnpm oxlint && A=1 pnpm vitest run", ["", "vitest"]),
        ("npm exec -- mocha", ["mocha"]),
        ("yarn mocha:ci", [""]),
        ("npm run missing", [""]),
        ("npm run test", [""]),
    ],
)
def test_the_runner_behind_a_script_is_found(tmp_path, script, runners):
    found = steps_of(land(tmp_path, test=script, unit="mocha"))
    assert [step.runner for step in found] == runners


def test_a_runner_is_started_without_the_client_before_it(tmp_path):
    script = "pnpm tsgo --noEmit && A=1 yarn run vitest run 'a b'"
    check, step = steps_of(land(tmp_path, test=script))
    assert check.is_check
    assert (step.text, step.words) == ("A=1 vitest run 'a b'", ("run", "a b"))


def test_what_runs_before_and_after_belongs_to_it(tmp_path):
    found = steps_of(land(tmp_path, pretest="tsc", test="ava", posttest="rm -rf out | cat"))
    assert [step.text for step in found] == ["tsc", "ava"]
    found = steps_of(land(tmp_path, test="ava", posttest="mocha && npx npm audit"))
    assert [step.text for step in found] == ["ava", "mocha"]
    assert only_step(look(tmp_path), "ava") is None


def test_checks_and_other_runners_are_left_out_of_a_composed_script(start):
    top = start.root.path
    tree = land(top, test="xo && tsc && A=1 ava t/*.js && tsd && node --test")
    argv = composed(start, tree, "ava", lambda text, n: f"{text} --tap={n}")
    assert argv[:2] == ["sh", "-c"]
    assert argv[2].endswith("export PATH && tsc && A=1 ava t/*.js --tap=1")
    assert str(top / "node_modules" / ".bin") in argv[2]


def test_a_runner_alone_is_started_without_a_shell(tmp_path):
    assert only_step(land(tmp_path, test="eslint . && jest --ci"), "jest").words == ("--ci",)
    assert only_step(land(tmp_path, test="A=1 jest"), "jest") is None


@pytest.fixture
def argv_of(start):
    def make(runner, script, *args):
        tree, shelf = start.root.path, start.shelf
        put(tree, {"package.json": json.dumps({"scripts": {"test": script} if script else {}})})
        argv = BY_NAME[runner].argv(start, look(tree), args)
        return [word.replace(str(shelf), "SHELF").replace(str(tree), "TREE") for word in argv]

    return make


@pytest.mark.parametrize(
    ("runner", "script", "expected"),
    [
        ("jest", "jest --ci", ["jest", "--ci", "--ci", "--json", "--outputFile=SHELF/report1"]),
        ("vitest", "", ["vitest", "--run", "--reporter=default", "--reporter=json"]),
        ("mocha", "mocha t/", ["mocha", "t/", "--reporter", "SHELF/mocha1.cjs"]),
        ("ava", "ava", ["ava", "--tap"]),
        ("npm", "x | y", ["npm", "test"]),
    ],
)
def test_a_runner_is_asked_for_a_report(argv_of, runner, script, expected):
    argv = argv_of(runner, script)
    assert argv[: len(expected)] == expected


def test_what_a_script_leaves_to_its_shell_stays_with_a_shell(argv_of):
    argv = argv_of("mocha", "mocha test/*.js && mocha it/*.js", "-g", "a b")
    assert argv[2].endswith(
        "mocha test/*.js --reporter SHELF/mocha1.cjs -g 'a b'"
        " && mocha it/*.js --reporter SHELF/mocha2.cjs -g 'a b'"
    )


def test_nodes_own_options_stand_before_the_files(argv_of):
    told = (
        "--test --test-reporter=SHELF/node.mjs --test-reporter-destination=SHELF/report1"
        " --test-reporter=spec --test-reporter-destination=stdout"
    )
    argv = argv_of("node", "node --test --test-reporter=dot test/", "test/a.js")
    assert argv[2].endswith(f"node {told} test/ test/a.js")
    assert argv_of("node", "", "--", "a.js") == ["node", *told.split(), "a.js"]


def test_npm_hands_words_on_behind_its_own(argv_of):
    assert argv_of("npm", "x | y", "-t", "a") == ["npm", "test", "--", "-t", "a"]
    assert argv_of("yarn", "x | y", "--", "-t", "a") == ["yarn", "test", "-t", "a"]
