"""Big requests: planned, carried out step by step or side by side, verified, planned anew."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import Any, TypeGuard

import pytest
from tests.e2e.planning import VERIFIES, Line, issue, plan, report, step, swap, work, write
from tests.e2e.scenario import Stage, Told
from tests.repos import git

from flyball.plan.message import PlanRequest, UserResponse
from flyball.run.event import AnyEvent, CallReturned, Messaged, RolledBack

FILES: dict[str, str | bytes] = {
    ".gitignore": "__pycache__/\n",
    "cart.py": "def total(prices):\n    return sum(prices[1:])\n",
    "tax.py": "def tax(price):\n    return price * 2\n",
    "test_all.py": (
        "import time\nimport unittest\n\n\nclass AllTest(unittest.TestCase):\n"
        "    def test_it_loads(self):\n"
        "        import cart, tax\n\n"
        "        self.assertGreater(tax.tax(1) + cart.total([1, 2]), 0)\n"
    ),
}
LONG_SUITE = str(FILES["test_all.py"]).replace("import cart", "time.sleep(4); import cart")
CART = swap("cart.py", "    return sum(prices[1:])", "    return sum(prices)")
TAX = swap("tax.py", "    return price * 2", "    return price * 3")


@pytest.fixture
def stage(tmp_path: Path) -> Stage:
    return Stage(tmp_path, FILES)


def build(stage: Stage, *lines: Line | list[Line], flags: tuple[str, ...] = ()) -> Told:
    """A planned run driven by these lines."""
    script = write(stage.place / "script.jsonl", *lines)
    words = ("--driver", f"scripted:{script}", "--intent", "feature_build", "--json", *flags)
    told = stage.flyball("run", "make the shop right", *words)
    stage.run = told.of("run")[0]["run"]
    return told


def messages(stage: Stage, kind: type[Any]) -> list[Any]:
    return [
        e.message for e in stage.events() if isinstance(e, Messaged) and type(e.message) is kind
    ]


def is_test_of(event: AnyEvent, *cards: str) -> TypeGuard[CallReturned]:
    return isinstance(event, CallReturned) and event.card in cards and bool(event.evidence)


def progress(told: Told) -> list[str]:
    return [line["text"] for line in told.of("iteration")]


def test_success_in_one_iteration(stage: Stage) -> None:
    told = build(
        stage,
        plan(step("step-1"), step("step-2", "step-1")),
        work("step-1", "cart.py", CART),
        work("step-2", "tax.py", TAX),
        VERIFIES,
        report(achieved=True),
    )
    assert (told.exit, told.final["status"], told.final["iterations"]) == (0, "success", 1)
    assert progress(told) == [
        "Planning… (iteration 1/10)",
        "Executing… (2 steps)",
        "Verifying… (checking goal)",
    ]
    assert len(messages(stage, UserResponse)) == 1
    assert "price * 3" in (stage.committed("tax.py") or "")
    titles = git(stage.repo, "log", "--format=%s", f"main..flyball/{stage.run}").split("\n")
    assert titles[:2] == ["change tax.py", "change cart.py"]


@pytest.mark.exhaustive
def test_success_in_three_iterations_with_the_issues_of_each(stage: Stage) -> None:
    red = issue("step-1", "Tests failed with compilation error")
    told = build(
        stage,
        plan(step("step-1")),
        work("step-1", "cart.py", CART),
        VERIFIES,
        report(achieved=False, issues=(red, issue("step-1", "The docs are old", "low"))),
        plan(step("step-1")),
        work("step-1.2", "tax.py", TAX),
        VERIFIES,
        report(achieved=False, issues=(issue("step-1", "The tax is wrong", "high"),)),
        plan(step("step-1")),
        work("step-1.3", "tax.py", swap("tax.py", "    return price * 3", "    return price * 4")),
        VERIFIES,
        report(achieved=True),
    )
    assert (told.exit, told.final["status"], told.final["iterations"]) == (0, "success", 3)
    assert [request.previous_issues for request in messages(stage, PlanRequest)] == [
        (),
        (
            "[critical] Step step-1: Tests failed with compilation error",
            "[low] Step step-1: The docs are old",
        ),
        ("[high] Step step-1: The tax is wrong",),
    ]
    assert "Re-planning… (tests failed with compilation error)" in progress(told)
    assert len(messages(stage, UserResponse)) == 1


@pytest.mark.exhaustive
def test_failure_at_the_limit_names_every_issue_and_what_to_do(stage: Stage) -> None:
    bad = report(
        achieved=False,
        issues=(issue("step-1", "Half of it is missing"), issue("step-1", "No docs", "low")),
        next_actions=[{"type": "fix", "description": "write the rest", "priority": "high"}],
    )
    told = build(
        stage,
        plan(step("step-1")),
        work("step-1", "cart.py", CART),
        VERIFIES,
        bad,
        plan(step("step-1")),
        work("step-1.2", "tax.py", TAX),
        VERIFIES,
        bad,
        flags=("--max-iterations", "2"),
    )
    assert (told.exit, told.final["status"], told.final["iterations"]) == (1, "failed", 2)
    assert told.final["issues"] == [
        "[critical] Step step-1: Half of it is missing",
        "[low] Step step-1: No docs",
    ]
    assert told.final["next_actions"][0]["description"] == "write the rest"
    assert len(messages(stage, UserResponse)) == 1


@pytest.mark.exhaustive
@pytest.mark.slow
def test_a_verifiers_word_counts_once_flyball_has_judged_the_whole_itself(stage: Stage) -> None:
    told = build(
        stage,
        plan(step("a"), step("b")),
        work("a", "cart.py", CART),
        work("b", "tax.py", TAX),
        report(achieved=True),
        flags=("--max-iterations", "1"),
    )
    assert (told.exit, told.final["status"]) == (0, "success")
    verdicts = [line for line in told.of("evidence") if line["kind"] == "verdict-report"]
    # The two steps run side by side, so either may be judged first.
    assert sorted(line["card"] for line in verdicts) == ["a", "b", "verify.1"]
    assert verdicts[-1]["card"] == "verify.1"
    assert verdicts[-1]["evidence"]["base"] == stage.state().base
    assert told.final["verdict"][0] == told.final["proof"]


BAD_PLANS = {
    "empty": (plan(), "The plan has no steps; give it 1 to 8"),
    "cyclic": (plan(step("a", "b"), step("b", "a")), "Steps wait for each other: a, b"),
    "long": (plan(*(step(f"s{n}") for n in range(9))), "The plan has 9 steps; 8 is the most"),
    "id": (plan(step("../x")), "A step's id is up to 40 letters"),
    "template": (
        plan(step("a", template="fixx")),
        "There is no template fixx; did you mean fix?",
    ),
}


@pytest.mark.slow
@pytest.mark.parametrize(
    ("bad", "words"),
    [
        pytest.param(*case, id=name, marks=[pytest.mark.exhaustive] * (name != "cyclic"))
        for name, case in BAD_PLANS.items()
    ],
)
def test_a_plan_that_cannot_be_carried_out_is_the_planners_to_mend(
    stage: Stage, bad: Line, words: str
) -> None:
    told = build(
        stage,
        bad,
        plan(step("step-1")),
        work("step-1", "cart.py", CART),
        VERIFIES,
        report(achieved=True),
    )
    assert (told.exit, told.final["iterations"]) == (0, 1)
    assert words in told.said


@pytest.mark.exhaustive
def test_a_planner_that_cannot_be_understood_is_told_and_then_given_up(stage: Stage) -> None:
    prose: Line = {"role": "planner", "text": "I would start with the cart."}
    told = build(stage, *[prose] * 6)
    assert (told.exit, told.question) == (3, "failure")
    assert "End it with one JSON block" in told.said
    assert sum(line["type"] == "usage" for line in told.lines) == 4
    told = stage.then("deny")
    assert (told.exit, told.final["status"], told.final["iterations"]) == (1, "failed", 1)
    assert "The planner could not be understood" in told.final["issues"][0]


def test_with_yes_a_planner_that_cannot_be_understood_ends_the_run(stage: Stage) -> None:
    prose: Line = {"role": "planner", "text": "I would start with the cart."}
    told = build(stage, *[prose] * 9, flags=("--yes",))
    assert (told.exit, told.final["status"], told.final["iterations"]) == (1, "failed", 1)
    assert "The planner could not be understood" in told.final["issues"][0]
    assert sum(line["type"] == "usage" for line in told.lines) == 8


@pytest.mark.exhaustive
def test_two_steps_overlap_and_are_merged_in_plan_order(tmp_path: Path) -> None:
    stage = Stage(tmp_path, {**FILES, "test_all.py": LONG_SUITE})
    told = build(
        stage,
        plan(step("a"), step("b")),
        work("a", "cart.py", CART),
        work("b", "tax.py", TAX),
        VERIFIES,
        report(achieved=True),
    )
    assert (told.exit, told.final["status"]) == (0, "success")
    began = {line["card"]: line["seq"] for line in reversed(told.of("phase"))}
    closed = {line["card"]: line["seq"] for line in told.of("card") if line["status"] == "done"}
    assert began["b"] < closed["a"] < closed["b"]
    spans = [(e.at - e.outcome.elapsed, e.at) for e in stage.events() if is_test_of(e, "a", "b")]
    assert len(spans) == 2
    assert max(start for start, _ in spans) < min(end for _, end in spans)
    assert "sum(prices)\n" in (stage.committed("cart.py") or "")
    assert "price * 3" in (stage.committed("tax.py") or "")
    assert len(git(stage.repo, "worktree", "list").strip().split("\n")) == 2
    # Their verdicts were taken beside the run's tree, and not on what was merged.
    assert not [*(stage.repo / ".flyball" / "artifacts").rglob("*.intoto.json")]


@pytest.mark.exhaustive
@pytest.mark.slow
def test_a_conflicting_pair_is_planned_anew(stage: Stage) -> None:
    other = swap("cart.py", "    return sum(prices[1:])", "    return sum(prices[0:])")
    told = build(
        stage,
        plan(step("a"), step("b")),
        work("a", "cart.py", CART),
        work("b", "cart.py", other),
        plan(step("c")),
        work("c.2", "tax.py", TAX),
        VERIFIES,
        report(achieved=True),
    )
    assert (told.exit, told.final["iterations"]) == (0, 2)
    conflict = messages(stage, PlanRequest)[1].previous_issues[0]
    assert conflict.startswith("[high] Step b: Merge conflict with another step in cart.py")
    assert "sum(prices)\n" in (stage.committed("cart.py") or "")


@pytest.mark.exhaustive
def test_a_new_plan_may_take_back_what_the_failed_one_left(stage: Stage) -> None:
    told = build(
        stage,
        plan(step("a")),
        work("a", "cart.py", CART),
        VERIFIES,
        report(achieved=False, issues=(issue("a", "It went the wrong way"),)),
        plan(step("b"), work="rollback"),
        work("b.2", "tax.py", TAX),
        VERIFIES,
        report(achieved=True),
    )
    assert (told.exit, told.final["iterations"]) == (0, 2)
    assert any(isinstance(event, RolledBack) for event in stage.events())
    assert [line["cards"] for line in told.of("rollback")] == [["a"]]
    assert "prices[1:]" in (stage.committed("cart.py") or "")
    assert "price * 3" in (stage.committed("tax.py") or "")


@pytest.mark.exhaustive
@pytest.mark.slow
def test_the_messages_of_a_run_can_be_shown(stage: Stage) -> None:
    build(
        stage,
        plan(step("a")),
        work("a", "cart.py", CART),
        VERIFIES,
        report(achieved=True),
    )
    command = stage.command("runs", "show", stage.run, "--messages", "--json")
    done = subprocess.run(command, env=stage.env, capture_output=True, text=True, check=True)
    assert [message["type"] for message in json.loads(done.stdout)["messages"]] == [
        "plan_request",
        "execution_plan",
        "execute_task",
        "execution_results",
        "verify_request",
        "verification_report",
        "user_response",
    ]
