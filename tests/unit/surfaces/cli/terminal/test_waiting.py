"""What a person or a program sees while a command takes its time."""

import json

from flyball.core.terms.progress import Progress
from flyball.surfaces.cli.terminal.waiting import waiting


def test_without_a_terminal_lines_come_late_and_seldom(capsys):
    with waiting("Testing") as tell:
        for seconds in range(2, 60, 2):
            tell(Progress("pytest", seconds, 90.0, seconds, 100))
    said = capsys.readouterr()
    assert said.out == ""
    assert [line.split(", ")[1] for line in said.err.splitlines()] == [
        f"{seconds} s (last time 90 s)" for seconds in (10, 20, 40)
    ]


def test_programs_get_every_report_beside_the_result(capsys):
    with waiting("Testing", as_json=True) as tell:
        tell(Progress("pytest", 2.0, 90.0, 5, 100))
        tell(Progress("pytest", 4.0, 90.0, 9, 100))
    said = capsys.readouterr()
    assert said.out == ""
    lines = [json.loads(line) for line in said.err.splitlines()]
    assert [(line["type"], line["done"], line["of"]) for line in lines] == [
        ("progress", 5, 100),
        ("progress", 9, 100),
    ]
