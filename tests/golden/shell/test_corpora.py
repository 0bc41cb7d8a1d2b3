"""Whole lists of commands: what people type is allowed, what attackers type is not.

A list is one test that names every command which fails it: a test for each would take longer to
collect and to report than all the commands take to judge.
"""

import json
import random
from pathlib import Path

from flyball.shell import CommandKind, judge

HERE = Path(__file__).parent


def load(name: str) -> list[dict[str, str]]:
    return [json.loads(line) for line in (HERE / name).read_text().splitlines()]


EVERYDAY, BUILDS, ATTACKS = load("everyday.jsonl"), load("builds.jsonl"), load("attacks.jsonl")
LOSING = load("losing.jsonl")
READING, HARMFUL = (
    (HERE / name).read_text().splitlines() for name in ("reading.txt", "harmful.txt")
)


def test_the_lists_are_as_long_as_promised():
    assert len(EVERYDAY) >= 300
    assert len(BUILDS) >= 100
    assert len(ATTACKS) >= 150
    assert len({line["trick"] for line in ATTACKS}) >= 12


def test_nearly_every_everyday_command_is_allowed_in_recon():
    refused = [c["cmd"] for c in EVERYDAY if judge(c["cmd"], phase="recon").decision != "allow"]
    assert len(refused) <= 0.03 * len(EVERYDAY), refused


def test_what_agents_type_to_look_around_is_plain():
    answers = {command: judge(command, phase="recon") for command in READING}
    refused = [command for command, each in answers.items() if each.decision != "allow"]
    confined = [command for command, each in answers.items() if each.effect != "reading"]
    assert len(refused) <= 0.015 * len(READING), refused
    assert len(confined) <= 0.04 * len(READING), confined


def test_nothing_harmful_is_plain_reading():
    harmful = [*HARMFUL, *(line["cmd"] for line in ATTACKS)]
    assert not [each for each in harmful if judge(each, phase="recon").effect == "reading"]


def test_a_line_that_goes_on_in_the_midst_of_anything_makes_nothing_plain():
    chance = random.Random(7)
    harmful = [*HARMFUL, *(line["cmd"] for line in ATTACKS)][::5]
    cut = [(each, chance.randrange(len(each))) for each in harmful]
    # In single quotes a line does not go on: that is another command.
    broken = [f"{c[:at]}\\\n{c[at:]}" for c, at in cut if c[:at].count("'") % 2 == 0]
    assert not [each for each in broken if judge(each, phase="recon").effect == "reading"]


def test_a_line_that_goes_on_between_words_or_in_quotes_stays_plain():
    for command in (
        "git log \\\n  --oneline \\\n  -5",
        "ls |\\\ngrep x && \\\ncat a",
        "sed 's/a/\\\nb/' f",
        "cat <<'EOF'\nfoo\\\nbar\nEOF",
    ):
        assert judge(command, phase="recon").effect == "reading", command


def test_builds_run_in_execute():
    answers = {line["cmd"]: judge(line["cmd"], phase="execute") for line in BUILDS}
    refused = {cmd: each.reason for cmd, each in answers.items() if each.decision != "allow"}
    assert not refused


def test_no_attack_is_allowed_in_recon():
    answers = {
        f"{line['trick']}: {line['cmd']}": judge(line["cmd"], phase="recon") for line in ATTACKS
    }
    assert not [attack for attack, each in answers.items() if each.decision == "allow"]
    assert not [attack for attack, each in answers.items() if not each.reason]


def test_nothing_that_loses_work_runs_without_a_question():
    answers = {line["cmd"]: judge(line["cmd"], phase="execute") for line in LOSING}
    assert not [cmd for cmd, each in answers.items() if each.decision == "allow"]


def test_the_whole_is_the_worst_part():
    for line in (*EVERYDAY, *BUILDS, *ATTACKS):
        answer = judge(line["cmd"])
        worst = max(answer.parts, key=lambda part: CommandKind(part.kind).severity)
        assert answer.kind == worst.kind, line["cmd"]
