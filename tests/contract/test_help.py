"""What `--help` says of every command fits a terminal, and leaves nothing unsaid."""

from __future__ import annotations

import re
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import click
import pytest

from flyball.cli import COMMANDS, cli
from flyball.cli.typed.examples import EXAMPLES
from flyball.cli.typed.overview import SECTIONS

WIDTH = 80
UNSAID = {"TEXT", "INTEGER", "FLOAT", "INTEGER RANGE", "FLOAT RANGE"}
"""What click calls a value of which nobody said what it is; words are said to be words."""
SAID = {"--goal", "--findings", "--action", "--verify", "--why", "--note"}


def contexts(
    command: click.Command, name: str, above: click.Context | None
) -> Iterator[click.Context]:
    here = click.Context(
        command,
        info_name=name,
        parent=above,
        terminal_width=WIDTH,
        max_content_width=WIDTH,
        help_option_names=["-h", "--help"],
    )
    yield here
    if isinstance(command, click.Group):
        for inner in command.list_commands(here):
            found = command.get_command(here, inner)
            assert found is not None
            yield from contexts(found, inner, here)


EVERY = {each.command_path: each for each in contexts(cli, "flyball", None)}


@pytest.mark.parametrize("path", EVERY)
def test_help_fits_the_terminal_and_no_summary_is_cut(path: str):
    usage, *lines = EVERY[path].command.get_help(EVERY[path]).splitlines()
    assert [line for line in (usage, *lines) if len(line) > WIDTH] == []
    assert [line for line in lines if "..." in line] == []


@pytest.mark.parametrize("path", EVERY)
def test_every_option_says_what_it_is_for_and_what_it_takes(path: str):
    for option in EVERY[path].command.params:
        if isinstance(option, click.Option):
            assert option.help, option.name
            if not option.is_flag and not SAID & {*option.opts}:
                assert option.make_metavar(EVERY[path]) not in UNSAID, option.name


MANUAL = Path(__file__).parents[2] / "docs" / "man" / "flyball.1"


@pytest.mark.skipif(not shutil.which("groff"), reason="there is no groff here")
def test_the_manual_page_is_set_without_a_warning_and_has_every_command():
    command = ["groff", "-man", "-Tutf8", "-ww", "-K", "utf8", str(MANUAL)]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert (done.stderr, "```" in done.stdout) == ("", False)
    text = re.sub(r"\x1b\[[0-9;]*m|.\x08", "", done.stdout).replace("\u2010", "-")
    assert [path for path in EVERY if path != "flyball" and f"Usage: {path} " not in text] == []


@pytest.mark.parametrize("path", EVERY)
def test_every_command_shows_two_examples(path: str):
    if path == "flyball":
        return
    examples = EXAMPLES[path.removeprefix("flyball ")]
    assert len(examples) >= 2
    shown = re.sub(r" \\\n\s+", " ", EVERY[path].command.get_help(EVERY[path]))
    for each in examples:
        assert f"  flyball {each}\n" in f"{shown}\n"


def test_the_help_lists_each_command_once_in_five_sections_on_one_screen():
    listed = [name for rows in SECTIONS.values() for names in rows for name in names.split(", ")]
    assert len(listed) == len(set(listed)) and set(listed) < set(COMMANDS)
    assert len(SECTIONS) == 5
    assert len(EVERY["flyball"].command.get_help(EVERY["flyball"]).splitlines()) <= 48
