"""Every state that a small alphabet can reach, with the promises checked in each."""

from __future__ import annotations

import argparse
import sys
import time
from collections import Counter, deque
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from bench.figure import Figure, conclude
from msgspec.structs import replace
from tests.simulation.promises import broken
from tests.simulation.verdicts import (
    NEVER_RED,
    REGRESSED,
    SHOWN,
    TESTED,
    WITHOUT_SUITE,
    judged,
)
from tests.simulation.world import call, suite

from flyball.guards.guard import GuardLimits
from flyball.plan.flow import Flow
from flyball.plan.template import Escalation, GateUse, OnFail, OnPass, Role, Template
from flyball.run.decision import Allow, decide
from flyball.run.effect import (
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
    CallInterrupted,
    CallReturned,
    Cancelled,
    CardClosed,
    CheckpointStated,
    DriverFailed,
    DriverReplied,
    EvidenceTaken,
    Extended,
    Finish,
    IntentRead,
    Messaged,
    Noted,
    PauseAsked,
    Resumed,
    RolledBack,
    RunStarted,
    ThreadReset,
    WorkspaceFailed,
    WorkspaceReady,
)
from flyball.run.machine import advance
from flyball.run.policy import Policy, Project
from flyball.run.state import Asking, CardState, RunState
from flyball.terms.call import Access, Call, Outcome
from flyball.terms.change_verdict import ChangeVerdict
from flyball.terms.evidence import (
    AnyEvidence,
    DiffReport,
    Evidence,
    VerdictReport,
    WeakeningReport,
)
from flyball.terms.evidence_rows import is_failing
from flyball.terms.intent import Intent
from flyball.terms.phase import Phase

QUIET = (
    "repetition", "cycle", "revisited_tree", "no_progress", "error_stagnation", "reading_on",
    "failed_edits",
)  # fmt: skip
"""Guards that are left to the simulation: their memories would multiply the states."""

POLICY = Policy(
    plan_big_requests=False,
    reserve=1,
    max_tool_rounds=4,
    max_scope_drift=0,
    max_rejections=1,
    max_continues=1,
    max_driver_errors=1,
    guards=GuardLimits(
        **{f"{name}_{level}": 0 for name in QUIET for level in ("soft", "hard")},
        refused_soft=1, refused_hard=2, monologue_soft=1, monologue_hard=2,
    ),
)  # fmt: skip


class Story(NamedTuple):
    """A kind of run and the few things that may happen in it."""

    name: str
    intent: Intent | None
    budget: int
    calls: tuple[tuple[Call, ...], ...]
    speech: tuple[DriverReplied | DriverFailed, ...] = ()
    runners: tuple[str, ...] = ("pytest",)
    trees: tuple[str, ...] = ("t0", "t1", "t2")
    interrupts: bool = False
    pauses: bool = False
    flow: Flow | None = None
    plans: tuple[str, ...] = ()
    """What a planner may say; without any, nothing is planned."""
    verdicts: tuple[ChangeVerdict, ...] = (SHOWN, REGRESSED)
    """What Flyball may say of a change where there is a suite."""


READ, EDIT, TEST = call("c", "read"), call("c", "edit_diff"), call("c", "test")
DRIFT, CHECKPOINT, NOTE = call("c", "edit_diff", "b.py"), call("c", "checkpoint"), call("c", "note")
DOOMED = call("c", "delete_file", destructive="deletes", confirmed=True)
BROKEN = Call(id="c", tool="x", digest="x", fault="there is no such tool")
WORK = ((READ,), (EDIT,), (TEST,), (CHECKPOINT,))
TALK = (
    DriverReplied(card="", text="more", finish=Finish.LENGTH),
    DriverReplied(card="", finish=Finish.TOOL_CALLS),
    DriverReplied(card="", finish=Finish.CONTENT_FILTER),
    DriverReplied(card=""),
    DriverFailed(card="", error="overloaded"),
    DriverFailed(card="", error="no key", retryable=False),
)

FLOW = Flow(
    "flow",
    "S1",
    (
        Template(
            step_id="S1", title="Look", objective="o", prompt_template="p", role=Role.RESEARCHER,
            phases=(Phase.ANALYZE_CODE, Phase.FINAL), human_review=True,
            on_pass=OnPass(next_step_id="S2"),
        ),
        Template(
            step_id="S2", title="Mend", objective="o", prompt_template="p",
            gates=(GateUse("tests_pass"),),
            on_fail=OnFail(max_retries=1, escalate_policy=Escalation.FAIL_JOB),
        ),
    ),
)  # fmt: skip

ONE = '{"goal": "g", "steps": [{"id": "a", "title": "a", "success_criteria": ["c"]}]}'
BACK = ONE.replace('"goal": "g"', '"goal": "g", "work": "rollback"')
TWO = (
    '{"goal": "g", "steps": ['
    '{"id": "a", "title": "a", "success_criteria": ["c"], "template": "diagnose"}, '
    '{"id": "b", "title": "b", "success_criteria": ["c"], "template": "diagnose"}]}'
)
REPORTS = ('{"goal_achieved": true}', '{"goal_achieved": false}')

STORIES: tuple[Story, ...] = (
    Story("fix", Intent.SMALL_FIX, 4, WORK),
    Story(
        "fix with every verdict",
        Intent.SMALL_FIX,
        3,
        ((EDIT,), (TEST,), (CHECKPOINT,)),
        trees=("t1", "t2"),
        verdicts=TESTED,
    ),
    Story(
        "fix with trouble",
        Intent.SMALL_FIX,
        2,
        ((EDIT,), (TEST,), (CHECKPOINT,)),
        TALK,
        trees=("t0", "t1"),
    ),
    Story(
        "fix with crashes and pauses",
        Intent.SMALL_FIX,
        3,
        ((EDIT,), (TEST,), (CHECKPOINT,)),
        trees=("t0", "t1"),
        interrupts=True,
        pauses=True,
    ),
    Story(
        "fix with drift, doom and nonsense",
        Intent.SMALL_FIX,
        3,
        ((CHECKPOINT,), (DRIFT,), (DOOMED,), (BROKEN,), (TEST,)),
        trees=("t0", "t1"),
    ),
    Story(
        "several calls at once",
        Intent.SMALL_FIX,
        4,
        ((CHECKPOINT,), (READ, call("d", "read", "b.py"), call("e", "edit_diff")), (TEST, NOTE)),
        trees=("t0", "t1"),
    ),
    Story("fix without tests", Intent.SMALL_FIX, 3, WORK, runners=()),
    Story("feature", Intent.FEATURE_BUILD, 3, WORK),
    Story("diagnose", Intent.DIAGNOSE, 3, (*WORK, (NOTE,)), trees=("t0", "t1")),
    Story("conversation", Intent.CONVERSATIONAL, 0, WORK, TALK),
    Story("unread", None, 2, ((EDIT,), (CHECKPOINT,)), TALK[:1], trees=("t0", "t1")),
    Story(
        "a flow",
        Intent.FEATURE_BUILD,
        2,
        ((EDIT,), (CHECKPOINT,)),
        trees=("t0", "t1"),
        flow=FLOW,
    ),
    Story(
        "one step after another",
        Intent.FEATURE_BUILD,
        1,
        ((CHECKPOINT, EDIT),),
        runners=(),
        trees=("t1",),
        plans=(ONE, BACK),
    ),
    Story("two steps at once", Intent.FEATURE_BUILD, 1, ((TEST,),), plans=(TWO, "{}")),
)


class Walk(NamedTuple):
    """What the walk found."""

    states: int
    moves: int
    phases: Counter[str]
    endings: Counter[str]
    faults: tuple[str, ...]
    dead_ends: tuple[str, ...]
    is_complete: bool


def alphabet(story: Story, state: RunState) -> Iterator[AnyEvent]:
    """Everything that may happen next in this story."""
    if not state.run:
        yield RunStarted(
            run="r",
            request="x",
            policy=replace(POLICY, plan_big_requests=bool(story.plans), max_iterations=2),
            intent=story.intent,
            budget=story.budget,
            flow=story.flow,
        )
        return
    if state.due:
        owed = state.due[0]
        yield from (replace(event, effect=owed.n) for event in _answers(story, state, owed))
    yield from _people(story, state)


def _people(story: Story, state: RunState) -> Iterator[AnyEvent]:
    if any(card.is_live for card in state.cards):
        yield Cancelled(by="p")
    for card in state.paused:
        question = card.question
        assert question is not None
        if question.kind is not Asking.EXTENSION:
            yield Answered(question=question.id, granted=True, by="p")
        yield Answered(question=question.id, granted=False, by="p")
        if question.kind is Asking.EXTENSION and len(state.budget.extensions) < 1:
            yield Extended(by="p", calls=1, why="w")
        if question.kind in (Asking.GUARD, Asking.PERSON, Asking.DRIVER):
            yield Resumed(by="p", tree=card.tree)
    if story.pauses and state.cards and state.due and not state.paused:
        yield PauseAsked(by="p")


def _answers(story: Story, state: RunState, owed: Owed) -> Iterator[AnyEvent]:
    effect = owed.effect
    match effect:
        case Classify():
            yield IntentRead(intent=Intent.SMALL_FIX, budget=story.budget)
        case OpenWorkspace():
            yield WorkspaceReady(tree="t0", project=Project(runners=story.runners))
            yield WorkspaceFailed(error="no room")
        case RollBack():
            yield RolledBack(tree=effect.tree, cards=effect.cards)
        case Publish():
            yield Messaged(message=effect.message)
        case Think():
            yield from _replies(story, effect)
        case Perform():
            card = state.card(effect.card)
            assert card is not None
            yield from _outcomes(story, card, effect.call)
        case Inspect():
            for seen in _seen(story, effect):
                yield EvidenceTaken(card=effect.card, evidence=seen)
        case ResetThread():
            yield ThreadReset(card=effect.card, reason="r", text="t")
        case CloseCard():
            card = state.card(effect.card)
            assert card is not None
            yield CardClosed(card=card.id, commit="c", tree="t9" if card.place else "")
            if card.place:
                yield CardClosed(card=card.id, error="Merge conflict in a.py")


def _replies(story: Story, effect: Think) -> Iterator[AnyEvent]:
    card = effect.card
    said = {Role.PLANNER: story.plans, Role.VERIFIER: REPORTS}.get(Role(effect.role), ("done",))
    yield from (DriverReplied(card=card, text=text) for text in said)
    yield from (replace(said, card=card) for said in story.speech)
    if not effect.text_only:
        yield from (DriverReplied(card=card, calls=calls) for calls in story.calls)


def _outcomes(story: Story, card: CardState, asked: Call) -> Iterator[AnyEvent]:
    match asked.tool:
        case "checkpoint":
            yield CheckpointStated(
                card=card.id, call=asked.id, goal="g", findings="f", proposed_action="p",
                files=("a.py",), verify_with=("t",),
            )  # fmt: skip
        case "note":
            yield Noted(card=card.id, call=asked.id, text="n")
        case "test":
            for red in (True, False):
                yield _returned(card, asked, card.tree, (suite("e", card.tree, red=red),))
        case _ if asked.access is Access.MUTATE:
            for tree in story.trees:
                yield _returned(card, asked, tree)
            yield _returned(card, asked, card.tree, ok=False)
            if story.interrupts:
                yield CallInterrupted(card=card.id, call=asked.id, tree=story.trees[-1])
        case _:
            yield _returned(card, asked, card.tree)


def _returned(
    card: CardState, asked: Call, tree: str, evidence: tuple[object, ...] = (), *, ok: bool = True
) -> CallReturned:
    changed = asked.writes if tree != card.tree else ()
    outcome = Outcome(ok=ok, digest="o" if ok else "x", error="" if ok else "bad")
    return CallReturned(
        card=card.id, call=asked.id, outcome=outcome, tree=tree, evidence=evidence, changed=changed  # type: ignore[arg-type]
    )  # fmt: skip


def _seen(story: Story, effect: Inspect) -> Iterator[tuple[AnyEvidence, ...]]:
    """Every verdict on a change that the story knows; without a change, what the gates ask for."""
    base, tree = effect.base, effect.tree
    diff = DiffReport(id="d", tree=tree, base=base)
    if tree == base:
        looked = WeakeningReport(id="w", tree=tree, base=base)
        for red in (True, False) if effect.gates else (False,):
            suites = (suite("g", tree, red=red),) if effect.gates else ()
            yield (*suites, looked, diff)
        return
    kinds = story.verdicts if story.runners else WITHOUT_SUITE
    for kind in kinds:
        if kind is not NEVER_RED or effect.wants_red:
            yield judged(tree, base, kind), diff


def key(state: RunState) -> tuple[object, ...]:
    """What decides how a run goes on; two states with one key behave alike."""
    owed = tuple([(type(o.effect).__name__, _detail(o)) for o in state.owed])
    return (
        bool(state.run),
        state.intent,
        state.budget.limit,
        state.spend.calls,
        state.project.runners,
        state.has_ended,
        owed,
        tuple([_plain(card) if card.is_live else _past(card) for card in state.cards]),
        tuple([(each.card, each.at, each.failed) for each in state.executions if state.flow]),
    )


def _detail(owed: Owed) -> object:
    match owed.effect:
        case Think() as effect:
            return effect.role, effect.phase, effect.text_only
        case Perform() as effect:
            return effect.call.digest, effect.call.id
        case Publish() as effect:
            return type(effect.message).__name__
        case Inspect() as effect:
            return effect.tree, effect.wants_red
        case _:
            return None


def _past(card: CardState) -> tuple[object, ...]:
    """What a card that has ended still decides."""
    return card.id, card.phase, card.ending, card.tree, card.strength, card.escalation


def _plain(card: CardState) -> tuple[object, ...]:
    question = card.question
    return (
        card.phase,
        card.was if card.phase is Phase.PAUSED else None,
        card.template.step_id,
        card.tree,
        card.checkpoint is None,
        card.drift,
        tuple([c.digest for c in card.queue]),
        tuple([(c.id, c.digest) for c in card.in_flight]),
        question and (question.kind, question.call and question.call.digest),
        frozenset(card.granted),
        frozenset(card.refused),
        frozenset([(type(e).__name__, e.tree, is_failing(e), _told(e)) for e in card.evidence]),
        bool(card.evidence) and is_failing(card.evidence[-1]),
        card.mutated_at > card.verified_at,
        card.memory.refused,
        card.memory.monologues,
        card.continues,
        card.driver_errors,
        card.rejections,
        card.idle_stops,
        card.is_summing_up,
        card.is_reviewing,
        card.is_reviewed,
        card.accepted_weakening == card.tree,
        card.asked_for_red,
        card.accepted_review == card.tree,
        card.failures_in_row,
        card.form_slips,
        bool(card.halted),
        card.escalation,
        bool(card.answer),
        card.ending,
    )


def _told(item: Evidence) -> object:
    """What a verdict says, as far as the machine tells verdicts apart."""
    if not isinstance(item, VerdictReport):
        return None
    kinds = tuple([each.kind for each in item.verdict.findings])
    return item.verdict.strength, kinds, item.verdict.accepted_by


def walk(story: Story, limit: int) -> Walk:
    """Breadth first over the real `advance` and `decide`."""
    start = RunState()
    seen = {key(start)}
    queue = deque([start])
    phases, endings = Counter[str](), Counter[str]()
    faults: dict[str, None] = {}
    dead: dict[str, None] = {}
    moves = 0
    while queue and len(seen) < limit:
        state = queue.popleft()
        phases.update(card.phase.value for card in state.cards)
        if state.has_ended:
            ending = state.cards[-1].ending if state.cards else None
            endings[str(ending or "no card")] += 1
            continue
        grown = False
        for event in alphabet(story, state):
            grown = True
            moves += 1
            after, effects = advance(state, event)
            for fault in broken(state, after, effects):
                faults[fault] = None
            _check_decisions(after, faults)
            mark = key(after)
            if mark not in seen:
                seen.add(mark)
                queue.append(after)
        if not grown:
            dead[str([card.phase.value for card in state.cards])] = None
    return Walk(len(seen), moves, phases, endings, tuple(faults), tuple(dead), not queue)


def _check_decisions(state: RunState, faults: dict[str, None]) -> None:
    """Outside execute no mutating call is ever allowed, whatever its facts."""
    for card in state.cards:
        if card.phase is Phase.EXECUTE:
            continue
        if isinstance(decide(state, call("z", "edit_diff"), card.id), Allow):
            faults[f"promise 1: decide allows a write in {card.phase}"] = None


def main(arguments: Sequence[str] = ()) -> list[Figure]:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--limit", type=int, default=400_000, help="stop after this many states")
    options = parser.parse_args(arguments)
    began = time.perf_counter()
    phases, states, bad = Counter[str](), 0, 0
    for story in STORIES:
        found = walk(story, options.limit)
        states += found.states
        phases += found.phases
        whole = "all" if found.is_complete else "only the first"
        print(f"{story.name}: {whole} {found.states} states, {found.moves} moves")
        print(f"  endings: {', '.join(f'{k} {n}' for k, n in sorted(found.endings.items()))}")
        for problem in (*found.faults, *(f"dead end in {each}" for each in found.dead_ends)):
            print(f"  BROKEN {problem}")
        bad += len(found.faults) + len(found.dead_ends) + (not found.is_complete)
    unreachable = [phase.value for phase in Phase if not phases[phase.value]]
    print(f"{states} states in {time.perf_counter() - began:.1f} s")
    print(f"unreachable phases: {', '.join(unreachable) or 'none'}")
    broken = bad + len(unreachable)
    return [Figure("states walked", states), Figure("broken promises there", broken, most=0)]


if __name__ == "__main__":
    sys.exit(conclude(main(sys.argv[1:])))
