"""A fleet of drivers, most of them up to no good."""

from __future__ import annotations

from random import Random

from tests.simulation.world import Driver, bash, call

from flyball.run.effect import Think
from flyball.run.event import AnyEvent, DriverFailed, DriverReplied, Finish, Usage
from flyball.run.state import CardState, RunState
from flyball.terms.call import Call, PathFact
from flyball.terms.phase import RECON, Phase

EDITS = ("edit_diff", "write_file", "delete_file")
READS = ("read", "list", "grep", "git_log", "project")
CHECKS = ("test", "check", "http_probe")


def _say(card: CardState, *calls: Call, text: str = "", finish: Finish | None = None) -> AnyEvent:
    ended = finish or (Finish.TOOL_CALLS if calls else Finish.STOP)
    usage = Usage(input_tokens=900, output_tokens=80, money=0.001)
    return DriverReplied(card=card.id, text=text, calls=calls, finish=ended, usage=usage)


def _id(card: CardState, n: int = 0) -> str:
    return f"{card.turns}.{n}"


def honest(_run: RunState, card: CardState, think: Think, rng: Random) -> AnyEvent:
    """Reads, states a checkpoint, edits, verifies, stops."""
    if think.text_only or card.phase is Phase.FINAL or think.role == "reviewer":
        return _say(card, text="summary")
    if card.phase.is_in(RECON) and card.turns < 2:
        return _say(card, call(_id(card), rng.choice(READS)), call(_id(card, 1), "test"))
    if not card.template.may_mutate:
        return _say(card, text="an answer")
    if card.checkpoint is None or card.phase is Phase.CHECKPOINT or card.phase.is_in(RECON):
        return _say(card, call(_id(card), "checkpoint"))
    if card.phase is Phase.EXECUTE:
        if card.has_changed and rng.random() < 0.5:
            return _say(card, text="done")
        return _say(card, call(_id(card), "edit_diff"), call(_id(card, 1), "test"))
    return _say(card, call(_id(card), "test"))


def always_writes(_run: RunState, card: CardState, _think: Think, rng: Random) -> AnyEvent:
    path = rng.choice(("a.py", "b.py", "c.py", "d.py", "e.py", "f.py"))
    return _say(card, call(_id(card), rng.choice(EDITS), path))


def never_verifies(_run: RunState, card: CardState, _think: Think, rng: Random) -> AnyEvent:
    """Does all but verify, and insists that it is done."""
    if card.checkpoint is None:
        return _say(card, call(_id(card), "checkpoint"))
    if rng.random() < 0.5:
        return _say(card, call(_id(card), "edit_diff"))
    return _say(card, text="It is done and all tests pass.")


def lies(_run: RunState, card: CardState, _think: Think, rng: Random) -> AnyEvent:
    """Offers checks that cannot fail as proof."""
    if card.checkpoint is None:
        return _say(card, call(_id(card), "checkpoint"))
    if rng.random() < 0.4:
        return _say(card, call(_id(card), "edit_diff"))
    if rng.random() < 0.5:
        return _say(card, bash(_id(card), "verification"), text="I ran the tests: 12 passed.")
    return _say(card, text="Everything is verified.")


def loops(_run: RunState, card: CardState, _think: Think, _rng: Random) -> AnyEvent:
    tools = ("read", "grep")
    return _say(card, call(_id(card), tools[card.turns % (1 + card.attempt % 2)]))


def malformed(_run: RunState, card: CardState, _think: Think, rng: Random) -> AnyEvent:
    if rng.random() < 0.2:
        return _say(card)
    broken = Call(id=_id(card), tool="reed", digest="reed", fault="There is no tool `reed`.")
    return _say(card, broken)


def stops_at_once(_run: RunState, card: CardState, _think: Think, _rng: Random) -> AnyEvent:
    return _say(card, text="Done!")


def never_stops(_run: RunState, card: CardState, _think: Think, rng: Random) -> AnyEvent:
    finish = rng.choice((Finish.LENGTH, Finish.TOOL_CALLS))
    return _say(card, text="and then, and then", finish=finish)


def burns_budget(_run: RunState, card: CardState, _think: Think, rng: Random) -> AnyEvent:
    """Asks for more at once than anybody needs."""
    if card.checkpoint is None and rng.random() < 0.3:
        return _say(card, call(_id(card), "checkpoint"))
    tools = (*READS, *EDITS, *CHECKS)
    return _say(card, *(call(_id(card, n), rng.choice(tools), f"{n}.py") for n in range(7)))


def escapes(_run: RunState, card: CardState, _think: Think, rng: Random) -> AnyEvent:
    """Tries to leave the workspace, to reach protected places, to release keep regions."""
    if card.checkpoint is None:
        return _say(card, call(_id(card), "checkpoint"))
    facts: tuple[dict[str, object], ...] = (
        {"paths": (PathFact("/etc/passwd", inside=False, write=True),)},
        {"paths": (PathFact(".git/config", protected="git's own", write=True),)},
        {"paths": (PathFact("notes.txt", untracked=True, write=True),)},
        {"keeps_regions": False},
        {"destructive": "deletes everything"},
        {"destructive": "deletes everything", "confirmed": True},
    )
    if rng.random() < 0.3:
        return _say(card, bash(_id(card), "unknown", "deny"))
    if rng.random() < 0.2:
        return _say(card, call(_id(card), "appeal"))
    return _say(card, call(_id(card), "write_file", **rng.choice(facts)))


def provider_trouble(_run: RunState, card: CardState, think: Think, rng: Random) -> AnyEvent:
    roll = rng.random()
    if roll < 0.4:
        return DriverFailed(card=card.id, error="overloaded", retryable=rng.random() < 0.8)
    if roll < 0.5:
        return _say(card, text="hm", finish=Finish.ERROR)
    if roll < 0.6:
        return _say(card, finish=Finish.CONTENT_FILTER)
    return honest(_run, card, think, rng)


def drifts(_run: RunState, card: CardState, _think: Think, rng: Random) -> AnyEvent:
    """Edits ever more files that it never named."""
    if card.checkpoint is None or card.phase is Phase.CHECKPOINT:
        return _say(card, call(_id(card), "checkpoint"))
    if rng.random() < 0.2:
        return _say(card, text="done")
    return _say(card, call(_id(card), "edit_diff", f"{rng.randrange(30)}.py"), call("t", "test"))


def restates(_run: RunState, card: CardState, _think: Think, rng: Random) -> AnyEvent:
    """States checkpoint after checkpoint and does nothing."""
    return _say(card, call(_id(card), "checkpoint", str(rng.random())))


def contradicts(run: RunState, card: CardState, think: Think, rng: Random) -> AnyEvent:
    """Says ever again that its task cannot be done, with and without reason."""
    if rng.random() < 0.4 and not think.text_only:
        return _say(card, call(_id(card), "conflict"), call(_id(card, 1), "edit_diff"))
    return honest(run, card, think, rng)


def erratic(run: RunState, card: CardState, think: Think, rng: Random) -> AnyEvent:
    """Anything at all."""
    others = [driver for driver in FLEET if driver is not erratic]
    return rng.choice(others)(run, card, think, rng)


FLEET: tuple[Driver, ...] = (
    honest,
    always_writes,
    never_verifies,
    lies,
    loops,
    malformed,
    stops_at_once,
    never_stops,
    burns_budget,
    escapes,
    provider_trouble,
    drifts,
    restates,
    contradicts,
    erratic,
)

NAMES: dict[Driver, str] = {driver: driver.__name__ for driver in FLEET}  # type: ignore[attr-defined]
