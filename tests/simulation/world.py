"""A make-believe shell: it answers effects as a real one could, from a seed and nothing else."""

from __future__ import annotations

import json
from collections.abc import Callable
from random import Random
from typing import NamedTuple

from msgspec.structs import replace
from tests.simulation.verdicts import NEVER_RED, SHOWN, TESTED, WITHOUT_SUITE, judged

from flyball.run.effect import (
    AnyEffect,
    Classify,
    CloseCard,
    Inspect,
    OpenWorkspace,
    Owed,
    Perform,
    Publish,
    ResetThread,
    RollBack,
    Think,
)
from flyball.run.event import (
    Answered,
    AnyEvent,
    Appealed,
    CallInterrupted,
    CallReturned,
    Cancelled,
    CardClosed,
    CheckpointStated,
    ConflictStated,
    DriverReplied,
    EvidenceTaken,
    Extended,
    IntentRead,
    Messaged,
    Noted,
    Resumed,
    RolledBack,
    ThreadReset,
    WorkspaceFailed,
    WorkspaceReady,
)
from flyball.run.policy import Project
from flyball.run.state import Asking, CardState, RunState
from flyball.terms.call import Access, Call, CommandFact, Outcome, PathFact
from flyball.terms.conflict import REQUEST, Choice, ConflictReport, Quote
from flyball.terms.evidence import (
    AnyEvidence,
    CheckKind,
    CheckReport,
    CommandReport,
    DiffReport,
    FailedTest,
    HttpReport,
    SuiteReport,
    WeakeningReport,
)
from flyball.terms.intent import LIMITS, Intent
from flyball.terms.tool import TOOL_ACCESS

Driver = Callable[[RunState, CardState, Think, Random], AnyEvent]

PATIENCE = 12
"""How often the person answers before they have had enough."""


class World(NamedTuple):
    """What holds outside of one run."""

    rng: Random
    driver: Driver
    has_suite: bool = True
    red_chance: float = 0.4
    crash_chance: float = 0.02


def call(id: str, tool: str, path: str = "a.py", **more: object) -> Call:
    """A call with the facts a real shell would have found."""
    access = TOOL_ACCESS.get(tool, Access.READ)
    writes = access is Access.MUTATE and tool != "bash"
    paths = (PathFact(path, write=writes),) if tool in FILE_TOOLS else ()
    fields: dict[str, object] = {"paths": paths, **more}
    return Call(id=id, tool=tool, access=access, digest=f"{tool} {path}", **fields)  # type: ignore[arg-type]


CONTRADICTION = ConflictReport(Quote("test_a.py:1", "assert f() == 1"), Quote(REQUEST, "f() is 2"))
FILE_TOOLS = frozenset({"read", "edit_diff", "write_file", "delete_file"})


def bash(id: str, kind: str, decision: str = "allow") -> Call:
    access = {"read-only": Access.READ, "verification": Access.VERIFY}.get(kind, Access.MUTATE)
    return Call(
        id=id,
        tool="bash",
        access=access,
        digest=f"bash {kind}",
        command=CommandFact("cmd", kind, decision, "because"),
        destructive="destroys" if kind == "destructive" else "",
        confirmed=True,
    )


def answer(world: World, state: RunState, owed: Owed) -> AnyEvent:
    """The event that performing an effect leads to."""
    effect: AnyEffect = owed.effect
    n, at = owed.n, state.at + world.rng.random()
    match effect:
        case Classify():
            intent = world.rng.choice(list(Intent))
            return IntentRead(effect=n, at=at, intent=intent, budget=LIMITS[intent])
        case OpenWorkspace():
            if world.rng.random() < world.crash_chance:
                return WorkspaceFailed(effect=n, at=at, error="no room")
            project = Project(runners=("pytest",) if world.has_suite else ())
            return WorkspaceReady(effect=n, at=at, tree="t0", project=project)
        case Publish():
            return Messaged(effect=n, at=at, message=effect.message)
        case RollBack():
            return RolledBack(effect=n, at=at, tree=effect.tree, cards=effect.cards)
        case Think():
            card = _card(state, effect.card)
            if card.step or world.rng.random() < 0.2:
                return world.driver(state, card, effect, world.rng)
            return DriverReplied(card=card.id, text=_words(world.rng, effect.role))
        case Perform():
            return _perform(world, state, effect)
        case Inspect():
            return EvidenceTaken(card=effect.card, evidence=_inspect(world, effect))
        case ResetThread():
            return ThreadReset(card=effect.card, reason=effect.reason, text="go on")
        case CloseCard():
            return _close(world, _card(state, effect.card))


def _words(rng: Random, role: str) -> str:
    """What a planner or verifier says: sound and unsound plans, honest and rash reports."""
    if role == "verifier":
        achieved = rng.random() < 0.6
        issues = [] if achieved else [{"step_id": "s0", "issue": "red", "severity": "critical"}]
        return json.dumps({"goal_achieved": achieved, "issues": issues})
    count = rng.choice((0, 1, 2, 3, 8, 9))
    steps = [
        {
            "id": f"s{n}",
            "title": f"step {n}",
            "success_criteria": ["tests pass"],
            "depends_on": [f"s{rng.randrange(count)}"] if rng.random() < 0.2 else [],
            "template": rng.choice(("", "", "", "step", "diagnose", "nonsense")),
        }
        for n in range(count)
    ]
    return json.dumps({"goal": "goal", "steps": steps, "work": rng.choice(("keep", "rollback"))})


def _close(world: World, card: CardState) -> CardClosed:
    """A card's commit; the work of a card beside the others may not fit to theirs."""
    commit = f"commit of {card.id}"
    if not card.place:
        return CardClosed(card=card.id, commit=commit)
    if world.rng.random() < 0.1:
        return CardClosed(card=card.id, error="Merge conflict in a.py")
    return CardClosed(card=card.id, commit=commit, tree=f"t{world.rng.randrange(10**6)}")


def _card(state: RunState, id: str) -> CardState:
    card = state.card(id)
    assert card is not None
    return card


def _perform(world: World, state: RunState, effect: Perform) -> AnyEvent:
    rng, asked, card = world.rng, effect.call, _card(state, effect.card)
    if rng.random() < world.crash_chance:
        return CallInterrupted(card=card.id, call=asked.id, tree=_tree(rng, card, asked.access))
    match asked.tool:
        case "checkpoint":
            return CheckpointStated(
                card=card.id,
                call=asked.id,
                goal="goal",
                findings="findings",
                proposed_action="action",
                files=("a.py",),
                verify_with=("test",),
            )
        case "note":
            return Noted(card=card.id, call=asked.id, risk="low", assumptions=("none",))
        case "appeal":
            about = card.denials[-1].call if card.denials else "nothing"
            return Appealed(card=card.id, call=asked.id, about=about, reason="please")
        case "conflict" if rng.random() < 0.3:
            return ConflictStated(card=card.id, call=asked.id, fault="`says` was not found.")
        case "conflict":
            return ConflictStated(card=card.id, call=asked.id, report=CONTRADICTION)
        case _:
            return _return(world, card, asked)


def _return(world: World, card: CardState, asked: Call) -> CallReturned:
    rng = world.rng
    ok = rng.random() < 0.85
    tree = _tree(rng, card, asked.access) if ok else card.tree
    return CallReturned(
        card=card.id,
        call=asked.id,
        outcome=Outcome(
            ok=ok,
            text="text",
            digest=rng.choice(("same", "same", f"new {rng.random()}")),
            error="" if ok else "it failed",
        ),
        tree=tree,
        evidence=_evidence(world, asked, tree),
        changed=(asked.writes or ("a.py",)) if tree != card.tree else (),
    )


def _tree(rng: Random, card: CardState, access: Access) -> str:
    """A mutation makes a new tree, changes nothing, or returns to one seen before."""
    if access is not Access.MUTATE:
        return card.tree
    return rng.choice(
        (f"t{rng.randrange(10**6)}", f"t{rng.randrange(10**6)}", card.tree, "t0", "t1")
    )


def _evidence(world: World, asked: Call, tree: str) -> tuple[AnyEvidence, ...]:
    rng = world.rng
    red = rng.random() < world.red_chance
    id = f"e{rng.randrange(10**9)}"
    match asked.tool:
        case "test":
            return (suite(id, tree, red=red, ran=rng.random() < 0.9),)
        case "check":
            kind = rng.choice(list(CheckKind))
            return (CheckReport(id=id, tree=tree, kind=kind, command="c", exit_code=int(red)),)
        case "http_probe":
            return (HttpReport(id=id, tree=tree, url="u", status=500 if red else 200),)
        case "bash" if asked.access is Access.VERIFY:
            empty = rng.choice(("", "it cannot fail"))
            return (
                CommandReport(
                    id=id,
                    tree=tree,
                    command="true",
                    exit_code=int(red),
                    verification=True,
                    proves_nothing=empty,
                ),
            )
        case _:
            return ()


def suite(id: str, tree: str, *, red: bool, ran: bool = True) -> SuiteReport:
    return SuiteReport(
        id=id,
        tree=tree,
        runner="pytest",
        command="pytest",
        exit_code=int(red),
        passed=3 if ran else 0,
        failed=int(red and ran),
        failures=(FailedTest("test_a"),) if red and ran else (),
    )


def _inspect(world: World, effect: Inspect) -> tuple[AnyEvidence, ...]:
    """Flyball's verdict on a change; where there is none, only that somebody looked."""
    rng = world.rng
    secrets = ("a.py:1",) if rng.random() < 0.05 else ()
    base, tree = effect.base, effect.tree
    diff = DiffReport(id=f"d{tree}", tree=tree, base=base, secrets_added=secrets)
    if tree == base:
        return WeakeningReport(id=f"w{tree}", tree=tree, base=base), diff
    kinds = TESTED if world.has_suite else WITHOUT_SUITE
    found = SHOWN if world.has_suite and rng.random() < 0.4 else rng.choice(kinds)
    if found is NEVER_RED and not effect.wants_red:
        found = replace(NEVER_RED, findings=())
    return judged(tree, base, found), diff


def person(world: World, state: RunState, patience: int) -> AnyEvent:
    """What a person does with a run at rest: mostly helpful, finally fed up."""
    rng = world.rng
    at = state.at + rng.random()
    question = state.paused[0].question if state.paused else None
    if patience <= 0 or question is None or rng.random() < 0.05:
        return Cancelled(at=at, by="person", why="enough")
    if question.kind is Asking.EXTENSION:
        if rng.random() < 0.5:
            return Extended(at=at, by="person", calls=rng.randrange(1, 6), why="go on")
        return Answered(at=at, question=question.id, granted=False, by="person")
    if question.kind in (Asking.GUARD, Asking.PERSON, Asking.DRIVER) and rng.random() < 0.5:
        trees = {card.place: card.tree for card in state.paused if card.place}
        return Resumed(at=at, by="person", tree=state.tree, places=trees)
    granted = rng.random() < 0.6
    if question.kind is Asking.CONFLICT and granted:
        choice = rng.choice(list(Choice))
        return Answered(
            at=at, question=question.id, granted=True, by="person", choice=choice, note="otherwise"
        )
    return Answered(at=at, question=question.id, granted=granted, by="person")
