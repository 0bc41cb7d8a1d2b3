"""The recipes of CONTRIBUTING.md, followed to the letter on a copy of the repository."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from tests.governed import GOOD, Shell, call, objects, say, script, shop

pytestmark = pytest.mark.exhaustive

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "CONTRIBUTING.md").read_text()
FOLDERS = ("src", "docs", "tests", "examples")

TOOL = '''\
"""`count_lines`: how many lines a file has."""

from __future__ import annotations

from typing import Any

from flyball.tools.call.facts import path_fact
from flyball.tools.call.protocol import CallFacts, Form, Result, Text, Tool


class CountForm(Form, frozen=True, kw_only=True):
    """A path."""

    path: Text


def facts(form: CountForm, context: Any) -> CallFacts:
    return CallFacts(paths=(path_fact(form.path, context, write=False),))


async def perform(form: CountForm, context: Any) -> Result:
    lines = context.root.read_bytes(form.path, 1_000_000).count(b"\\n")
    return Result(True, f"{form.path} has {lines} lines.", {"lines": lines})


COUNT_LINES = Tool(
    "count_lines",
    "Count the lines of a file.",
    CountForm,
    facts,
    perform,
    example={"path": "docs/notes.txt"},
)
'''

TOOL_TEST = """\
from flyball.tools.count_lines import COUNT_LINES, CountForm


def test_it_takes_a_path():
    assert COUNT_LINES.form is CountForm
"""

GATE = '''

def one_folder(case: Case, _: NoParameters) -> Verdict:
    """Every changed file lies in one folder."""
    report = _diff(case)
    if report is None:
        return _no_diff(case)
    folders = {each.path.rpartition("/")[0] for each in report.files}
    if len(folders) > 1:
        return Failed(f"{len(folders)} folders changed; only one may.")
    return Passed("All changed files lie in one folder.")
'''

COMMAND = '''\
"""`flyball greet`: say hello."""

from __future__ import annotations

import click


@click.command()
@click.argument("name")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
def greet(name: str, as_json: bool) -> None:
    """Say hello to somebody."""
    import json

    text = f"Hello, {name}."
    click.echo(json.dumps({"text": text}) if as_json else text)
'''


class Recipe:
    """One recipe, and a copy of the repository where only the files it names may be touched."""

    def __init__(self, copy: Path, thing: str, name: str = "") -> None:
        self.copy = copy
        (text,) = re.findall(rf"^\*\*{thing}\.\*\*\n\n(.*?)\n\n", PAGE, re.MULTILINE | re.DOTALL)
        self.named = {
            path.replace("NAME", name) for path in re.findall(r"`((?:src|tests|docs)/\S+?)`", text)
        }
        self.wants_docs = "make docs" in text

    def _place(self, path: str) -> Path:
        assert path in self.named, f"the recipe does not name {path}"
        return self.copy / path

    def write(self, path: str, text: str) -> None:
        assert not self._place(path).exists()
        self._place(path).write_text(text)

    def append(self, path: str, text: str) -> None:
        with self._place(path).open("a") as file:
            file.write(text)

    def insert(self, path: str, after: str, text: str) -> None:
        """Put lines after the one line that begins so."""
        lines = self._place(path).read_text().splitlines(keepends=True)
        (at,) = [n for n, line in enumerate(lines) if line.startswith(after)]
        lines.insert(at + 1, text)
        self._place(path).write_text("".join(lines))


def add_a_tool(copy: Path) -> None:
    recipe = Recipe(copy, "A tool", "count_lines")
    recipe.write("src/flyball/tools/count_lines.py", TOOL)
    listed = "src/flyball/tools/toolbox/__init__.py"
    recipe.insert(listed, "from flyball.tools.bash", IMPORT_TOOL)
    recipe.insert(listed, "TOOLS:", "    COUNT_LINES,\n")
    row = '    ToolRow("count_lines", Access.READ, Touch.WORKSPACE),\n'
    recipe.insert("src/flyball/terms/tool.py", "_ROWS = (", row)
    recipe.write("tests/unit/tools/test_count_lines.py", TOOL_TEST)
    assert recipe.wants_docs


IMPORT_TOOL = "from flyball.tools.count_lines import COUNT_LINES\n"


def add_a_gate(copy: Path) -> None:
    recipe = Recipe(copy, "A gate")
    gates = "src/flyball/plan"
    recipe.append(f"{gates}/change_checks.py", GATE)
    row = '        "one_folder": Gate(changes.one_folder, forbids=True),\n'
    recipe.insert(f"{gates}/gate.py", '        "diff_within"', row)
    told = "| `one_folder` | — | Every changed file lies in one folder. |\n"
    recipe.insert("docs/guides/gates.md", "| `diff_within`", told)


def add_a_setting(copy: Path) -> None:
    recipe = Recipe(copy, "A setting")
    settings, policy = "src/flyball/settings.py", "src/flyball/run/policy.py"
    recipe.insert(settings, "    policy_max_turns:", "    policy_max_files: AtLeastOne = 50\n")
    about = '    "policy_max_files": About("files that one run may change", "lower"),\n'
    recipe.insert(settings, '    "policy_max_turns"', about)
    given = "            max_files=self.policy_max_files,\n"
    recipe.insert(settings, "            max_turns=", given)
    recipe.insert(policy, "    max_turns:", "    max_files: int = 50\n")
    assert recipe.wants_docs


def add_a_command(copy: Path) -> None:
    recipe = Recipe(copy, "A command", "greet")
    recipe.write("src/flyball/cli/greet.py", COMMAND)
    typed = "src/flyball/cli/typed"
    row = '        "greet": "Say hello to somebody.",\n'
    recipe.insert(f"{typed}/overview.py", '        "demo":', row)
    examples = '    "greet": ("greet Ada", "greet Ada --json"),\n'
    recipe.insert(f"{typed}/examples.py", '    "demo":', examples)
    assert recipe.wants_docs


def run_in(copy: Path, *argv: str) -> subprocess.CompletedProcess[str]:
    path = os.pathsep.join((str(copy / "src"), str(copy)))
    return subprocess.run(
        [sys.executable, *argv],
        cwd=copy,
        env={**os.environ, "PYTHONPATH": path},
        capture_output=True,
        text=True,
    )


@pytest.fixture(scope="module")
def copy(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The repository after all four recipes were followed, `make docs` included."""
    copy = tmp_path_factory.mktemp("recipes")
    left_out = shutil.ignore_patterns("node_modules")
    for folder in FOLDERS:
        shutil.copytree(ROOT / folder, copy / folder, ignore=left_out)
    for file in [*ROOT.glob("*.md"), ROOT / "LICENSE", ROOT / "pyproject.toml"]:
        shutil.copy(file, copy)
    for follow in (add_a_tool, add_a_gate, add_a_setting, add_a_command):
        follow(copy)
    done = run_in(copy, "-m", "docs.generate")
    assert done.returncode == 0, done.stderr
    return copy


@pytest.fixture
def shell(copy: Path, tmp_path: Path) -> Shell:
    return Shell(shop(tmp_path / "shop"), tmp_path, PYTHONPATH=str(copy / "src"))


def test_a_new_tool_is_in_the_reference_and_can_be_called(copy: Path, shell: Shell, tmp_path: Path):
    assert "\n## count_lines\n" in (copy / "docs/reference/tools.md").read_text()
    lines = (call("count_lines", path="cart.py"), say("It has five lines."))
    driver = script(tmp_path / "s.jsonl", *lines)
    done = shell("run", "how long is cart.py?", "--intent", "diagnose", "--driver", driver)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "cart.py has 5 lines." in shell("runs", "export", "last").stdout


FLOW = """\
step_id: S1
title: Fix it
objective: The total counts every piece.
prompt_template: Prefer minimal diffs.
gates: [{type: one_folder}]
"""


def test_a_new_gate_is_accepted_in_a_flow_and_judged(shell: Shell, tmp_path: Path):
    flow = tmp_path / "flow.yaml"
    flow.write_text(FLOW)
    assert "sound" in shell("flow", "check", str(flow)).stdout
    driver = script(tmp_path / "s.jsonl", *GOOD)
    done = shell("run", "fix it", "--flow", str(flow), "--driver", driver, "--json")
    assert done.returncode == 0, done.stdout + done.stderr
    assert "All changed files lie in one folder." in shell("runs", "show", "last").stdout


def test_a_new_setting_is_in_the_reference_and_reaches_the_governor(copy: Path, shell: Shell):
    assert "`policy.max_files`" in (copy / "docs/reference/settings.md").read_text()
    shell.env["FLYBALL_POLICY_MAX_FILES"] = "7"
    rows = json.loads(shell("doctor", "--json").stdout)["settings"]
    assert {"key": "policy.max_files", "value": "7", "origin": "environment"} in rows
    code = "from flyball.settings import Settings; print(Settings(policy_max_files=7).policy)"
    assert "max_files=7" in run_in(copy, "-c", code).stdout


def test_a_new_command_is_in_the_reference_and_prints_json(copy: Path, shell: Shell):
    assert "## flyball greet" in (copy / "docs/reference/commands.md").read_text()
    assert shell("greet", "Ada").stdout == "Hello, Ada.\n"
    assert objects(shell("greet", "Ada", "--json").stdout) == [{"text": "Hello, Ada."}]


HELD = ("docs", "flow_guide", "house", "imports", "public_names", "tool_names", "tool_reference")
QUICKLY = ("-m", "not exhaustive")


def test_nothing_that_the_recipes_do_not_name_was_needed(copy: Path):
    tests = [f"tests/contract/test_{name}.py" for name in HELD]
    done = run_in(copy, "-m", "pytest", "-q", "-p", "no:cacheprovider", *QUICKLY, *tests)
    assert done.returncode == 0, done.stdout
