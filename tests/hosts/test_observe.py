"""Hooks that only observe: nothing is refused, held, said or taken back, and all of it is known."""

from __future__ import annotations

import json
from collections.abc import Generator
from typing import Any

import pytest
from tests.governed import CART, Shell
from tests.hosts.hooking import Heard, HostSession, send

RIGHT = CART.replace("result += price", "result += price * quantity")
WRONG = CART.replace("result += price", "result -= price")
SILENCE = Heard(0, "", "")


@pytest.fixture
def observed(shell: Shell) -> Generator[HostSession]:
    session = HostSession(shell, "claude", "s1", "observe")
    yield session
    session.end()


def audited(shell: Shell) -> dict[str, Any]:
    done = shell("audit", "--host", "flyball", "--json")
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def test_nothing_is_refused_held_or_said_and_the_audit_names_what_would_have_been(
    observed: HostSession,
):
    shell, repo = observed.shell, observed.repo
    heard = [
        observed.hook("SessionStart", source="startup"),
        observed.prompt(),
        observed.write("cart.py", WRONG),
        observed.run("git reset --hard HEAD~0 --quiet; git clean -fdxq --exclude=cart.py"),
        observed.write("cart.py", WRONG),
        observed.run("mkdir -p .claude && cp cart.py .claude/settings.json"),
        observed.stop(),
        send(shell, "claude", b"no payload at all", "observe"),
    ]
    assert heard == [SILENCE] * len(heard)
    assert (repo / "cart.py").read_text() == WRONG
    assert (repo / ".claude" / "settings.json").read_text() == WRONG
    report = audited(shell)
    found = [(each["rule"], each["quote"], each["detail"]) for each in report["findings"]]
    rules = [rule for rule, _, _ in found]
    assert rules.count("would-hold") == 1, found
    blocked = [quote for rule, quote, _ in found if rule == "would-block"]
    assert "cart.py" in blocked[0], found
    assert any("git clean" in each for each in blocked), found
    assert any(".claude" in quote + why for _, quote, why in found), found
    assert all("(tree " in why for _, _, why in found)
    assert (report["governed"], report["advice"]) == ([], ["flyball init --host claude"])


@pytest.mark.exhaustive
def test_who_only_looked_or_saw_its_work_pass_is_not_accused(observed: HostSession):
    shell, file = observed.shell, {"file_path": str(observed.repo / "cart.py")}
    (observed.repo / ".gitignore").write_text("__pycache__/\n")
    observed.prompt("where is the total computed?")
    observed.before("Read", "r1", **file)
    observed.after("Read", "r1", file, {})
    observed.stop("In cart.py.")
    report = audited(shell)
    assert report["sessions"] == 1
    assert report["findings"] == []
    observed.prompt()
    observed.write("cart.py", RIGHT)
    observed.run("python -m unittest -q")
    observed.stop()
    assert [each["rule"] for each in audited(shell)["findings"]] == ["would-block"]


@pytest.mark.exhaustive
def test_who_governs_and_who_observes_the_same_session_do_not_meet(observed: HostSession):
    governed = HostSession(observed.shell)
    for each in (governed, observed):
        each.prompt()
    assert governed.write("cart.py", WRONG).is_refused
    assert observed.write("cart.py", WRONG) == SILENCE
    governed.run("ls")
    assert (observed.repo / "cart.py").read_text() == CART
    governed.end()
