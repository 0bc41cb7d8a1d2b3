"""People: tokens that are kept nowhere, roles per project, and who decided what."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import psycopg
import pytest
from tests.postgres import database, postgres

from flyball.app.people.decisions import NotedDecision, decisions_of, merged_runs, note_decision
from flyball.app.people.person import (
    EVERY,
    People,
    Person,
    Right,
    add_person,
    digest_of,
    find_person,
    grant,
    revoke,
)
from flyball.app.people.postgres_people import PostgresPeople
from flyball.app.people.team import FilePeople
from flyball.app.project import open_home
from flyball.errors import Conflict, JournalError, NotFound, UsageError
from flyball.journal.protocol import JournalEntry
from flyball.run.event import Answered, Cancelled, Extended

__all__ = ["database", "postgres"]


Open = Callable[[], People]
"""Opens the people as another process would."""


@pytest.fixture(params=["file", "postgres"])
def opens(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Open]:
    opened: list[People] = []
    url = request.getfixturevalue("database") if request.param == "postgres" else ""

    def one_more() -> People:
        opened.append(PostgresPeople(url) if url else FilePeople(tmp_path))
        return opened[-1]

    yield one_more
    for each in opened:
        each.close()


def everything_kept(people: People, tmp_path: Path, url: str) -> bytes:
    if isinstance(people, FilePeople):
        return b"".join(each.read_bytes() for each in tmp_path.iterdir())
    with psycopg.connect(url) as db:
        return repr(db.execute("SELECT * FROM flyball.people").fetchall()).encode()


def test_a_token_finds_its_person_and_is_kept_nowhere(
    opens: Open, tmp_path: Path, request: pytest.FixtureRequest
):
    people = opens()
    token = add_person(people, "ada", {EVERY: "look"}, "root", 7.0)
    assert len(token) >= 43
    (ada,) = people.all()
    assert find_person(people.all(), token) == ada
    assert ada == Person("ada", digest_of(token), {EVERY: "look"}, 7.0, "root")
    assert find_person(people.all(), token[:-1]) is None
    assert find_person(people.all(), "") is None
    url = "" if isinstance(people, FilePeople) else request.getfixturevalue("database")
    kept = everything_kept(people, tmp_path, url)
    assert ada.digest.encode() in kept
    assert token.encode() not in kept


def test_the_file_of_people_is_its_owners_alone(tmp_path: Path):
    add_person(FilePeople(tmp_path), "ada", {EVERY: "look"}, "root", 7.0)
    assert (tmp_path / "people.json").stat().st_mode & 0o077 == 0


def test_the_grant_of_a_project_counts_before_the_one_for_all():
    person = Person("ada", "", {EVERY: "approve", "shop": "look"})
    assert person.right("shop") is Right.LOOK
    assert person.right("other") is Right.APPROVE
    assert person.highest is Right.APPROVE
    assert Person("bob", "").highest is Right.NOTHING
    assert Person("bob", "", {"shop": "emperor"}).right("shop") is Right.NOTHING


def test_roles_are_given_and_taken_and_another_process_sees_it(opens: Open):
    people, others = opens(), opens()
    token = add_person(people, "ada", {"shop": "look"}, "root", 7.0)
    with pytest.raises(Conflict, match="already a person ada"):
        add_person(others, "ada", {"shop": "administer"}, "root", 7.0)
    assert grant(people, "ada", "shop", "drive").right("shop") is Right.DRIVE
    assert others.all()[0].right("shop") is Right.DRIVE
    changed = revoke(people, "ada", "shop")
    assert changed is not None
    assert changed.right("shop") is Right.NOTHING
    with pytest.raises(Conflict, match="has no role in"):
        revoke(people, "ada", "shop")
    assert revoke(others, "ada") is None
    assert find_person(people.all(), token) is None
    with pytest.raises(NotFound):
        revoke(people, "ada")


def test_who_was_let_go_does_not_come_back_with_a_grant_that_was_under_way(opens: Open):
    people = opens()
    add_person(people, "ada", {"shop": "look"}, "root", 7.0)
    revoke(people, "ada")
    with pytest.raises(NotFound, match="ada"):
        grant(opens(), "ada", "shop", "administer")
    assert list(people.all()) == []


def test_everybody_is_listed_in_one_order(opens: Open):
    people = opens()
    for name in ("bob", "Zoe", "ada", "a.x", "a-x"):
        add_person(people, name, {}, "root", 7.0)
    assert [each.name for each in people.all()] == ["Zoe", "a-x", "a.x", "ada", "bob"]


@pytest.mark.parametrize("name", ["", "two words", "a" * 65, "../x", "-x", "a\n"])
def test_a_name_is_one_that_a_log_can_show(tmp_path: Path, name: str):
    with pytest.raises(UsageError):
        add_person(FilePeople(tmp_path), name, {}, "root", 7.0)


def test_what_is_done_at_once_is_all_there(opens: Open):
    add_person(opens(), "ada", {}, "root", 7.0)
    names = [f"p{n}" for n in range(8)]

    def add(people: People, name: str) -> None:
        add_person(people, name, {EVERY: "look"}, "root", 7.0)
        grant(people, "ada", name, "look")

    threads = [threading.Thread(target=add, args=(opens(), name)) for name in names]
    for each in threads:
        each.start()
    for each in threads:
        each.join()
    found = opens().all()
    assert [each.name for each in found] == ["ada", *names]
    assert found[0].grants == dict.fromkeys(names, "look")


def test_a_database_that_is_not_there_is_not_an_empty_one():
    with pytest.raises(JournalError):
        PostgresPeople("postgresql://127.0.0.1:1/nothing")


def test_a_damaged_file_is_not_an_empty_one(tmp_path: Path):
    (tmp_path / "people.json").write_text("[{")
    with pytest.raises(JournalError):
        FilePeople(tmp_path).all()


@pytest.mark.parametrize("kept_in", ["file", "postgres"])
def test_decisions_name_who_made_them_in_their_order(
    tmp_path: Path, kept_in: str, request: pytest.FixtureRequest
):
    url = request.getfixturevalue("database") if kept_in == "postgres" else ""
    environ = {"FLYBALL_STATE_DIR": str(tmp_path / "s"), "FLYBALL_DATABASE": url}
    home = open_home(tmp_path, environ, {})
    note_decision(home, NotedDecision("r1", 4.0, "eve", "took back", "step-1"))
    note_decision(home, NotedDecision("r2", 1.0, "eve", "merged it"))
    if not url:
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
    assert merged_runs(home) == {"r2"}
