"""The mistake ledger through the real command line: learned in one run, heeded in the next."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from tests.governed import (
    CART,
    FIX,
    READ,
    REVIEW,
    SUITE,
    TESTS,
    Line,
    Shell,
    call,
    checkpoint,
    objects,
    say,
    script,
    shop,
)

pytestmark = pytest.mark.slow

MISSPELT = FIX.replace("price * quantity", "prize * quantity")
MEND = FIX.replace("-        result += price\n", "-        result += prize * quantity\n")
CLUMSY = (
    READ,
    checkpoint(),
    call("edit_diff", diff=MISSPELT),
    SUITE,
    call("edit_diff", diff=MEND),
    SUITE,
    say("The total counts every piece."),
    REVIEW,
)
ERROR = "test_cart.CartTest.test_three_pens failed: NameError: name 'prize' is not defined"
CURE = "Multiply by the quantity. (changed cart.py)"


@pytest.fixture
def shell(tmp_path: Path) -> Shell:
    return Shell(shop(tmp_path / "shop"), tmp_path)


def clumsy_run(shell: Shell, tmp_path: Path) -> list[Line]:
    driver = script(tmp_path / "clumsy.jsonl", *CLUMSY)
    done = shell("run", "fix it", "--intent", "small_fix", "--driver", driver, "--json")
    assert done.returncode == 0, done.stdout + done.stderr
    return objects(done.stdout)


def resets(lines: list[Line]) -> list[str]:
    return [line["reason"] for line in lines if line["type"] == "thread"]


def heard_by_executor(shell: Shell, run: str) -> list[Line]:
    shown = json.loads(shell("runs", "show", run, "--threads", "--json").stdout)
    return [line for line in shown["threads"] if line.get("role") == "executor"]


@pytest.mark.exhaustive
def test_a_mistake_of_one_run_is_recognised_in_the_next_and_changes_it(
    shell: Shell, tmp_path: Path
):
    assert shell("ledger", "list").stdout.startswith("This project's ledger is empty")
    assert resets(clumsy_run(shell, tmp_path)) == []
    (learned,) = objects(shell("ledger", "list", "--json").stdout)
    assert (learned["error"], learned["count"], learned["files"], learned["resolution"]) == (
        ERROR,
        1,
        ["cart.py"],
        CURE,
    )

    second = clumsy_run(shell, tmp_path)
    (reason,) = resets(second)
    assert reason == f"the thread repeated a mistake that is in the ledger: {ERROR}"
    lines = heard_by_executor(shell, second[0]["run"])
    (start,) = [line for line in lines if line.get("text", "").startswith("# Hand-over")]
    assert start["attempt"] == 2
    again = start["text"].partition("## Do not repeat\n")[2]
    assert again == f"- Seen once during fix in cart.py: {ERROR}. Resolved by: {CURE}\n"
    (counted,) = objects(shell("ledger", "list", "--json").stdout)
    assert (counted["fingerprint"], counted["count"]) == (learned["fingerprint"], 2)


@pytest.mark.exhaustive
def test_a_later_run_is_told_before_it_begins(shell: Shell, tmp_path: Path):
    clumsy_run(shell, tmp_path)
    relay = tmp_path / "relay"
    relay.mkdir()
    for n in range(1, 9):
        (relay / f"{n:04}.reply.md").write_text("Nothing needs to change.")
    driver = f"relay:{relay}"
    done = shell("run", "fix it", "--intent", "small_fix", "--driver", driver)
    assert done.returncode == 4, done.stdout + done.stderr
    page = (relay / "0001.request.md").read_text()
    assert f"Seen once during fix in cart.py: {ERROR}. Resolved by: {CURE}" in page
    assert "`NEW_THREAD`" in page
    assert "NEW_THREAD" not in (relay / "0002.request.md").read_text()


@pytest.mark.exhaustive
def test_a_later_run_about_something_else_is_not_told(shell: Shell, tmp_path: Path):
    clumsy_run(shell, tmp_path)
    (shell.cwd / "banner.py").write_text("GREETING = 'hallo'\n")
    relay = tmp_path / "relay"
    relay.mkdir()
    for n in range(1, 9):
        (relay / f"{n:04}.reply.md").write_text("Nothing needs to change.")
    request = "GREETING in banner.py should be hello"
    shell("run", request, "--intent", "small_fix", "--driver", f"relay:{relay}")
    page = (relay / "0001.request.md").read_text()
    assert request in page
    assert "prize" not in page
    assert "test_three_pens" not in page


@pytest.mark.exhaustive
def test_the_ledger_is_shown_and_forgotten(shell: Shell, tmp_path: Path):
    run = clumsy_run(shell, tmp_path)[0]["run"]
    listed = shell("ledger", "list").stdout
    print_ = json.loads(shell("ledger", "list", "--json").stdout)["fingerprint"]
    head, row = listed.splitlines()
    assert head.split() == [
        *("mistake", "count", "last", "seen", "step", "files", "resolved", "error")
    ]
    assert row.split()[:2] == [print_[:8], "1"]
    assert "test_three_pens failed" in row

    shown = shell("ledger", "show", print_[:5]).stdout
    assert f"  {ERROR}\n" in shown
    assert f"resolved by: {CURE}" in shown
    assert f"run {run}, card step-1" in shown
    told = json.loads(shell("ledger", "show", print_, "--json").stdout)
    assert [(each["run"], each["card"]) for each in told["seen"]] == [(run, "step-1")]

    unsure = shell("ledger", "forget", print_)
    assert unsure.returncode == 2
    assert "Say --yes" in unsure.stderr
    assert shell("ledger", "forget", print_[:4], "--yes").stdout == "Forgot 1 mistake.\n"
    assert shell("ledger", "list", "--json").stdout == ""


@pytest.mark.exhaustive
@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("show", "f00d"), "There is no mistake 'f00d'. This project's ledger is empty."),
        (("forget",), "No mistake is named. Name fingerprints, or say --all."),
        (("forget", "f00d", "--all"), "Both mistakes and --all are given."),
        (("forget", "f00d"), "There is no mistake 'f00d'."),
    ],
)
def test_what_cannot_be_found_is_said(shell: Shell, words: tuple[str, ...], message: str):
    done = shell("ledger", *words)
    assert done.returncode == 2
    assert message in done.stderr


def test_an_empty_ledger_is_forgotten_without_a_fuss(shell: Shell):
    done = shell("ledger", "forget", "--all")
    assert done.returncode == 0
    assert "ledger is empty" in done.stdout


@pytest.mark.exhaustive
def test_what_a_person_says_to_a_guard_reaches_the_new_thread(shell: Shell, tmp_path: Path):
    driver = script(tmp_path / "s.jsonl", *[READ] * 5, say("It is mended."))
    done = shell("run", "why is it so", "--intent", "diagnose", "--driver", driver, "--json")
    assert done.returncode == 3, done.stdout + done.stderr
    run = objects(done.stdout)[0]["run"]
    on = shell("answer", run, "Look at the quantity.", "--json")
    assert resets(objects(on.stdout)) == ["the repetition guard stopped this thread"], on.stderr
    lines = heard_by_executor(shell, run)
    (start,) = [line for line in lines if line.get("text", "").startswith("# Hand-over")]
    assert "## A person says\nLook at the quantity.\n" in start["text"]


@pytest.mark.exhaustive
def test_no_secret_gets_into_the_ledger(tmp_path: Path):
    secret = "hush-4815162342-hush"
    files = {"cart.py": CART, "test_cart.py": TESTS, "key.py": f'KEY = "{secret}"\n'}
    shell = Shell(shop(tmp_path / "shop", files), tmp_path, SHOP_API_TOKEN=secret)
    lines = (
        READ,
        checkpoint(),
        call("edit_diff", diff=FIX.replace("price * quantity", "int(__import__('key').KEY)")),
        SUITE,
        call("git", action="revert", paths=["cart.py"], confirm=True),
        call("edit_diff", diff=FIX),
        SUITE,
        say("It is mended."),
        REVIEW,
    )
    driver = script(tmp_path / "s.jsonl", *lines)
    done = shell("run", "fix it", "--intent", "small_fix", "--yes", "--driver", driver)
    assert done.returncode == 0, done.stdout + done.stderr
    told = shell("ledger", "list", "--json").stdout
    assert "ValueError: invalid literal" in told
    assert secret not in told
    journals = [*(tmp_path / "state").rglob("journal.sqlite*")]
    assert journals
    assert all(secret.encode() not in path.read_bytes() for path in journals)
