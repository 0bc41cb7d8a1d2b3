"""Every command that a page shows can be typed: it exists, and so does every option."""

from __future__ import annotations

import re
import shlex
from itertools import takewhile
from pathlib import Path

import click
import pytest

from flyball.cli import cli
from flyball.cli.typed.examples import EXAMPLES

ROOT = Path(__file__).parents[2]
PAGES = [ROOT / "README.md", *(ROOT / "docs").glob("[gt]*s/*.md")]
BLOCK = re.compile(r"^(`{3,})(\w*)\n(.*?)^\1$", re.MULTILINE | re.DOTALL)
INLINE = re.compile(r"`(flyball [^`]+)`")
LANGUAGES = {"sh", "console", "text", "python", "json", "yaml", "toml", "markdown", "mermaid", "js"}
OPTIONAL = re.compile(r"[\[\]…]|\|-?")


def typed(page: Path) -> list[str]:
    """The lines of a page's blocks that somebody types after a prompt or as they stand."""
    found: list[str] = []
    for _, kind, body in BLOCK.findall(page.read_text()):
        if kind in ("sh", "console", "text"):
            for line in body.split("\n"):
                plain = line.removeprefix("$ ")
                if re.match(r"flyball [a-z]", plain) and not (kind == "console" and plain == line):
                    found.append(re.split(r"\s+# |\s{3,}", plain.strip())[0])
    return found + [text for text in INLINE.findall(page.read_text()) if "|" not in text]


def parse(words: list[str]) -> None:
    """Read a command line as click does, without doing what it says."""
    command: click.Command = cli
    context = click.Context(cli, info_name="flyball")
    while isinstance(command, click.Group) and words and not words[0].startswith("-"):
        found = command.get_command(context, words[0])
        assert found, f"there is no command {words[0]!r}"
        command, words = found, words[1:]
        context = click.Context(command, parent=context, info_name=command.name)
    for word in takewhile(lambda each: each != "--", words):
        if word.startswith("--"):
            names = {name for param in command.params for name in param.opts}
            assert word.partition("=")[0] in names | {"--help"}, f"{command.name} has no {word}"


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_what_a_page_says_to_type_exists(page: Path):
    for line in typed(page):
        words = shlex.split(OPTIONAL.sub(" ", line))
        try:
            parse([word for word in words[1:] if word])
        except AssertionError as error:
            raise AssertionError(f"{page.name}: `{line}`: {error}") from error


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_every_block_says_what_it_is_written_in(page: Path):
    assert {kind for _, kind, _ in BLOCK.findall(page.read_text())} <= LANGUAGES


@pytest.mark.parametrize("path", EXAMPLES)
def test_the_examples_of_a_command_can_be_typed(path: str):
    for example in EXAMPLES[path]:
        assert example.startswith(path)
        parse(shlex.split(example))
