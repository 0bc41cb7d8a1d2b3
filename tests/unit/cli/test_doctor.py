from __future__ import annotations

import io
import json
from functools import partial
from pathlib import Path

import pytest
from click.testing import CliRunner
from tests.repos import repository
from tests.unit.hosts.prove.own_machine import OwnMachine

from flyball.cli.doctor import as_dict, doctor, say_proof
from flyball.cli.doctor_print import print_report, print_summary
from flyball.cli.terminal.edge import clean_console
from flyball.hosts.prove.lines import HostProof, ProofLine, ProofState
from flyball.settings import FIELDS
from flyball.tools.diagnose.servers import SERVERS
from flyball.workspace.process import levels


@pytest.fixture(scope="module")
def shop(tmp_path_factory):
    return repository(tmp_path_factory.mktemp("doctor") / "shop", {"cart.py": "TOTAL = 1\n"})


def examined(shop, *words):
    """What doctor says of a project whose user has nothing else."""
    place = shop.parent
    env = {"FLYBALL_STATE_DIR": str(place / "state" / "flyball"), "HOME": str(place)}
    runner = CliRunner(env={**env, "NO_COLOR": "1"})
    return runner.invoke(doctor, ["--repo", str(shop), *words])


@pytest.fixture(scope="module")
def report(shop):
    return examined(shop, "--json")


@pytest.mark.slow
def test_doctor_proves_the_level_it_shows(report):
    told = json.loads(report.stdout)
    assert told["sandbox"]["level"] == str(levels.detect_level())
    assert told["proofs"]
    assert all(proof["holds"] for proof in told["proofs"])
    assert told["ok"] is True
    assert report.exit_code == 0
    assert {"git", "tests", "checkout", "journal"} <= {row["name"] for row in told["project"]}


@pytest.mark.slow
def test_doctor_names_programs_and_places(report):
    told = json.loads(report.stdout)
    programs = {program["name"]: program for program in told["programs"]}
    assert programs["git"]["version"].startswith("git version")
    assert programs["rg"]["version"].startswith("ripgrep")
    assert {"node", "go", "make", "cc", "cargo", "java"} <= set(programs)
    assert programs["git"]["granted"]
    assert all(each["granted"] is False for each in programs.values() if not each["path"])
    rows = {row["name"]: row for row in told["project"]}
    assert rows["state"]["seen"].endswith("flyball can be written")
    assert told["python"]["version"]


@pytest.mark.slow
def test_doctor_says_its_answer_first_and_the_rest_when_asked(shop):
    told = examined(shop)
    assert told.exit_code == 0
    assert told.stdout.startswith("No problems; ")
    assert str(levels.detect_level()) in told.stdout
    assert len(told.stdout.splitlines()) <= 24
    assert "\x1b[" not in told.stdout
    whole = examined(shop, "--verbose").stdout
    assert whole.startswith("No problems; ")
    assert "BROKEN" not in whole
    works = next(line for line in whole.splitlines() if "works here" in line)
    assert "none" not in works
    state = str(shop.parent / "state" / "flyball")
    assert any(line.endswith(f"state: {state} can be written") for line in whole.splitlines())
    assert set(FIELDS) <= {line.partition(" ")[0] for line in whole.splitlines()}


@pytest.mark.slow
def test_with_everything_amiss_doctor_still_tells_it_all(monkeypatch, tmp_path):
    """No git, settings that cannot be read, a state that is a file: each a line beside the rest."""
    shop = repository(tmp_path / "shop", {"test_cart.py": "def test_one():\n    pass\n"})
    (tmp_path / "state").write_text("in the way")
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setenv("FLYBALL_STATE_DIR", str(tmp_path / "state"))
    monkeypatch.setenv("FLYBALL_NONSENSE", "1")
    done = CliRunner().invoke(doctor, ["--json", "--repo", str(shop)])
    told = json.loads(done.stdout)
    assert (done.exit_code, told["ok"]) == (1, False)
    programs = {program["name"]: program for program in told["programs"]}
    assert (programs["git"]["path"], programs["git"]["version"]) == (None, "")
    open_proofs = [proof["seen"] for proof in told["proofs"] if not proof["holds"]]
    assert open_proofs
    assert all("Git was not found" in seen for seen in open_proofs)
    assert {row["key"] for row in told["settings"]} == set(FIELDS)
    rows = {row["name"]: row for row in told["project"]}
    assert {"git", "settings", "state"} <= {name for name, row in rows.items() if row["blocks"]}
    assert "FLYBALL_NONSENSE" in rows["settings"]["seen"]
    assert str(tmp_path / "state") in rows["state"]["seen"]
    assert rows["model"]["holds"]
    assert set(rows["git"]) == {"name", "holds", "seen", "hint", "blocks"}


ROWS = [
    {"name": "git", "holds": True, "blocks": False, "seen": "git 2.39", "hint": ""},
    {"name": "trust", "holds": False, "blocks": False, "seen": "not yet", "hint": "Say so."},
    {"name": "index", "holds": False, "blocks": True, "seen": "[locked]", "hint": "rm x.lock"},
]


def a_report(**changed):
    """A report of a machine on which everything holds, but for what is changed."""
    box = {"level": "kernel", "meaning": "it is held", "by": "landlock", "works": ["landlock"]}
    proof = {"name": "TCP", "attack": "a connection is opened", "holds": True, "seen": ""}
    return {
        "sandbox": {**box, "system": "Linux", "landlock": 7},
        "proofs": [proof, {**proof, "name": "UDP"}],
        "programs": [],
        "python": {"version": "3.13", "path": "/usr/bin/python"},
        "pages": {"servers": True, "playwright": True, "browser": "/chromium", "install": []},
        "language_servers": [],
        "settings": [],
        "ignored": [],
        "database": [],
        "project": ROWS[:1],
        **changed,
    }


def printed(show, report, width=60):
    out = io.StringIO()
    show(clean_console(file=out, width=width, force_terminal=False), report)
    return [" ".join(line.split()) for line in out.getvalue().split("\n")]


def test_the_summary_names_problems_before_notes():
    shown = printed(print_summary, a_report(project=ROWS), 120)
    assert shown == [
        "1 problem to fix; 1 note.",
        "ok confinement: kernel, 2 of 2 attacks were held",
        "ok git",
        "PROBLEM index: [locked]",
        "→ rm x.lock",
        "note trust: not yet",
        "→ Say so.",
        "",
    ]


def test_the_summary_names_changed_and_ignored_settings_only():
    rows = [("budget.calls", "9", "FLYBALL_CALLS"), ("patch.fuzz", "0", "default")]
    settings = [dict(zip(("key", "value", "origin"), row, strict=True)) for row in rows]
    report = a_report(settings=settings, ignored=["a loose rule"])
    assert printed(print_summary, report)[-3:] == [
        "note ignored: a loose rule",
        "set budget.calls = 9 (FLYBALL_CALLS)",
        "",
    ]


def test_in_a_narrow_terminal_a_line_goes_on_below_its_text():
    out = io.StringIO()
    console = clean_console(file=out, width=30, force_terminal=False)
    print_summary(console, a_report(project=[{**ROWS[1], "seen": "a flow that nobody accepted"}]))
    assert "  note     trust: a flow that" in out.getvalue().splitlines()[-3]
    assert out.getvalue().splitlines()[-2].strip() == "nobody accepted"


@pytest.mark.parametrize(
    ("changed", "told"),
    [
        (
            {"proofs": [{"name": "TCP", "attack": "it calls", "holds": False, "seen": "hello"}]},
            "PROBLEM attacks: TCP: not held; `flyball doctor --verbose` shows what they printed",
        ),
        (
            {"sandbox": {**a_report()["sandbox"], "level": "none", "meaning": "nothing holds"}},
            "PROBLEM confinement: nothing holds",
        ),
        (
            {"database": [{"name": "server", "holds": False, "seen": "PostgreSQL 9"}]},
            "PROBLEM database, server: PostgreSQL 9",
        ),
    ],
)
def test_problems_of_the_machine_are_listed_with_those_of_the_project(changed, told):
    shown = printed(print_summary, a_report(**changed), 200)
    assert shown[0] == "1 problem to fix; 0 notes."
    assert shown[shown.index(told) + 1].startswith("→ ")


def test_verbose_shows_what_a_broken_attack_printed():
    broken = {"name": "TCP", "attack": "it calls", "holds": False, "seen": "hello"}
    box = {**a_report()["sandbox"], "works": []}
    shown = printed(partial(print_report, verbose=True), a_report(proofs=[broken], sandbox=box))
    assert "BROKEN TCP it calls" in shown
    assert "it printed: hello" in shown
    assert "works here: nothing" in shown


@pytest.mark.exhaustive
@pytest.mark.slow
def test_doctor_tells_every_setting_and_where_it_came_from(report, tmp_path):
    told = json.loads(report.stdout)
    assert {row["key"] for row in told["settings"]} == set(FIELDS)
    (tmp_path / "flyball.toml").write_text("[budget]\nreserve = 4\n")
    env = {"FLYBALL_ENABLE_BASH": "1", "XDG_CONFIG_HOME": str(tmp_path)}
    runner = CliRunner(env=env)
    shown = runner.invoke(doctor, ["--repo", str(tmp_path)])
    lines = [" ".join(line.split()) for line in shown.stdout.splitlines()]
    assert "set bash.enabled = true (environment)" in lines
    assert any("flyball.toml is not trusted" in line for line in lines)


@pytest.mark.exhaustive
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
    words = " ".join(CliRunner(env={"NO_COLOR": "1"}).invoke(doctor, ["--verbose"]).stdout.split())
    assert f"gopls ({by_name['gopls']['languages']}): {gopls}" in words
    lacking = by_name["rust-analyzer"]["install"]
    assert f"not found; to install it: {lacking}" in words


CLAIMS = ("a write is denied", "a stop is held")


def told(capsys: pytest.CaptureFixture[str], *states: ProofState, host: str = "claude") -> str:
    """The last line about a host whose lines came out like this."""
    lines = [ProofLine(claim, claim, state) for claim, state in zip(CLAIMS, states, strict=True)]
    say_proof(HostProof(host, "Some Host", "", "", tuple(lines)))
    return capsys.readouterr().out.splitlines()[-1]


def test_what_was_tried_with_the_real_program_is_held(capsys: pytest.CaptureFixture[str]):
    last = told(capsys, ProofState.FOUND, ProofState.PROVED)
    assert (
        last == "Some Host is governed by Flyball here: each line was tried with the real program."
    )


def test_what_was_not_tried_is_said_last(capsys: pytest.CaptureFixture[str]):
    known = "The hooks answer correctly. How Some Host handles the answers was not tested"
    last = told(capsys, ProofState.SHOWN, ProofState.UNTRIED)
    assert last == f"{known}: install Some Host and repeat this to prove it."
    last = told(capsys, ProofState.SHOWN, ProofState.UNTRIED, host="opencode")
    assert last == f"{known}."


def test_one_line_that_failed_is_what_counts(capsys: pytest.CaptureFixture[str]):
    last = told(capsys, ProofState.FAILED, ProofState.UNTRIED)
    assert last == "Some Host is not governed by Flyball here: see the lines above."


def test_a_program_can_tell_shown_from_proved():
    line = ProofLine("stop", "a stop is held", ProofState.UNTRIED)
    said = as_dict(HostProof("claude", "Claude Code", "", "", (line,)))
    assert (said["ok"], said["proved"]) == (True, False)


def test_without_the_program_the_command_ends_well_and_hides_nothing(tmp_path: Path):
    machine = OwnMachine(tmp_path)
    machine.install("claude")
    env = {**machine.environ, "CLAUDE_CONFIG_DIR": None}
    done = CliRunner(env=env).invoke(doctor, ["--host", "claude", "--repo", str(machine.repo)])
    assert done.exit_code == 0, done.output
    assert done.stdout.count("  not tried  ") == 3
    assert "was not tested: install Claude Code" in done.stdout.splitlines()[-1]
