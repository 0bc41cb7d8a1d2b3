import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner

from flyball.app.project import offer, trust
from flyball.cli.flow import flow
from flyball.plan.escalation import ROWS
from flyball.plan.template import Escalation

GOLDEN = Path(__file__).parents[2] / "golden" / "flow"
GOOD = str(GOLDEN / "good" / "release.yaml")
BAD = str(GOLDEN / "bad" / "cycle.yaml")


def run(*arguments):
    result = CliRunner().invoke(flow, arguments)
    assert result.exception is None or isinstance(result.exception, SystemExit)
    return result


def test_a_sound_file_is_said_to_be_sound():
    result = run("check", GOOD)
    assert result.exit_code == 0
    assert result.stdout == f"{GOOD}: sound, 5 steps from S1.\n"


def test_one_bad_file_among_good_ones_fails_the_check_and_all_are_reported():
    result = run("check", GOOD, BAD, GOOD)
    assert result.exit_code == 2
    lines = result.stdout.splitlines()
    assert lines[0].startswith(f"{GOOD}: sound")
    assert lines[1].startswith(f"{BAD}:16: unbounded-cycle: ")
    assert len(lines) == 4


def test_the_check_speaks_json():
    result = run("check", "--json", GOOD, BAD)
    assert result.exit_code == 2
    report = json.loads(result.stdout)
    assert not report["sound"]
    good, bad = report["files"]
    assert good == {"file": GOOD, "sound": True, "steps": 5, "problems": []}
    assert bad["problems"][0] == {
        "file": BAD,
        "line": 16,
        "code": "unbounded-cycle",
        "message": "The steps `B` → `C` → `B` can repeat forever.",
        "hint": "Set `on_pass.max_rounds` on `C`, or point it to END.",
    }


@pytest.mark.parametrize(
    ("name", "data", "code"),
    [
        ("a.json", b"\x00\xff\xfe", "not-utf8"),
        ("a.json", b"", "empty-file"),
        ("a.json", b'{"\\ud800": 1}', "unknown-field"),
        ("a.toml", b"= 1", "broken-toml"),
        ("a.yaml", b"{", "broken-yaml"),
        ("a.exe", b"MZ", "unknown-format"),
    ],
)
def test_garbage_is_one_line_with_a_code_and_exit_2(tmp_path, name, data, code):
    path = tmp_path / name
    path.write_bytes(data)
    for command in ("check", "show"):
        result = run(command, str(path))
        assert result.exit_code == 2
        assert f": {code}: " in result.output
        assert "Traceback" not in result.output
        as_json = json.loads(run(command, "--json", str(path)).stdout)
        assert code in json.dumps(as_json)


def test_a_file_that_is_not_there_and_a_folder_are_said_plainly(tmp_path):
    result = run("check", str(tmp_path), str(tmp_path / "none.json"))
    assert result.exit_code == 2
    assert result.stdout.splitlines() == [
        f"{tmp_path}: not-a-file: This is a folder. Name the files in it.",
        f"{tmp_path / 'none.json'}: not-found: There is no such file. Check the name.",
    ]


def test_showing_draws_an_outline_and_mermaid():
    result = run("show", GOOD)
    assert result.exit_code == 0
    assert result.stdout.startswith("release (5 steps)\n├─ S1: Study the request [researcher]\n")
    assert "\nflowchart TD\n" in result.output


def test_showing_knows_the_built_in_templates():
    assert run("show", "D1").stdout.startswith("Diagnose failure (1 step)\n")
    shown = json.loads(run("show", "fix", "--json").stdout)
    assert [step["step_id"] for step in shown["steps"]] == ["fix"]


def test_what_is_shown_as_json_is_itself_a_sound_flow(tmp_path):
    path = tmp_path / "again.json"
    path.write_text(run("show", "--json", GOOD).output, encoding="utf-8")
    assert run("check", str(path)).exit_code == 0


def test_the_policy_is_one_table():
    lines = run("policy").stdout.splitlines()
    assert lines[0].split() == ["error", "strictness", "retries", "left", "used", "up", "diagnosed"]
    assert len(lines) > len(ROWS)
    assert max(map(len, lines)) <= 88


def test_the_policy_speaks_json():
    rows = json.loads(run("policy", "--json").stdout)["rows"]
    assert len(rows) == len(ROWS)
    assert rows[0] == {
        "trouble": "missing_evidence",
        "strictness": "lenient",
        "retries_left": "RETRY",
        "used_up": "DIAGNOSE",
        "diagnosed": "TEMPLATE",
    }
    words = {row[name] for row in rows for name in ("retries_left", "used_up", "diagnosed")}
    assert words <= {*Escalation, "TEMPLATE"}


def test_the_command_is_reached_as_a_user_would(tmp_path):
    program = "from flyball.cli import main; main()"
    command = [sys.executable, "-c", program, "flow", "check", GOOD, "none.json"]
    result = subprocess.run(command, capture_output=True, text=True, cwd=tmp_path, check=False)
    assert result.returncode == 2
    assert result.stdout.splitlines()[1].startswith("none.json: not-found: ")
    assert result.stderr == ""


def test_templates_are_listed_and_shown_by_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("FLYBALL_STATE_DIR", str(tmp_path / "state"))
    folder = tmp_path / ".flyball" / "templates"
    folder.mkdir(parents=True)
    audit = '{"step_id": "audit", "title": "Audit", "objective": "o", "prompt_template": "p"}'
    (folder / "audit.json").write_text(audit)
    repo = ("--repo", str(tmp_path))
    untrusted = json.loads(run("list", "--json", *repo).stdout)
    assert {"step_id": "fix", "title": "Fix it", "from": "built in"} in untrusted["templates"]
    assert "is not used: type `flyball trust`" in untrusted["notices"][0]
    assert run("show", "audit", *repo).exit_code == 2
    trust({"FLYBALL_STATE_DIR": str(tmp_path / "state")}, offer(os.environ, tmp_path))
    lines = run("list", *repo).stdout.splitlines()
    assert lines[-1].split() == ["audit", "Audit", ".flyball/templates/audit.json"]
    assert "audit: Audit [executor]" in run("show", "audit", *repo).output
