"""`flyball approve`, `deny`, `extend`, `answer` as a user types them."""

from __future__ import annotations

import json
from pathlib import Path

import click
import pytest
from click.testing import CliRunner, Result
from tests.governed import (
    DROP,
    EDIT,
    GOOD,
    READ,
    RESTORE,
    REVIEW,
    SUITE,
    call,
    checkpoint,
    environment,
    objects,
    say,
    script,
    shop,
)

from flyball.cli.answer import answer, approve, deny, extend
from flyball.cli.run import run
from flyball.cli.runs import runs
from flyball.errors import Conflict, FlyballError


class Desk:
    """One project and the commands typed in it."""

    def __init__(self, place: Path) -> None:
        self.place = place
        shop(place / "shop")

    def type(self, command: click.Command, *args: str) -> Result:
        runner = CliRunner(env=environment(self.place))
        return runner.invoke(command, [*args, "--repo", str(self.place / "shop")])

    def start(self, *lines: dict[str, object], args: tuple[str, ...] = ()) -> Result:
        driver = script(self.place / "s", *lines)
        return self.type(run, "fix it", "--intent", "small_fix", "--driver", driver, *args)

    def show(self) -> dict[str, object]:
        return json.loads(self.type(runs, "show", "last", "--json", "--threads").stdout)

    def heard(self) -> str:
        return json.dumps(self.show()["threads"])


@pytest.fixture
def desk(tmp_path: Path) -> Desk:
    return Desk(tmp_path)


@pytest.mark.exhaustive
@pytest.mark.slow
def test_a_checkpoint_that_is_refused_is_stated_again(desk: Desk):
    lines = (READ, checkpoint("test_cart.py"), checkpoint(), EDIT, SUITE, say("Right."), REVIEW)
    assert desk.start(*lines, args=("--approve",)).exit_code == 3
    denied = desk.type(deny, "last", "--why", "leave the tests alone")
    assert denied.exit_code == 3, denied.output
    assert "leave the tests alone" in desk.heard()
    approved = desk.type(approve, "last")
    assert approved.exit_code == 0, approved.output
    assert "succeeded" in approved.output


@pytest.mark.slow
def test_a_test_that_is_gone_is_refused_and_put_back(desk: Desk):
    lines = (
        READ,
        checkpoint("test_cart.py", "cart.py"),
        EDIT,
        call("edit_diff", diff=DROP),
        SUITE,
        say("Done."),
        call("edit_diff", diff=RESTORE),
        SUITE,
        say("Now it is right."),
        REVIEW,
    )
    assert desk.start(*lines).exit_code == 3
    question = desk.show()["questions"][0]  # type: ignore[index]
    assert question["kind"] == "weakened-tests"
    assert "test_nothing" in question["text"]
    denied = desk.type(deny, "last", "--why", "leave the tests alone")
    assert denied.exit_code == 0, denied.output
    assert "red → green (tests that were there) (2 tests)" in denied.output


@pytest.mark.slow
def test_a_test_that_is_gone_may_be_accepted_and_by_whom_is_reported(desk: Desk):
    gone = call("edit_diff", diff=DROP)
    lines = (READ, checkpoint("test_cart.py", "cart.py"), EDIT, gone, SUITE, say("Done."), REVIEW)
    assert desk.start(*lines).exit_code == 3
    done = desk.type(approve, "last", "--json")
    assert done.exit_code == 0, done.output
    last = objects(done.stdout)[-1]
    assert last["ending"] == "succeeded"
    assert any(line.startswith("changed expectations accepted by ") for line in last["verdict"])


@pytest.mark.exhaustive
@pytest.mark.slow
def test_yes_to_a_spent_budget_grants_the_intents_own_again(desk: Desk):
    reads = [call("grep", q=word) for word in ("total", "price", "items")]
    lines = (*reads, say("More, please."), checkpoint(), EDIT, SUITE, say("Right."), REVIEW)
    asked = desk.start(*lines, args=("--budget", "2"))
    assert asked.exit_code == 3
    assert "# add 15 calls" in asked.output
    done = desk.type(approve, "last")
    assert done.exit_code == 0, done.output
    assert desk.show()["budget"] == {"used": 4, "limit": 17}


def test_no_to_a_spent_budget_ends_the_run(desk: Desk):
    reads = [call("grep", q=word) for word in ("total", "price", "items")]
    desk.start(*reads, say("More, please."), args=("--budget", "2"))
    done = desk.type(deny, "last")
    assert done.exit_code == 1, done.output
    assert "was not extended" in done.output


@pytest.mark.exhaustive
@pytest.mark.slow
def test_words_let_a_withheld_reply_go_on(desk: Desk):
    lines = (say("", finish="content_filter"), *GOOD)
    assert desk.start(*lines).exit_code == 3
    done = desk.type(answer, "last", "keep", "to", "the", "cart")
    assert done.exit_code == 0, done.output
    assert "keep to the cart" in desk.heard()


def test_words_are_never_a_permission(desk: Desk):
    lines = (READ, checkpoint(), checkpoint(), EDIT, SUITE, say("Right."), REVIEW)
    assert desk.start(*lines, args=("--approve",)).exit_code == 3
    again = desk.type(answer, "last", "name the tests, too")
    assert again.exit_code == 3, again.output
    assert "name the tests, too" in desk.heard()


@pytest.mark.slow
def test_a_bare_yes_is_a_yes(desk: Desk):
    assert desk.start(*GOOD, args=("--approve",)).exit_code == 3
    assert desk.type(answer, "last", "Yes!").exit_code == 0


@pytest.mark.slow
def test_a_message_may_only_be_recorded(desk: Desk):
    assert desk.start(*GOOD, args=("--approve",)).exit_code == 3
    recorded = desk.type(approve, "last", "--no-drive")
    assert recorded.exit_code == 0, recorded.output
    assert "flyball runs resume" in recorded.output
    assert desk.show()["status"] == "interrupted"
    assert desk.type(runs, "resume", "last").exit_code == 0


@pytest.mark.exhaustive
@pytest.mark.slow
def test_a_changed_workspace_is_looked_at_again(desk: Desk):
    """A person who edits while the run waits makes its evidence stale."""
    gone = call("edit_diff", diff=DROP)
    lines = (READ, checkpoint("test_cart.py", "cart.py"), EDIT, gone, SUITE, say("Done."), SUITE)
    assert desk.start(*lines).exit_code == 3
    tree = Path(str(desk.show()["workspace"]))
    (tree / "cart.py").write_text("def total(items):\n    return 99\n")
    done = desk.type(approve, "last", "--json")
    told = [line["kind"] for line in objects(done.stdout) if line["type"] == "evidence"]
    assert "verdict-report" in told
    assert done.exit_code != 0


def test_nothing_is_asked(desk: Desk):
    assert desk.start(*GOOD).exit_code == 0
    for command, args in (
        (approve, ()),
        (deny, ()),
        (answer, ("hello",)),
        (extend, ("5", "--why", "x")),
    ):
        error = desk.type(command, "last", *args).exception
        assert isinstance(error, Conflict), error
        assert "has ended" in str(error)


def test_an_extension_says_why(desk: Desk):
    assert desk.start(*GOOD, args=("--approve",)).exit_code == 3
    assert isinstance(desk.type(extend, "last", "5", "--why", " ").exception, FlyballError)
    assert desk.type(extend, "last", "0", "--why", "x").exit_code == 2
    more = desk.type(extend, "last", "5", "--why", "it is large", "--json")
    assert more.exit_code == 3
    lines = objects(more.stdout)
    assert (lines[1]["type"], lines[1]["calls"]) == ("extension", 5)
    assert lines[-1]["type"] == "approval"
