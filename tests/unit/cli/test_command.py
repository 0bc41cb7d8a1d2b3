"""`flyball command`, as a person and as a program would use it."""

import json
import subprocess
import sys

import pytest
from click.testing import CliRunner, Result

from flyball.cli.command import command
from flyball.errors import NotFound, UsageError


def call(*args: str, stdin: str = "") -> Result:
    return CliRunner().invoke(command, args, input=stdin)


@pytest.mark.parametrize(
    ("args", "decision", "code"),
    [
        (("ls",), "allow", 0),
        (("touch a",), "deny", 1),
        (("touch a", "--phase", "execute"), "allow", 0),
        (("rm -rf src", "--phase", "build.execute"), "ask", 3),
    ],
)
def test_the_exit_code_tells_the_decision(args, decision, code):
    result = call(*args)
    assert result.exit_code == code
    assert result.stdout.startswith(decision)
    as_json = call(*args, "--json")
    assert as_json.exit_code == code
    assert json.loads(as_json.stdout)["decision"] == decision


def test_people_see_one_line_per_part_and_a_reason():
    lines = call("ls | tee out").stdout.splitlines()
    assert lines[0] == "deny in recon · mutating"
    assert [line.split()[0] for line in lines[1:3]] == ["read-only", "mutating"]
    assert "checkpoint" in lines[-1]


LOADED = """
import sys
from click.testing import CliRunner
from flyball.cli.command import command
assert CliRunner().invoke(command, ["git status"]).exit_code == 0
print(sorted({"rich", "asyncio", "sqlite3", "yaml"} & set(sys.modules)))
"""


def test_nothing_heavy_is_loaded_to_judge_a_command():
    done = subprocess.run([sys.executable, "-c", LOADED], capture_output=True, text=True)
    assert done.stdout == "[]\n", done.stderr


def test_a_batch_gives_one_object_per_line(tmp_path):
    file = tmp_path / "a.jsonl"
    file.write_text('{"cmd": "ls", "note": 1}\n\n{"cmd": "touch a", "phase": "execute"}\n')
    result = call("--batch", str(file))
    assert result.exit_code == 0
    assert [json.loads(line)["class"] for line in result.stdout.splitlines()] == [
        "read-only",
        "mutating",
    ]
    assert call("--batch", "-", stdin='{"cmd": "ls"}').exit_code == 0


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("nonsense", "line 2"),
        ('{"x": 1}', "line 2"),
        ('{"cmd": 1}', "line 2"),
        ('{"cmd": "ls", "phase": "dream"}', "line 2"),
    ],
)
def test_a_bad_line_is_named(tmp_path, line, said):
    file = tmp_path / "a.jsonl"
    file.write_text('{"cmd": "ls"}\n' + line + "\n")
    error = call("--batch", str(file)).exception
    assert isinstance(error, UsageError)
    assert said in str(error)


def test_wrong_usage(tmp_path):
    assert isinstance(call().exception, UsageError)
    assert isinstance(call("ls", "--batch", "x").exception, UsageError)
    assert "phase" in str(call("ls", "--phase", "dream").exception)
    assert isinstance(call("--batch", str(tmp_path / "none")).exception, NotFound)
    assert call("--batch", str(tmp_path)).exit_code == 2
    (tmp_path / "file").write_text("")
    assert "cannot be read" in str(call("--batch", str(tmp_path / "file" / "x")).exception)
