"""Our own commands inside of an agent's: which ones they are, wherever they hide."""

from __future__ import annotations

import pytest

from flyball.cli import COMMANDS
from flyball.hosts.calls import LOOKING, VERBS, own_verbs

ROOT = "/home/p"


@pytest.mark.parametrize(
    "command",
    [
        "flyball approve r1",
        "flyball people add me --role approve",
        "/opt/venv/bin/flyball approve r1",
        "FLYBALL_STATE_DIR=/x flyball approve r1",
        "env A=1 flyball approve r1",
        "env -i PATH=/bin flyball approve r1",
        'bash -c "flyball approve r1"',
        "sh -c 'cd /tmp && flyball approve r1'",
        "bash -c \"bash -c 'flyball approve r1'\"",
        "eval flyball approve r1",
        "eval 'flyball approve r1'",
        'eval "$(echo flyball approve r1)"',
        "python -m flyball approve r1",
        "python3 -I -m flyball.cli approve r1",
        "python3 -c \"import os; os.system('flyball approve r1')\"",
        "python3 -c \"import subprocess as s; s.run(['flyball', 'approve', 'r1'])\"",
        "bash <<'EOF'\nflyball approve r1\nEOF",
        "bash <<EOF\nflyball approve r1\nEOF",
        "python3 - <<'EOF'\nimport os\nos.system('flyball approve r1')\nEOF",
        "echo 'flyball approve r1' | bash",
        "bash <<< 'flyball approve r1'",
        "F=flyball; $F approve r1",
        "V=approve; flyball $V r1",
        'fly""ball approve r1',
        "fly\\ball approve r1",
        "flyball$IFS'approve' r1",
        "timeout 5 flyball approve r1",
        "nohup setsid flyball approve r1 &",
        "echo r1 | xargs flyball approve",
        "find . -maxdepth 0 -exec flyball approve r1 ';'",
        "script -qc 'flyball approve r1' /dev/null",
        "tmux new -d 'flyball approve r1'",
        "ssh localhost flyball approve r1",
        "at now <<< 'flyball approve r1'",
        "true && (flyball approve r1)",
        "echo $(flyball approve r1)",
        "f() { flyball approve r1; }; f",
        "alias x='flyball approve'; x r1",
        "for v in approve; do flyball $v r1; done",
        "flyball checkpoint --goal x; flyball approve r1",
    ],
)
def test_a_person_s_command_is_found_wherever_it_hides(command: str):
    assert {*own_verbs(command, ROOT)} - {"checkpoint", *LOOKING}


@pytest.mark.parametrize(
    "command",
    [
        "flyball off --for 30m",
        "bash -c 'flyball off'",
        "bash -c 'flyball init --host claude --remove'",
        "unknowntool 'flyball off'",
        "flyball trust",
        "sudo flyball extend r1 --calls 50",
        "flyball off\necho '",
    ],
)
def test_so_is_everything_else_that_is_for_people(command: str):
    assert {*own_verbs(command, ROOT)} & {"off", "init", "trust", "extend"}


@pytest.mark.parametrize(
    "command",
    [
        "ls src/flyball",
        "grep -rn approve src/flyball",
        "git commit -m 'Say how flyball approve works'",
        "git log -- src/flyball",
        "cat docs/flyball.md",
        "pytest -q tests",
        "cat > notes.md <<'EOF'\nrun flyball approve\nEOF",
        "mytool --name approve",
    ],
)
def test_what_only_names_us_is_none_of_ours(command: str):
    assert [*own_verbs(command, ROOT)] == []


@pytest.mark.parametrize(
    ("command", "verbs"),
    [
        ("flyball checkpoint --goal 'people approve it'", {"checkpoint"}),
        ("timeout 60 flyball wait", {"wait"}),
        ("flyball runs show r1", {"runs show"}),
        ("cd app && flyball verify", {"verify"}),
        ("flyball --help", {"help"}),
        ("flyball --version", {"help"}),
        ("flyball ledger list", {"ledger list"}),
        ("flyball ledger forget --all", {"ledger forget"}),
    ],
)
def test_open_attack_is_reported_by_name(command: str, verbs: set[str]):
    assert {*own_verbs(command, ROOT)} == verbs


def test_every_command_of_ours_is_known():
    assert {*COMMANDS} <= VERBS
