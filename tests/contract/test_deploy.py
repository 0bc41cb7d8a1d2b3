"""The files to run a team's server with: they parse, and what they start exists."""

from __future__ import annotations

import configparser
import re
import shlex
from pathlib import Path

import click
import pytest
import yaml

from flyball.cli import cli

ROOT = Path(__file__).parents[2]
DEPLOY = ROOT / "docs" / "deploy"
UNITS = sorted(DEPLOY.glob("*.service"))


def require_command(words: list[str]) -> None:
    """Fail unless these words are a command of ours with options that it has."""
    context, command = click.Context(cli, info_name="flyball"), cli
    while isinstance(command, click.Group) and words and not words[0].startswith("-"):
        found = command.get_command(context, words.pop(0))
        assert found is not None, words
        context, command = click.Context(found, info_name=found.name, parent=context), found
    known = {name for each in command.params for name in each.opts}
    assert {word.partition("=")[0] for word in words if word.startswith("--")} <= known


def commands_in(text: str) -> list[list[str]]:
    found = re.findall(r"(?:^|[\s/])flyball ((?:serve|people|worker|runs|doctor)[^\"\n#]*)", text)
    return [[word for word in shlex.split(each) if word != "…"] for each in found]


def test_the_compose_file_parses_and_starts_what_exists():
    file = DEPLOY / "compose.yml"
    told = yaml.safe_load(file.read_text())
    assert set(told) == {"services", "volumes"}
    for service in told["services"].values():
        assert {"image", "command", "volumes"} <= set(service)
        for volume in service["volumes"]:
            name = volume.partition(":")[0]
            assert name in told["volumes"] or name[0] in "./$"
    found = commands_in(file.read_text())
    assert len(found) >= 2
    for words in found:
        require_command(words)


@pytest.mark.parametrize("unit", UNITS, ids=lambda unit: unit.name)
def test_a_unit_parses_and_starts_what_exists(unit: Path):
    told = configparser.ConfigParser(interpolation=None)
    told.optionxform = str  # pyright: ignore
    told.read_string(unit.read_text())
    assert set(told) >= {"Unit", "Service", "Install"}
    (words,) = commands_in(told["Service"]["ExecStart"])
    require_command(words)


def test_the_guide_names_commands_that_exist_and_links_every_file():
    guide = (ROOT / "docs" / "guides" / "cluster.md").read_text()
    for block in re.findall(r"```sh\n(.*?)```", guide, re.DOTALL):
        for words in commands_in(block):
            require_command(words)
    for file in DEPLOY.iterdir():
        assert f"../deploy/{file.name}" in guide
