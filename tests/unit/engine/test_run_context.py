"""What the driver has seen of each file."""

from __future__ import annotations

from flyball.engine.run_context import recall
from flyball.run.event import CallReturned, DriverReplied
from flyball.terms.call import Access, Call, Outcome

READ = Call("r", "read")
EDIT = Call("e", "edit_diff", access=Access.MUTATE)
BASH = Call("b", "bash", access=Access.MUTATE)


def returned(
    call: str, tree: str, *, ok: bool = True, path: str = "", changed: tuple[str, ...] = ()
) -> CallReturned:
    data: dict[str, object] = {"path": path} if path else {}
    outcome = Outcome(ok=ok, data=data)
    return CallReturned(card="c", call=call, outcome=outcome, tree=tree, changed=changed)


def test_a_file_is_seen_in_the_tree_it_was_read_in():
    events = (DriverReplied(card="c", calls=(READ,)), returned("r", "t1", path="a.py"))
    assert recall(events)["c"] == {"a.py": "t1"}


def test_ones_own_edit_is_known_without_reading():
    events = (
        DriverReplied(card="c", calls=(READ, EDIT)),
        returned("r", "t1", path="a.py"),
        returned("e", "t2", changed=("a.py", "b.py")),
    )
    assert recall(events)["c"] == {"a.py": "t2", "b.py": "t2"}


def test_what_a_command_changed_was_not_seen():
    events = (
        DriverReplied(card="c", calls=(READ, BASH)),
        returned("r", "t1", path="a.py"),
        returned("b", "t2", changed=("a.py",)),
    )
    assert recall(events)["c"] == {"a.py": "t1"}


def test_a_failed_call_shows_nothing():
    events = (
        DriverReplied(card="c", calls=(READ,)),
        returned("r", "t1", ok=False, path="a.py"),
        returned("unknown", "t1", path="b.py"),
    )
    assert recall(events) == {"c": {}}


def test_each_card_has_seen_its_own():
    events = (
        DriverReplied(card="c", calls=(READ,)),
        DriverReplied(card="d", calls=(READ,)),
        returned("r", "t1", path="a.py"),
    )
    assert recall(events) == {"c": {"a.py": "t1"}}
