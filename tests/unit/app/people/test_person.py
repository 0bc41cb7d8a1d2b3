"""People: tokens that are kept nowhere, roles per project, and who decided what."""

from __future__ import annotations

import threading
from pathlib import Path

import pytest

from flyball.app.people.decisions import decisions_of, note_decision
from flyball.app.people.file_people import FilePeople
from flyball.app.people.person import (
    EVERY,
    Person,
    Right,
    add_person,
    find_person,
    grant,
    revoke,
)
from flyball.app.project import open_home
from flyball.core.run.event import Answered, Cancelled, Extended
from flyball.errors import Conflict, JournalError, NotFound, UsageError
from flyball.journal.protocol import JournalEntry


def test_a_token_finds_its_person_and_is_in_no_file(tmp_path: Path):
    people = FilePeople(tmp_path)
    token = add_person(people, "ada", {EVERY: "look"}, "root", 7.0)
    assert len(token) >= 43
    assert find_person(people.all(), token) == people.all()[0]
    assert find_person(people.all(), token[:-1]) is None
    assert find_person(people.all(), "") is None
    kept = b"".join(each.read_bytes() for each in tmp_path.iterdir())
    assert token.encode() not in kept
    assert (tmp_path / "people.json").stat().st_mode & 0o077 == 0


def test_the_grant_of_a_project_counts_before_the_one_for_all():
    person = Person("ada", "", {EVERY: "approve", "shop": "look"})
    assert person.right("shop") is Right.LOOK
    assert person.right("other") is Right.APPROVE
    assert person.highest is Right.APPROVE
    assert Person("bob", "").highest is Right.NOTHING
    assert Person("bob", "", {"shop": "emperor"}).right("shop") is Right.NOTHING


def test_roles_are_given_and_taken_and_another_process_sees_it(tmp_path: Path):
    people, others = FilePeople(tmp_path), FilePeople(tmp_path)
    token = add_person(people, "ada", {"shop": "look"}, "root", 7.0)
    with pytest.raises(Conflict):
        add_person(others, "ada", {"shop": "administer"}, "root", 7.0)
    assert grant(people, "ada", "shop", "drive").right("shop") is Right.DRIVE
    assert others.all()[0].right("shop") is Right.DRIVE
    assert revoke(people, "ada", "shop").right("shop") is Right.NOTHING
    with pytest.raises(Conflict):
        revoke(people, "ada", "shop")
    revoke(others, "ada")
    assert find_person(people.all(), token) is None
    with pytest.raises(NotFound):
        revoke(people, "ada")


@pytest.mark.parametrize("name", ["", "two words", "a" * 65, "../x", "-x", "a\n"])
def test_a_name_is_one_that_a_log_can_show(tmp_path: Path, name: str):
    with pytest.raises(UsageError):
        add_person(FilePeople(tmp_path), name, {}, "root", 7.0)


def test_who_are_added_at_once_are_all_there(tmp_path: Path):
    def add(name: str) -> None:
        add_person(FilePeople(tmp_path), name, {EVERY: "look"}, "root", 7.0)

    names = [f"p{n}" for n in range(8)]
    threads = [threading.Thread(target=add, args=(name,)) for name in names]
    for each in threads:
        each.start()
    for each in threads:
        each.join()
    assert [each.name for each in FilePeople(tmp_path).all()] == names


def test_a_damaged_file_is_not_an_empty_one(tmp_path: Path):
    (tmp_path / "people.json").write_text("[{")
    with pytest.raises(JournalError):
        FilePeople(tmp_path).all()


def test_decisions_name_who_made_them_in_their_order(tmp_path: Path):
    home = open_home(tmp_path, {"FLYBALL_STATE_DIR": str(tmp_path / "s")}, {})
    note_decision(home, "r1", "eve", "took back", "step-1", at=4.0)
    note_decision(home, "r2", "eve", "merged it", at=1.0)
    with (home.state / "decisions.jsonl").open("a") as cut:
        cut.write('{"run": "r1", "at"')
    log = (
        Answered(question="q1", granted=True, by="ada", note="fine", at=1.0),
        Extended(by="bob", calls=5, why="nearly", at=2.0),
        Cancelled(by="cid", at=3.0),
    )
    entries = [JournalEntry(n, event) for n, event in enumerate(log, 2)]
    told = decisions_of(home, "r1", entries)
    assert [(each["by"], each["what"], each["note"]) for each in told] == [
        ("ada", "said yes", "fine"),
        ("bob", "added 5 calls", "nearly"),
        ("cid", "cancelled it", ""),
        ("eve", "took back step-1", ""),
    ]
