"""`flyball audit` as a user runs it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner
from tests.unit.audit.recorded import lay_out

from flyball.cli.audit import audit
from flyball.errors import UsageError


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("audit")
    lay_out(place, "codex")
    return place


def run(home: Path, *args: str) -> str:
    env = {"HOME": str(home), "FLYBALL_STATE_DIR": str(home / "state"), "CODEX_HOME": None}
    result = CliRunner().invoke(audit, args, env=env, catch_exceptions=False)
    assert result.exit_code == 0
    return result.output


def test_the_table_ends_with_what_prevents_it(home: Path):
    lines = run(home).splitlines()
    assert lines[0].startswith("17 sessions with 75 calls, ")
    assert "      0          2         -  tests got easier to pass" in lines
    assert lines[-2] == "already prevented by what you have (nothing yet): 0 of 12"
    assert lines[-1] == "would be prevented by: 12 more, with flyball init --host codex"


def test_where_hooks_are_it_is_prevented_already(home: Path):
    hook = {"type": "command", "command": "/opt/flyball-hook codex", "timeout": 30}
    (home / ".codex" / "hooks.json").write_text(
        json.dumps({"hooks": {"PreToolUse": [{"hooks": [hook]}]}})
    )
    lines = run(home).splitlines()
    (home / ".codex" / "hooks.json").unlink()
    assert lines[-1] == "already prevented by what you have (codex): 12 of 12"


def test_nothing_found_is_said(home: Path):
    clean = home / ".codex/sessions/2026/11/16/rollout-clean-fix.jsonl"
    assert "Nothing was found." in run(home, str(clean))


def test_json_has_the_whole_report_and_no_secret(home: Path):
    output = run(home, "--json")
    report = json.loads(output)
    assert report["sessions"] == 17
    assert {row["rule"] for row in report["rules"] if row["suspicious"]} >= {"unchecked", "loop"}
    assert all("traces" not in each for each in report["findings"])
    assert "ghp_" not in output


def test_the_page_asks_no_person_and_runs_nothing(home: Path):
    page = home / "report.html"
    assert run(home, "--html", str(page)) == f"The report is in {page}.\n"
    text = page.read_text()
    assert "default-src 'none'" in text
    assert "<script" not in text
    assert "http" not in text.replace("http-equiv", "")
    assert "tests got easier to pass" in text
    assert "ghp_" not in text


def test_a_page_to_share_has_no_code_path_or_prompt(home: Path):
    page = home / "shared.html"
    run(home, "--html", str(page), "--share")
    for said in (page.read_text(), run(home, "--json", "--share"), run(home, "--share")):
        for private in ("cart.py", "/home/dev", "the total is wrong", "git reset", "shop"):
            assert private not in said


def test_what_a_transcript_says_cannot_leave_its_place_on_the_page(home: Path, tmp_path: Path):
    file = home / ".codex/sessions/2026/11/16/rollout-done-unchecked.jsonl"
    evil = tmp_path / "evil.jsonl"
    evil.write_text(file.read_text().replace("the total is wrong", "<script>x</script>\\u001b[2J"))
    page = tmp_path / "evil.html"
    run(home, str(evil), "--html", str(page))
    assert "&lt;script&gt;" in page.read_text()
    assert "<script" not in page.read_text()
    assert "\x1b" not in run(home, str(evil))


def test_one_way_of_telling_at_a_time(home: Path):
    with pytest.raises(UsageError):
        run(home, "--json", "--html", "x.html")
