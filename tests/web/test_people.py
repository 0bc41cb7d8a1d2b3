"""Who may do what: every route of the OpenAPI document, with every role, here and elsewhere.

Routes and roles are those that a server documents of itself, so that a new one is tried by itself;
people and runs are in a file and in the database of a cluster.
"""

from __future__ import annotations

import asyncio
import json
import threading
from collections.abc import Generator, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from litestar import Litestar, get
from tests.postgres import database, postgres
from tests.web.served import TOKEN, Answer, Served, environment, events, make_shop, serving
from tests.web.test_feed import Step, simulated, write

from flyball.app.people.person import EVERY, ROLES, Right, add_person, revoke
from flyball.app.people.team import open_people, scope_of
from flyball.app.project import Home, note_place, open_home
from flyball.app.runs.journals import opened
from flyball.web.server import NEEDS, require_rows, route_names

__all__ = ["database", "postgres"]

BODIES: dict[str, Any] = {
    "instruct": {"text": "go on"},
    "answer": {"text": "yes"},
    "extend": {"calls": 1, "why": "more"},
    "diff": {"diff": "--- a/x\n+++ b/x\n", "preview": True},
}
OBJECTIONS = {
    "POST /api/runs": "no run 'none-before'",
    "POST /api/runs/{run}/pause": "not running here",
    "POST /api/runs/{run}/merge": "Runs kept for this project",
    "POST /api/runs/{run}/cards/{card}/revert": "Runs kept for this project",
    "POST /api/runs/{run}/cards/{card}/apply": "Runs kept for this project",
    "POST /api/patch/diff": "its hunks are not",
}
"""What only the use case itself can say; every other word is told that the run has ended."""
STREAMS = ("GET /api/events", "GET /api/runs/{run}/events")


class Team(NamedTuple):
    """Two projects with a run each, and a token for each role in the first."""

    served: Served
    ours: str
    theirs: str
    our_project: str
    their_project: str
    tokens: dict[str, str]

    def ask(self, route: str, role: str, *, foreign: bool = False) -> Answer:
        """A route as this role asks it about the own project, or about the other one."""
        method, _, path = route.partition(" ")
        run, project = self.ours, self.our_project
        if foreign:
            run, project = self.theirs, self.their_project
        for name, value in {"run": run, "card": "step-1", "seq": "1", "name": "app.js"}.items():
            path = path.replace(f"{{{name}}}", value)
        body: Any = None
        if method == "POST":
            body = dict(BODIES.get(path.rpartition("/")[2], {}))
            if "{run}" not in route:
                body |= {"project": project}
                body |= {"request": "x", "follows": "none-before"} if path == "/api/runs" else {}
        elif "{run}" not in route:
            path = f"{path}?project={project}&path=cart.py&q=def"
        if route in STREAMS:
            return self.first(path, role)
        return self.served.ask(method, path, body, token=self.tokens[role])

    def first(self, path: str, role: str) -> Answer:
        """What a stream begins with; it would not end by itself."""
        import http.client

        connection = http.client.HTTPConnection("127.0.0.1", self.served.port, timeout=60)
        try:
            sent = {"Authorization": f"Bearer {self.tokens[role]}"}
            connection.request("GET", path, headers=sent)
            answer = connection.getresponse()
            if answer.status != 200:
                return Answer(answer.status, {}, answer.read())
            _, data = next(events(iter(answer.readline, b"")))
            return Answer(200, {}, json.dumps(data).encode())
        finally:
            connection.close()


@contextmanager
def team_of(place: Path, url: str = "") -> Generator[Team]:
    """A board over two projects, whose people and runs are in files or in a database."""
    environ = {**environment(place), "FLYBALL_DATABASE": url}
    runs, names, scopes = [], [], []
    for n, each in enumerate(("ours", "theirs")):
        shop, _ = make_shop(place / each)
        home = open_home(shop, environ, {})
        note_place(home)
        steps, _ = simulated(n + 1, least=10)
        asyncio.run(keep(home, steps))
        runs.append(steps[0][1].run)
        names.append(home.state.name)
        scopes.append(scope_of(home))
    assert runs[0] != runs[1]
    people = open_people(open_home(place / "ours" / "shop", environ, {}))
    tokens = {role: add_person(people, role, {scopes[0]: role}, "root", 1.0) for role in ROLES}
    tokens["nobody"] = add_person(people, "nobody", {}, "root", 1.0)
    tokens["all"] = add_person(people, "all", {EVERY: "administer"}, "root", 1.0)
    people.close()
    with serving(environ, place / "ours" / "shop", beat=0.2) as served:
        yield Team(served, runs[0], runs[1], names[0], names[1], tokens)


async def keep(home: Home, steps: list[Step]) -> None:
    async with opened(home) as journal:
        await write(journal, steps)


@pytest.fixture(scope="module")
def team(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Team]:
    with team_of(tmp_path_factory.mktemp("team")) as made:
        yield made


def application(team: Team) -> Litestar:
    from flyball.web.protection import Protection
    from flyball.web.server import make_application

    whole: Any = make_application(team.served.board, Protection(TOKEN, 1))
    while not isinstance(whole, Litestar):
        whole = whole._inner
    return whole


def test_every_route_has_a_row_and_every_row_a_route(team: Team):
    assert set(route_names(application(team))) == set(NEEDS)


def test_a_route_without_a_row_is_not_served():
    @get("/api/secret", sync_to_thread=False)
    def secret() -> str:
        return "x"

    with pytest.raises(LookupError, match="GET /api/secret"):
        require_rows(Litestar([secret], openapi_config=None))


def protected() -> list[str]:
    return sorted(route for route, need in NEEDS.items() if need)


def documented(team: Team) -> dict[str, Right]:
    """The routes that the server's OpenAPI document names, each with the least role it needs."""
    schema = team.served.ask("GET", "/api/schema/openapi.json", token=team.tokens["look"]).json
    assert schema["components"]["securitySchemes"]["token"]["scheme"] == "bearer"
    found: dict[str, Right] = {}
    for path, methods in schema["paths"].items():
        for method, operation in methods.items():
            (need,) = operation["security"]
            (found[f"{method.upper()} {path}"],) = map(ROLES.__getitem__, need["token"])
    return found


def test_every_route_but_the_page_is_documented_with_its_role(team: Team):
    own = {route for route in protected() if not route.startswith("GET /api/schema")}
    assert documented(team) == {route: NEEDS[route] for route in own}


def test_every_route_answers_every_role_as_documented(team: Team):
    answers_as_documented(team)


@pytest.mark.exhaustive
def test_every_route_answers_every_role_as_documented_in_a_cluster(tmp_path: Path, database: str):
    with team_of(tmp_path, database) as team:
        answers_as_documented(team)
        for route in documented(team):
            hides_another_project(team, route)


def answers_as_documented(team: Team) -> None:
    """Ask every route as everybody; what is granted may still be objected to by its use case.

    What a granted word then does, and whose name it bears, is in `test_actions_of_people`.
    """
    for route, need in documented(team).items():
        for role, right in {"nobody": Right.NOTHING, **ROLES}.items():
            answer = team.ask(route, role)
            told = (route, role, answer)
            if right < need:
                # To who has no role there is no such run and no such project; no body is read.
                is_named = "{run}" in route or route.startswith("GET")
                expected = (404, "not-found") if not right and is_named else (403, "not-allowed")
                assert (answer.status, answer.json["code"]) == expected, told
            elif route.startswith("POST"):
                assert OBJECTIONS.get(route, "has ended") in answer.body.decode(), told
            elif route != "GET /api/people":
                assert answer.status not in (401, 403), told


@pytest.mark.parametrize("route", protected())
def test_another_project_does_not_exist_for_any_role(team: Team, route: str):
    hides_another_project(team, route)


def hides_another_project(team: Team, route: str) -> None:
    """Also from who has no role anywhere, and in the very words of what there is not."""
    for role in (*ROLES, "nobody"):
        if "{run}" not in route:
            answer = team.ask(route, role, foreign=True)
            assert team.theirs.encode() not in answer.body, (role, answer)
            assert team.their_project.encode() not in answer.body.replace(
                f"There is no project '{team.their_project}'".encode(), b""
            ), (role, answer)
            continue
        answer = team.ask(route, role, foreign=True)
        made_up = team._replace(theirs="0101-000000-xxxx").ask(route, role, foreign=True)
        assert (answer.status, answer.json["code"]) == (404, "not-found"), (role, answer)
        told = answer.body.replace(team.theirs.encode(), b"0101-000000-xxxx")
        assert (made_up.status, made_up.body) == (404, told)


def test_without_a_token_that_is_somebodys_nothing_is_told(team: Team):
    for route in protected():
        method, _, path = route.partition(" ")
        body = {} if method == "POST" else None
        for token in ("", "wrong", TOKEN):
            assert team.served.ask(method, path, body, token=token).status == 401, (route, token)


def test_the_list_of_the_feed_and_of_the_runs_is_that_of_ones_own_project(team: Team):
    listed = json.loads(team.ask("GET /api/events", "look").body)
    assert [row["run"] for row in listed["runs"]] == [team.ours]
    for token, known in (("look", {team.ours}), ("all", {team.ours, team.theirs})):
        rows = team.served.ask("GET", "/api/runs", token=team.tokens[token]).json
        assert {row["run"] for row in rows} == known
    assert team.served.ask("GET", "/api/runs", token=team.tokens["nobody"]).status == 403


def test_the_feed_tells_nobody_of_a_run_that_moves_in_another_project(team: Team):
    watch, heard = team.served.board.watch, dict[str, list[bytes]]()
    row = {"type": "row", "run": "secret", "project": team.their_project}
    own = {"type": "row", "run": "mine", "project": team.our_project}
    ready = threading.Semaphore(0)

    def listen(role: str) -> None:
        with stream_of(team, role) as lines:
            got = heard.setdefault(role, [])
            for line in lines:
                got.append(line)
                if b'"runs"' in line:
                    ready.release()
                if b"mine" in line:
                    return

    threads = [threading.Thread(target=listen, args=(role,)) for role in ("administer", "all")]
    for each in threads:
        each.start()
    for _ in threads:
        assert ready.acquire(timeout=60)
    for each in (row, own):
        watch._call(watch._tell, each)
    for each in threads:
        each.join(60)
    assert b"secret" in b"".join(heard["all"])
    assert b"mine" in b"".join(heard["administer"])
    assert b"secret" not in b"".join(heard["administer"])


class stream_of:  # noqa: N801
    """The lines of the board's stream, as one role hears them."""

    def __init__(self, team: Team, role: str) -> None:
        import http.client

        self.connection = http.client.HTTPConnection("127.0.0.1", team.served.port, timeout=60)
        sent = {"Authorization": f"Bearer {team.tokens[role]}"}
        self.connection.request("GET", "/api/events", headers=sent)

    def __enter__(self) -> Iterator[bytes]:
        return iter(self.connection.getresponse().readline, b"")

    def __exit__(self, *_: object) -> None:
        self.connection.close()


def test_who_is_revoked_is_out_at_once_and_their_stream_ends(team: Team, tmp_path: Path):
    people: Any = team.served.board.people
    tokens = {**team.tokens, "gone": add_person(people, "gone", {EVERY: "look"}, "root", 1.0)}
    with stream_of(team._replace(tokens=tokens), "gone") as lines:
        assert next(lines)
        revoke(people, "gone")
        assert team.served.ask("GET", "/api/runs", token=tokens["gone"]).status == 401
        for _ in lines:
            pass


def test_who_drives_cannot_decide_beforehand_or_name_files_of_the_server(team: Team):
    asked = {"request": "x", "project": team.our_project}
    for more, role in (
        ({"yes": True}, "drive"),
        ({"in_place": True}, "drive"),
        ({"budget": 500}, "drive"),
        ({"driver": "scripted:/etc/passwd"}, "approve"),
        ({"driver": "relay:/tmp"}, "approve"),
    ):
        answer = team.served.ask("POST", "/api/runs", asked | more, token=team.tokens[role])
        assert (answer.status, answer.json["code"]) == (403, "not-allowed"), more
    follows = asked | {"follows": team.theirs}
    assert team.served.ask("POST", "/api/runs", follows, token=team.tokens["drive"]).status == 404


def test_only_who_administers_everything_sees_the_people(team: Team):
    assert team.ask("GET /api/people", "administer").status == 403
    found = team.served.ask("GET", "/api/people", token=team.tokens["all"]).json
    assert {"name": "look", "grants": {team.our_project: "look"}} in found
    assert not any(token in json.dumps(found) for token in team.tokens.values())


def test_a_file_that_cannot_be_read_lets_nobody_in(team: Team):
    people: Any = team.served.board.people
    kept = people._file.read_bytes()
    try:
        people._file.write_bytes(b"[{")
        for token in (TOKEN, team.tokens["all"]):
            assert team.served.ask("GET", "/api/runs", token=token).status == 500
    finally:
        people._file.write_bytes(kept)
    assert team.ask("GET /api/runs", "look").status == 200


def test_a_role_reaches_no_further_than_the_next(team: Team):
    assert [each.word for each in Right if each] == list(ROLES)
