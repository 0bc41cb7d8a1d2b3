"""Text from outside on its way to a terminal is never obeyed; how waiting is shown."""

from __future__ import annotations

import io
import json
import sys
import unicodedata
from pathlib import Path

import click
import pytest
from click.testing import CliRunner
from rich.table import Table
from rich.text import Text

from flyball.cli import _tell
from flyball.cli.card import say_diff
from flyball.cli.terminal.edge import clean_console, pour, say
from flyball.cli.terminal.waiting import waiting
from flyball.errors import UsageError
from flyball.terms.printable import printable
from flyball.terms.progress import Progress

TRICKS = {
    "colour": "\x1b[31m",
    "cursor up and erase": "\x1b[1A\x1b[2K",
    "title": "\x1b]0;owned\x07",
    "clipboard": "\x1b]52;c;cm0gLXJmIH4=\x1b\\",
    "link": "\x1b]8;;https://evil\x07here\x1b]8;;\x07",
    "C1 sequence": "\x9b31m",
    "C1 string": "\x9d0;owned\x9c",
    "device string": "\x1bP1$r\x1b\\",
    "carriage return": "all is well\rrm -rf ~",
    "backspace": "no\b\byes",
    "delete": "a\x7fb",
    "bell and nul": "\x07\x00",
    "form feed": "a\x0bb\x0cc",
    "right to left": "a\u202egpj.exe",
    "isolate": "\u2066x\u2069\u200f\u061c",
    "zero width": "pass\u200bword\u200d\u2060\ufeff",
    "separators": "a\u2028b\u2029c\x85",
    "tags": "\U000e0041\U000e0042",
    "soft hyphen": "pass\xadword",
    "shapeless": "\u3164\uffa0\u115f",
    "bytes": b"\xff\xfe".decode("utf-8", "surrogateescape"),
}


@pytest.mark.parametrize("trick", TRICKS.values(), ids=list(TRICKS))
def test_a_trick_is_seen_and_does_nothing(trick: str):
    clean = printable(f"ä {trick} 漢字\n\tend")
    assert set(trick) & set("\n\t") == set()
    assert all(ch in "\n\t" or ch.isprintable() for ch in clean)
    assert clean.startswith("ä ")
    assert clean.endswith(" 漢字\n\tend")
    assert clean.encode()
    assert printable(clean) == clean


def test_every_control_of_unicode_is_made_visible():
    shown = set("\n\t")
    hidden = [chr(n) for n in range(0x110000) if unicodedata.category(chr(n)) in ("Cc", "Zl", "Zp")]
    assert not [ch for ch in hidden if ch not in shown and printable(ch) == ch]
    for first, last in ((0x202A, 0x202E), (0x2066, 0x2069), (0x200B, 0x200F), (0xE0000, 0xE007F)):
        assert all(printable(chr(n)) != chr(n) for n in range(first, last + 1))


@pytest.mark.parametrize("trick", TRICKS.values(), ids=list(TRICKS))
def test_said_poured_and_drawn_texts_are_clean(trick: str, capsys: pytest.CaptureFixture[str]):
    say(trick)
    say(trick.encode("utf-8", "surrogateescape"), err=True)
    say_diff(f"+{trick}\n-{trick}\n @@ {trick}")
    _tell("x", trick, trick, 1)
    drawn = io.StringIO()
    console = clean_console(file=drawn, width=200, highlight=False, emoji=False)
    table = Table(title=Text(trick))
    table.add_row(Text(trick), Text(f"a {trick}"))
    console.print(table)
    console.print(Text(trick))
    console.print(trick, markup=False)
    found = capsys.readouterr()
    for text in (found.out, found.err, drawn.getvalue()):
        assert all(ch == "\n" or ch.isprintable() for ch in text), ascii(text)


def test_our_own_colours_stay():
    drawn = io.StringIO()
    clean_console(file=drawn, force_terminal=True, color_system="standard").print("a", style="red")
    assert "\x1b[31m" in drawn.getvalue()

    @click.command()
    def command() -> None:
        say("\x1b[32mgreen", fg="red")

    assert CliRunner().invoke(command, color=True).stdout == "\x1b[31m\\u001b[32mgreen\x1b[0m\n"


def test_json_stays_json_with_its_escapes_encoded(capsys: pytest.CaptureFixture[str]):
    for trick in TRICKS.values():
        say(json.dumps({"goal": trick}, ensure_ascii=False))
        assert json.loads(capsys.readouterr().out) == {"goal": trick}


def test_a_file_is_poured_as_it_is_into_a_pipe_and_as_text_onto_a_terminal(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
):
    with (tmp_path / "out").open("w+") as pipe:
        monkeypatch.setattr(sys, "stdout", pipe)
        pour(b"a\x1b\r\n")
    assert (tmp_path / "out").read_bytes() == b"a\x1b\r\n"
    monkeypatch.undo()
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True, raising=False)
    pour(b"a\x1b\n")
    assert capsys.readouterr().out == "a\\u001b\n"


def test_an_error_is_reported_clean(capsys: pytest.CaptureFixture[str]):
    error = UsageError("no \x1b]0;x\x07 such", "try \x9b2J")
    _tell(error.code, error.message, error.hint, 2)
    assert capsys.readouterr().err == (
        f"error[{error.code}]: no \\u001b]0;x\\u0007 such try \\u009b2J\n"
    )


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
