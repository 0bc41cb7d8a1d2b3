"""What was typed wrong is told in whole sentences, with a guess that is close or none."""

from __future__ import annotations

import json
import sys

import click
import pytest
from tests.contract.test_typed_commands import parse

from flyball import cli
from flyball.cli.typed.mistakes import KNOWN


def typed(line: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]):
    """How a command line ends: its exit code, and what it prints on both."""
    monkeypatch.setattr(sys, "argv", ["flyball", *line.split()])
    with pytest.raises(SystemExit) as ended:
        cli.main()
    return ended.value.code, *capsys.readouterr()


@pytest.mark.parametrize("group", ["", "runs", "card", "flow", "ledger", "people", "patch"])
def test_a_group_alone_prints_its_help_and_no_error(group: str, monkeypatch, capsys):
    code, out, err = typed(group, monkeypatch, capsys)
    assert (code, out) == (2, "")
    assert err.startswith(f"Usage: flyball {group}".rstrip() + " [OPTIONS] COMMAND")
    assert "error[" not in err and "See `" not in err


SAID = {
    "init": "Missing option --host: choose claude, codex, gemini or opencode. See `flyball init "
    "--help`.",
    "completion": "Missing argument SHELL: choose bash, zsh or fish. See `flyball completion "
    "--help`.",
    "runs show": "Missing argument RUN. See `flyball runs show --help`.",
    "flow check": "Missing argument FILE. See `flyball flow check --help`.",
    "verify main": "Got unexpected extra argument (main). Did you mean `--base main`? See `flyball "
    "verify --help`.",
    "machine xstate": "Got unexpected extra argument (xstate). Did you mean `--format xstate`? See "
    "`flyball machine --help`.",
    "serve 8080": "Got unexpected extra argument (8080). Did you mean `--port 8080`? See `flyball "
    "serve --help`.",
    "trust /": "Got unexpected extra argument (/). Did you mean `--repo /`? See `flyball trust "
    "--help`.",
    "off 5m": "Got unexpected extra argument (5m). Did you mean `--for 5m`? See `flyball off "
    "--help`.",
    "people list x": "Got unexpected extra argument (x). See `flyball people list --help`.",
    "undo a b": "Got unexpected extra argument (b). See `flyball undo --help`.",
    "undo a b c": "Got unexpected extra arguments (b c). See `flyball undo --help`.",
    "merge last": "There is no command 'merge'. Did you mean `flyball runs merge`?",
    "revert": "There is no command 'revert'. Did you mean `flyball card revert`?",
    "check": "There is no command 'check'. Did you mean `flyball attest check`, `flyball patch "
    "check` or `flyball flow check`?",
    "version": "There is no command 'version'. Did you mean `flyball --version`?",
    "status": "There is no command 'status'. Did you mean `flyball runs list`?",
    "log": "There is no command 'log'. Did you mean `flyball runs show last`?",
    "verfy": "There is no command 'verfy'. Did you mean `flyball verify`?",
    "doc": "There is no command 'doc'. Did you mean `flyball doctor`?",
    "zebra": "There is no command 'zebra'. `flyball --help` lists the commands.",
    "runs mrege": "There is no command 'runs mrege'. Did you mean `flyball runs merge`?",
    "runs revert": "There is no command 'runs revert'. Did you mean `flyball card revert`?",
    "runs verify": "There is no command 'runs verify'. Did you mean `flyball verify`?",
    "card zebra": "There is no command 'card zebra'. See `flyball card --help`.",
    "help zebra": "There is no command 'zebra'. `flyball --help` lists the commands.",
}


@pytest.mark.parametrize("line", SAID)
def test_a_mistake_is_reported_in_whole_sentences_on_one_line(line: str, monkeypatch, capsys):
    assert typed(line, monkeypatch, capsys) == (2, "", f"error[usage]: {SAID[line]}\n")


@pytest.mark.parametrize("line", ["init", "verify main", "undo a b", "runs mrege", "merge"])
def test_with_json_a_mistake_is_one_object(line: str, monkeypatch, capsys):
    code, out, err = typed(f"{line} --json", monkeypatch, capsys)
    told = json.loads(out)
    assert (code, err, told["code"]) == (2, "", "usage")
    assert f"{told['message']} {told['hint']}" == SAID.get(
        line, "There is no command 'merge'. Did you mean `flyball runs merge`?"
    )


@pytest.mark.parametrize("name", ["show", "list", "resume", "cancel", "forget", "grant", "apply"])
def test_a_command_of_a_group_is_found_wherever_it_is(name: str, monkeypatch, capsys):
    _, _, err = typed(name, monkeypatch, capsys)
    context = click.Context(cli.cli)
    holders = [
        group
        for group in cli.COMMANDS
        if isinstance(found := cli.cli.get_command(context, group), click.Group)
        and name in found.list_commands(context)
    ]
    assert holders
    assert all(f"`flyball {group} {name}`" in err for group in holders)


@pytest.mark.parametrize("line", KNOWN.values())
def test_what_is_said_for_a_word_of_other_programs_exists(line: str):
    if line != "--version":
        parse(line.split())


def test_help_is_a_command_too(monkeypatch, capsys):
    asked = typed("--help", monkeypatch, capsys)
    assert asked[0] == 0 and asked[1].startswith("Usage: flyball [OPTIONS] COMMAND")
    assert typed("help", monkeypatch, capsys) == asked
    asked = typed("runs show --help", monkeypatch, capsys)
    assert typed("help runs show", monkeypatch, capsys) == asked
