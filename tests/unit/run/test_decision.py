"""Each objection, in its order, with a sentence that says what to do."""

from __future__ import annotations

import pytest
from msgspec.structs import replace
from tests.simulation.world import bash, call
from tests.unit.run.stories import Story

from flyball.run.decision import (
    OBJECTIONS,
    Allow,
    Ask,
    Deny,
    decide,
    may_replace_untracked,
)
from flyball.run.event import Answered, Appealed, Cancelled
from flyball.run.policy import Policy, Project
from flyball.run.state import RunState
from flyball.terms.call import Access, Call, PathFact
from flyball.terms.intent import Intent
from flyball.terms.tool import ALIASES, TOOL_ACCESS, tool_name

BASH = Policy(review=False, bash=True)
UNSAFE = Project(runners=("pytest",))


def building(policy: Policy | None = None, **more: object) -> RunState:
    return Story(policy=policy, **more).checkpoints().state


def code(state: RunState, asked: Call) -> str:
    decision = decide(state, asked)
    return "allow" if isinstance(decision, Allow) else decision.code


@pytest.mark.parametrize(
    ("state", "asked", "expected"),
    [
        (lambda: Story().state, call("1", "read"), "allow"),
        (lambda: Story().state, call("1", "test"), "allow"),
        (lambda: Story().state, call("1", "note"), "allow"),
        (lambda: Story().state, call("1", "edit_diff"), "out_of_phase"),
        (lambda: Story().stops().stops().state, call("1", "read"), "out_of_phase"),
        (lambda: Story().stops().stops().state, call("1", "note"), "allow"),
        (lambda: Story(Intent.FEATURE_BUILD).state, call("1", "test"), "out_of_role"),
        (lambda: Story(budget=0).state, call("1", "read"), "no_tools"),
        (lambda: Story(budget=0).state, call("1", "note"), "allow"),
        (lambda: Story(budget=1).asks("read").returns().state, call("1", "read"), "budget_spent"),
        (lambda: building(budget=2), call("1", "edit_diff"), "reserve_only"),
        (building, call("1", "edit_diff"), "allow"),
        (building, call("1", "read", paths=(PathFact("../x", inside=False),)), "outside"),
        (
            building,
            call("1", "write_file", paths=(PathFact("a.py", write=True, protected="hooks"),)),
            "protected",
        ),
        (
            building,
            call("1", "read", paths=(PathFact(".git/config", protected="git's own"),)),
            "allow",
        ),
        (building, call("1", "edit_diff", keeps_regions=False), "keep_region"),
        (
            lambda: building(Policy(review=False, release_keep_regions=True)),
            call("1", "edit_diff", keeps_regions=False),
            "allow",
        ),
        (building, bash("1", "mutating"), "bash_disabled"),
        (lambda: building(BASH, project=UNSAFE), bash("1", "mutating"), "unattended_bash"),
        (
            lambda: building(replace(BASH, bash_without_sandbox=True), project=UNSAFE),
            bash("1", "mutating"),
            "allow",
        ),
        (lambda: building(BASH), bash("1", "unknown", "deny"), "command_refused"),
        (lambda: building(BASH), bash("1", "mutating", "ask"), "command"),
        (lambda: building(BASH), bash("1", "destructive"), "destructive"),
        (
            building,
            call("1", "delete_file", destructive="deletes a.py"),
            "confirmation_missing",
        ),
        (
            building,
            call("1", "write_file", paths=(PathFact("a.py", write=True, untracked=True),)),
            "untracked",
        ),
        (
            lambda: building(Policy(review=False, preview=True)),
            call("1", "edit_diff"),
            "preview",
        ),
        (building, Call(id="1", tool="x", fault="no such tool"), "malformed"),
        (
            lambda: Story().checkpoints().asks("edit_diff").state,
            call("1", "write_file"),
            "mutation_in_flight",
        ),
        (lambda: Story().happens(Cancelled(by="ann")).state, call("1", "read"), "not_live"),
        (RunState, call("1", "read"), "not_live"),
    ],
)
def test_the_first_objection_wins(state, asked, expected):
    assert code(state(), asked) == expected


def test_self_modification_opens_our_own_files_only():
    state = building(Policy(review=False, self_modify=True))
    for path, expected in (
        ("flyball.toml", "allow"),
        (".flyball/templates/x.json", "allow"),
        (".git/hooks/pre-commit", "protected"),
    ):
        fact = PathFact(path, write=True, protected="our own")
        assert code(state, call("1", "write_file", paths=(fact,))) in (expected, "checkpoint_owed")


def test_the_same_call_after_three_denials_is_named_a_repeat():
    story = Story(policy=Policy(review=False)).checkpoints()
    doomed = call("d", "delete_file", destructive="deletes a.py")
    for _ in range(3):
        story.says(doomed)
    confirmed = replace(doomed, confirmed=True)
    assert code(story.state, confirmed) == "repeated_after_denial"
    assert code(story.state, call("1", "edit_diff")) == "allow"


def test_a_write_before_any_checkpoint_owes_one_even_in_execute():
    story = Story().checkpoints()
    card = replace(story.card, checkpoint=None)
    state = replace(story.state, cards=(card,))
    assert code(state, call("1", "edit_diff")) == "checkpoint_owed"


def test_a_card_can_be_named():
    story = Story()
    assert isinstance(decide(story.state, call("1", "read"), "step-1"), Allow)
    assert decide(story.state, call("1", "read"), "nobody") == Deny(
        "not_live", "No card of this run is live, so nothing may be done in it."
    )


def test_every_denial_is_a_sentence():
    state = Story().state
    for tool, access in TOOL_ACCESS.items():
        decision = decide(state, call("1", tool))
        if isinstance(decision, Deny):
            assert decision.reason.endswith(".")
            assert f"`{tool}`" in decision.reason
        else:
            assert access is not Access.MUTATE


def test_asking_has_a_code_and_a_reason():
    doomed = call("d", "delete_file", destructive="deletes a.py", confirmed=True)
    assert decide(building(), doomed) == Ask("destructive", "`delete_file` deletes a.py.")


def test_objections_have_names_of_their_own():
    names = [objection.__name__ for objection in OBJECTIONS]
    assert len(set(names)) == len(names)


def test_the_seeds_names_are_understood():
    for alias, name in ALIASES.items():
        assert tool_name(alias) == name
    assert tool_name("read") == "read"
    assert tool_name("frobnicate") is None


def test_a_read_in_flight_does_not_hold_up_a_write():
    story = Story().checkpoints().asks("read")
    assert code(story.state, call("1", "edit_diff")) == "allow"


@pytest.mark.parametrize(
    ("asked", "granted", "yes", "expected"),
    [
        (
            call("1", "write_file", paths=(PathFact("n", write=True, untracked=True),)),
            False,
            False,
            True,
        ),
        (call("1", "read", paths=(PathFact("n"),)), False, True, False),
        (call("1", "test"), True, True, False),
        (bash("1", "mutating"), True, True, False),
        (bash("1", "mutating", "ask"), True, False, True),
        (bash("1", "mutating", "ask"), False, False, False),
        (bash("1", "mutating", "ask"), False, True, True),
        (bash("1", "destructive"), True, False, True),
        (bash("1", "destructive"), False, False, False),
    ],
)
def test_only_who_was_asked_about_may_lose_what_is_in_no_commit(asked, granted, yes, expected):
    state = building(Policy(review=False, assume_yes=bool(yes)))
    card = replace(state.cards[0], granted=(asked.digest,) if granted else ())
    assert may_replace_untracked(state, card, asked, "n") is expected


def test_a_refused_shell_says_which_setting_a_person_changes():
    found = decide(building(), bash("1", "mutating"))
    assert isinstance(found, Deny)
    assert "bash.enabled" in found.reason and "FLYBALL_ENABLE_BASH" in found.reason


def test_a_file_whose_regions_the_policy_releases_is_remembered():
    story = Story(policy=Policy(review=False, release_keep_regions=True)).checkpoints("a.py")
    story.says(call("1", "edit_diff", keeps_regions=False))
    assert story.card.released == ("a.py",)


def test_a_refused_release_releases_nothing_until_a_person_grants_it():
    story = Story().checkpoints("a.py").says(call("1", "edit_diff", keeps_regions=False))
    assert story.card.released == ()
    story.asks("appeal").answers(_appeal(story))
    story.happens(Answered(question=story.card.question.id, granted=True, by="ann"))
    story.says(call("2", "edit_diff", keeps_regions=False))
    assert story.card.released == ("a.py",)


def test_an_ordinary_edit_releases_nothing():
    story = Story().checkpoints("a.py").edits("t1")
    assert story.card.released == ()


def _appeal(story: Story) -> Appealed:
    (asked,) = story.card.in_flight
    return Appealed(card=story.card.id, call=asked.id, about="edit_diff", reason="it is meant")
