"""What a shell is offered for each option and argument."""

from __future__ import annotations

import json
import re
from pathlib import Path

import click
import pytest
from tests.contract.test_help import EVERY
from tests.unit.journal.test_looking import NamedRun, journal

from flyball.app.project import open_home
from flyball.cli import cli
from flyball.cli.typed.shells import SHELLS


@pytest.mark.parametrize("path", EVERY)
def test_whatever_takes_a_file_or_directory_completes_it(path: str):
    for param in EVERY[path].command.params:
        told = param.metavar or param.human_readable_name
        found = re.search(r"FILE|PATH|DIR", told)
        if not found:
            continue
        items = param.shell_complete(EVERY[path], "no-such-run")
        kind = "dir" if found[0] == "DIR" else "file"
        assert [(each.type, each.value) for each in items] == [(kind, "no-such-run")], param.name


@pytest.mark.parametrize("path", EVERY)
def test_whatever_takes_a_run_or_a_card_completes_it(path: str):
    for param in EVERY[path].command.params:
        told = param.metavar or param.human_readable_name
        if isinstance(param, click.Argument) and re.fullmatch(r"RUN(\|FILE)?|CARD", told):
            assert param._custom_shell_complete is not None, param.name


RUNS = (
    NamedRun("0101-aaaa", "mend the total"),
    NamedRun("0102-bbbb", "a long,\nlong request: \x1b[31m" + "word " * 40),
    NamedRun("$(touch broken)", "a name of which a shell would do something"),
)


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A project with two runs, the first of which has two cards."""
    monkeypatch.setenv("FLYBALL_STATE_DIR", str(tmp_path / "state"))
    monkeypatch.setenv("FLYBALL_CONFIG", "/dev/null")
    monkeypatch.delenv("FLYBALL_DATABASE", raising=False)
    repo = tmp_path / "shop"
    repo.mkdir()
    monkeypatch.chdir(repo)
    state = open_home(repo, {"FLYBALL_STATE_DIR": str(tmp_path / "state")}, {}).state
    kept = state / "runs" / "0101-aaaa"
    kept.mkdir(parents=True)
    journal(state / "journal.sqlite", *RUNS)
    record = {"run": "0101-aaaa", "commit": "c", "before": "t", "after": "t"}
    steps = [
        {"card": "step-1", "title": "Count, then add", **record},
        {"card": "step-2", "title": "Say so", **record},
        {"card": "step-1", "title": "Took it back", "step": "Flyball-Reverted", **record},
    ]
    (kept / "cards.jsonl").write_text("".join(json.dumps(each) + "\n" for each in steps))
    return repo


def offered(*words: str) -> dict[str, str | None]:
    """What is offered for the last of these words, with its descriptions."""
    *args, incomplete = words
    shell = SHELLS["bash"](cli, {}, "flyball", "_FLYBALL_COMPLETE")
    return {each.value: each.help for each in shell.get_completions(args, incomplete)}


@pytest.mark.parametrize("words", [("runs", "show"), ("approve",), ("runs", "prune"), ("judge",)])
def test_runs_are_offered_newest_first_with_their_requests(words: tuple[str, ...], project: Path):
    found = offered(*words, "")
    assert [*found] == ["last", "0102-bbbb", "0101-aaaa"]
    assert found["0101-aaaa"] == "mend the total"
    assert (found["0102-bbbb"] or "").startswith("a long, long request: \\u001b[31mword word")
    assert max(len(each or "") for each in found.values()) == 60
    assert [*offered(*words, "0101")] == ["0101-aaaa"]


def test_runs_are_those_of_the_project_that_is_named(project: Path, monkeypatch):
    monkeypatch.chdir("/")
    assert offered("runs", "show", "") == {}
    assert "0101-aaaa" in offered("runs", "show", "--repo", str(project), "")


def test_cards_are_those_of_the_run_that_was_named(project: Path):
    cards = {"step-1": "Count, then add", "step-2": "Say so"}
    assert offered("card", "revert", "0101-aaaa", "") == cards
    assert offered("card", "show", "aaaa", "step-2") == {"step-2": "Say so"}
    assert offered("card", "apply", "last", "") == offered("card", "show", "zebra", "") == {}


def test_nothing_is_offered_where_it_cannot_be_known_at_once(project: Path, monkeypatch):
    assert offered("runs", "show", "--repo", "/no/such/place", "") == {}
    monkeypatch.setenv("FLYBALL_DATABASE", "postgresql://nobody@far.invalid/flyball")
    assert offered("runs", "show", "") == {}
