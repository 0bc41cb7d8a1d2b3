"""The proof that Flyball's own hands are careful, and that it would show if they were not."""

import asyncio
import os
import socket

import pytest

from flyball.engine import perform
from flyball.hosts.prove import self_attacks
from flyball.tools.call.protocol import Result
from flyball.verdict.runners import choice
from flyball.workspace.run.watch import NOTHING_TAKEN_BACK
from flyball.workspace.trees.git_trees import GitTrees

WATCHED = {"places that wait", "a planted environment", "links and pipes", "ignored files"}
OTHERS = {
    "arguments of runners",
    "other servers",
    "folders that lead elsewhere",
    "a manifest without end",
    "odd names",
    "the user's secrets",
    "a pipe to wait for",
}


def broken(environ=os.environ):
    reports = asyncio.run(self_attacks.attack_own_operations(environ))
    assert {each.name for each in reports} == WATCHED | OTHERS
    return {each.name for each in reports if not each.holds}


@pytest.mark.slow
def test_all_attacks_are_held_and_cleaned_up(tmp_path, monkeypatch):
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    assert broken() == set()
    assert [each.name for each in tmp_path.iterdir() if "hands" in each.name] == []


@pytest.mark.exhaustive
def test_attacks_are_held_without_git():
    assert broken({"PATH": ""}) == set()


@pytest.mark.exhaustive
def test_a_watch_that_takes_nothing_back_is_seen(monkeypatch):
    monkeypatch.setattr(perform, "end_watch", lambda *_: NOTHING_TAKEN_BACK)
    assert broken() >= WATCHED - {"places that wait"}


@pytest.mark.exhaustive
def test_arguments_that_are_passed_on_are_seen(monkeypatch):
    monkeypatch.setattr(choice, "refusal", lambda *_: "")
    assert broken() == {"arguments of runners"}


@pytest.mark.exhaustive
def test_a_secret_that_can_be_read_is_seen(monkeypatch):
    monkeypatch.setattr("flyball.engine.run_context.users_secrets", lambda *_: ())
    assert broken() == {"the user's secrets"}


@pytest.mark.exhaustive
def test_waiting_is_seen(monkeypatch):
    monkeypatch.setattr(self_attacks, "PATIENCE", 3.0)
    monkeypatch.setattr(GitTrees, "_refuse_pipes", lambda _: None)
    assert "a pipe to wait for" in broken()


@pytest.mark.exhaustive
def test_a_command_that_did_not_run_proves_nothing(monkeypatch):
    monkeypatch.setattr(self_attacks, "_COMMAND", "true")
    assert broken() >= WATCHED


@pytest.mark.exhaustive
def test_a_probe_that_gets_through_is_seen(monkeypatch):
    async def straight(form, context):
        with socket.create_connection(("127.0.0.1", int(form.url.rpartition(":")[2].strip("/")))):
            return Result(True, "It answered.")

    monkeypatch.setattr(
        self_attacks, "HTTP_PROBE", self_attacks.HTTP_PROBE._replace(perform=straight)
    )
    assert broken() == {"other servers"}


@pytest.mark.exhaustive
def test_a_manifest_that_is_read_whole_is_seen(monkeypatch):
    filled = []
    probe = self_attacks._probe_other

    async def greedy(context):
        filled.append((context.repo / "package.json").read_bytes())
        return await probe(context)

    monkeypatch.setattr(self_attacks, "_probe_other", greedy)
    assert broken() == {"a manifest without end"}


@pytest.mark.exhaustive
def test_what_is_made_in_another_project_is_seen(monkeypatch):
    probe = self_attacks._probe_other

    async def careless(context):
        (context.repo.parent / "other" / "made").touch()
        return await probe(context)

    monkeypatch.setattr(self_attacks, "_probe_other", careless)
    assert broken() == {"folders that lead elsewhere"}
