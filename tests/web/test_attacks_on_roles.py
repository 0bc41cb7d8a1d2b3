"""Ways around a role: other people's runs, forged names and decisions, requests that read two ways.

Each row of the tables is one attempt; who makes it may look at one project, or has no token.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.web.served import Answer
from tests.web.test_people import Team, team_of

TAKEN: dict[str, str] = {
    "GET //api/runs": "the router takes two slashes for one",
    "GET /./api/runs": "a path that others would shorten",
    "GET /page/../api/runs": "through the folder that needs no token",
    "GET /page/%2e%2e/api/runs": "the same, encoded",
    "GET /page//api/runs": "the folder before a whole path",
    "GET /%61pi/runs": "an encoded letter",
    "GET /api%2fruns": "an encoded slash",
    "GET /api/runs/": "a slash at the end",
    "GET /API/runs": "capitals",
    "GET /api/runs?token={all}": "a token in an address is for the page alone",
    "GET //run/{ours}/card.svg": "a picture of a run",
    "GET /api/schema/openapi.json": "what there is to attack",
    "GET /api/schema/elements": "a page of the framework's",
    "POST //api/runs/{ours}/approve": "a decision",
    "HEAD /api/runs": "only the head",
    "OPTIONS /api/runs": "only the methods",
    "TRACE /api/runs": "an echo",
}
"""What somebody without a token tries: method and path, and why it might get through."""

FORGED: dict[str, dict[str, str]] = {
    "another name": {"X-Forwarded-User": "administer", "Remote-User": "administer"},
    "another method": {"X-HTTP-Method-Override": "GET"},
    "another address": {"X-Original-URL": "/api/health", "X-Rewrite-URL": "/api/health"},
    "the server's own token besides": {"Cookie": "flyball=a-token-for-tests-only"},
    "a person's name for a token": {"Cookie": "flyball-{port}=administer"},
}
"""Headers that a proxy might believe; none of them may count."""

BODIES: tuple[tuple[str, dict[str, object], tuple[int, str]], ...] = (
    ("/api/runs/{ours}/approve", {"by": "administer"}, (403, "not-allowed")),
    ("/api/runs/{theirs}/approve", {}, (404, "not-found")),
    ("/api/runs/{theirs}/approve?run={ours}", {}, (404, "not-found")),
    ("/api/runs/{theirs}/approve?project={our_project}", {}, (404, "not-found")),
    ("/api/patch/diff?project={our_project}", {"diff": "x", "project": "{theirs}"}, (404, "")),
    ("/api/patch/diff?run={ours}", {"diff": "x", "project": "{their_project}"}, (404, "")),
    ("/api/runs", {"request": "x", "project": "{their_project}"}, (404, "")),
    ("/api/runs", {"request": "x", "project": "../{their_project}"}, (404, "")),
    ("/api/runs", {"request": "x", "project": "{our_project}", "follows": "{theirs}"}, (404, "")),
    ("/api/runs", {"request": "x", "project": "{our_project}", "by": "all"}, (400, "usage")),
    ("/api/runs/{ours}%2F..%2F{theirs}/cancel", {}, (404, "not-found")),
)
"""What somebody who may approve in one project sends; the first row is sent by who may look."""

READ = (
    "/api/file?path=cart.py&run={theirs}&project={our_project}",
    "/api/file?path=cart.py&project={our_project}&project={their_project}",
    "/api/tree?run={ours}&run={theirs}",
    "/api/search?q=def&run={theirs}",
    "/api/file?path=../../theirs/shop/cart.py&project={our_project}",
    "/api/file?path={elsewhere}/theirs/shop/cart.py&project={our_project}",
    "/api/runs?project={their_project}",
    "/api/runs/{theirs}/events?after=0",
    "/api/runs/{theirs}/export.jsonl?project={our_project}",
    "/api/runs/{theirs}/export.html?run={ours}",
    "/api/runs/{ours}/cards/step-1/pictures/..%2F..%2F..%2F..%2Fpeople.json",
    "/api/people?run={ours}",
    "/api/people?project={our_project}",
)
"""What somebody who administers one project reads of another one, or of the server."""


@pytest.fixture(scope="module")
def team(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Team]:
    with team_of(tmp_path_factory.mktemp("roles")) as made:
        yield made


def named(team: Team, text: str) -> str:
    """Fill in what an attacker may know: runs, projects, paths and a token that leaked."""
    elsewhere = str(Path(team.served.board.environ["FLYBALL_STATE_DIR"]).parent)
    known = {**team._asdict(), "all": team.tokens["all"], "elsewhere": elsewhere}
    for name, value in {**known, "port": team.served.port}.items():
        text = text.replace(f"{{{name}}}", str(value))
    return text


@pytest.mark.parametrize("attempt", TAKEN)
def test_no_way_of_writing_a_path_does_without_a_token(team: Team, attempt: str):
    method, _, path = named(team, attempt).partition(" ")
    answer = team.served.ask(method, path, {} if method == "POST" else None, token="")
    assert answer.status in (401, 404), (TAKEN[attempt], answer)
    assert team.ours.encode() not in answer.body


@pytest.mark.parametrize("what", FORGED)
def test_no_header_gives_a_name_or_a_role(team: Team, what: str):
    headers = {name: named(team, value) for name, value in FORGED[what].items()}
    assert team.served.ask("GET", "/api/runs", token="", headers=headers).status == 401
    for role in ("look", "drive"):
        path, token = f"/api/runs/{team.ours}/approve", team.tokens[role]
        answer = team.served.ask("POST", path, {}, token=token, headers=headers)
        assert (answer.status, answer.json["code"]) == (403, "not-allowed"), (what, role, answer)


@pytest.mark.parametrize("n", range(len(BODIES)))
def test_no_body_decides_in_anothers_name_or_project(team: Team, n: int):
    path, body, (status, code) = BODIES[n]
    sent = {key: named(team, str(value)) for key, value in body.items()}
    role = "look" if n == 0 else "approve"
    answer = team.served.ask("POST", named(team, path), sent, token=team.tokens[role])
    assert (answer.status, answer.json["code"]) == (status, code or "not-found"), answer


@pytest.mark.parametrize("path", READ)
def test_no_address_reads_what_is_anothers(team: Team, path: str):
    answer = read(team, path)
    assert answer.status in (403, 404), answer
    assert b"total" not in answer.body


def read(team: Team, path: str) -> Answer:
    return team.served.ask("GET", named(team, path), token=team.tokens["administer"])
