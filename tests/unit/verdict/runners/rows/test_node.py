import json

import pytest
from tests.repos import put

from flyball.verdict.runners.layout import look
from flyball.verdict.runners.table import BY_NAME


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
        ("mocha", "mocha t/", ["mocha", "t/", "--reporter", "SHELF/mocha1.cjs", "--no-bail"]),
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
        "mocha test/*.js --reporter SHELF/mocha1.cjs --no-bail -g 'a b'"
        " && mocha it/*.js --reporter SHELF/mocha2.cjs --no-bail -g 'a b'"
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
