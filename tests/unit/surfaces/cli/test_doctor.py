import json

import pytest
from click.testing import CliRunner

from flyball.settings import FIELDS
from flyball.surfaces.cli.doctor import doctor
from flyball.tools.diagnose.servers import SERVERS
from flyball.workspace.process import levels


@pytest.fixture(scope="module")
def report():
    return CliRunner().invoke(doctor, ["--json"])


@pytest.mark.slow
def test_doctor_proves_the_level_it_shows(report):
    told = json.loads(report.stdout)
    assert told["sandbox"]["level"] == str(levels.detect_level())
    assert told["proofs"]
    assert all(proof["holds"] for proof in told["proofs"])
    assert told["ok"] is True
    assert report.exit_code == 0


@pytest.mark.slow
def test_doctor_names_programs_and_places(report):
    told = json.loads(report.stdout)
    programs = {program["name"]: program for program in told["programs"]}
    assert programs["git"]["version"].startswith("git version")
    assert programs["rg"]["version"].startswith("ripgrep")
    assert {"node", "go", "make", "cc", "cargo", "java"} <= set(programs)
    assert programs["git"]["granted"]
    assert all(each["granted"] is False for each in programs.values() if not each["path"])
    assert told["state"]["path"].endswith("flyball")
    assert told["python"]["version"]


@pytest.mark.slow
def test_doctor_speaks_to_people():
    told = CliRunner().invoke(doctor, [], env={"NO_COLOR": "1"})
    assert told.exit_code == 0
    assert f"Confinement  {levels.detect_level()}" in told.stdout
    assert "held" in told.stdout
    assert "BROKEN" not in told.stdout
    assert "\x1b[" not in told.stdout


@pytest.mark.slow
def test_a_missing_git_is_shown_and_breaks_nothing(monkeypatch, tmp_path):
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    told = json.loads(CliRunner().invoke(doctor, ["--json"]).stdout)
    programs = {program["name"]: program for program in told["programs"]}
    assert (programs["git"]["path"], programs["git"]["version"]) == (None, "")
    assert told["state"] == {"path": str(tmp_path / "state" / "flyball"), "writable": True}
    assert told["ok"] is True


@pytest.mark.slow
def test_doctor_tells_every_setting_and_where_it_came_from(report, tmp_path):
    told = json.loads(report.stdout)
    assert {row["key"] for row in told["settings"]} == set(FIELDS)
    (tmp_path / "flyball.toml").write_text("[budget]\nreserve = 4\n")
    env = {"FLYBALL_ENABLE_BASH": "1", "XDG_CONFIG_HOME": str(tmp_path)}
    runner = CliRunner(env=env)
    shown = runner.invoke(doctor, ["--repo", str(tmp_path)])
    line = next(line for line in shown.stdout.splitlines() if line.startswith("bash.enabled"))
    assert line.split() == ["bash.enabled", "true", "environment"]
    assert "flyball.toml is not trusted" in shown.stdout


@pytest.mark.slow
def test_doctor_names_each_language_server_with_its_place_or_how_to_install_it(
    monkeypatch, tmp_path
):
    gopls = tmp_path / "gopls"
    gopls.write_text("#!/bin/sh\n")
    gopls.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    told = json.loads(CliRunner().invoke(doctor, ["--json"]).stdout)["language_servers"]
    by_name = {each["name"]: each for each in told}
    assert [each["name"] for each in told] == [each.argv[0] for each in SERVERS]
    assert by_name["gopls"]["path"] == str(gopls)
    assert by_name["rust-analyzer"]["path"] == ""
    assert all(each["install"] and each["languages"] for each in told)
    words = " ".join(CliRunner().invoke(doctor, [], env={"NO_COLOR": "1"}).stdout.split())
    assert f"gopls ({by_name['gopls']['languages']}): {gopls}" in words
    lacking = by_name["rust-analyzer"]["install"]
    assert f"not found; to install it: {lacking}" in words
