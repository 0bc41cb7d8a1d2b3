"""What people of a team do over HTTP: what their role grants happens, and names who did it."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

import pytest
from tests.postgres import database, postgres
from tests.web.served import Client, Served, environment, make_shop, serving

from flyball.app.people.person import EVERY, People, add_person, grant, revoke
from flyball.app.people.team import open_people, scope_of
from flyball.app.project import open_home

__all__ = ["database", "postgres"]

DIFF = """\
--- a/cart.py
+++ b/cart.py
@@ -1 +1,2 @@
 \"\"\"A shopping cart.\"\"\"
+# A note.
"""
FIX = "The test fails, fix it"
PEOPLE = {"lou": "look", "dora": "drive", "abe": "approve", "ann": "administer"}


class Office(NamedTuple):
    """A board of a team, and everybody who asks it with a token of their own."""

    served: Served
    shop: Path
    environ: dict[str, str]
    people: People
    clients: dict[str, Client]

    def begin_scripted(self, **more: bool | int) -> str:
        """A run of the shop's script, which only who administers may name, when it asks."""
        script = f"scripted:{self.shop.parent / 'script.jsonl'}"
        ann = self.clients["ann"]
        run = ann.post("/api/runs", {"request": FIX, "driver": script, "plan": False, **more})[
            "run"
        ]
        ann.until(run, lambda told: bool(told["questions"]))
        return run

    def decided(self, run: str) -> list[tuple[str, str]]:
        """Who decided what, as somebody is told who may only look."""
        told = self.clients["lou"].get(f"/api/runs/{run}")["decided"]
        return [(each["by"], each["what"]) for each in told]

    def told_in_a_terminal(self, run: str) -> str:
        program = "from flyball.cli import main; main()"
        argv = [sys.executable, "-c", program, "runs", "show", run, "--repo", str(self.shop)]
        done = subprocess.run(argv, env=self.environ, capture_output=True, text=True, check=True)
        return done.stdout


@contextmanager
def office(place: Path, url: str = "", origin: str = "") -> Generator[Office]:
    """A board over one shop, its people there or in the database."""
    shop, _ = make_shop(place)
    if origin:
        subprocess.run(["git", "remote", "add", "origin", origin], cwd=shop, check=True)
    environ = {**environment(place), "FLYBALL_DATABASE": url}
    home = open_home(shop, environ, {})
    people = open_people(home)
    known = {each.name for each in people.all()}
    try:
        with serving(environ, shop, beat=0.2) as served:
            clients = {
                name: Client(served.port, add_person(people, name, {scope_of(home): role}, "x", 1))
                for name, role in PEOPLE.items()
                if name not in known
            }
            yield Office(served, shop, environ, people, clients)
    finally:
        people.close()


def test_an_approval_over_http_is_in_the_log_with_the_name_of_who_gave_it(tmp_path: Path):
    with office(tmp_path) as team:
        run = team.begin_scripted(approve=True)
        for name in ("lou", "dora"):
            refused = team.clients[name].ask("POST", f"/api/runs/{run}/approve", {})
            assert (refused.status, refused.json["code"]) == (403, "not-allowed")
        team.clients["abe"].post(f"/api/runs/{run}/approve", {"note": "go on"})
        assert team.decided(run) == [("ann", "started it"), ("abe", "said yes")]
        log = team.clients["lou"].ask("GET", f"/api/runs/{run}/export.jsonl").body
        (answered,) = [line for line in log.splitlines() if b'"answered"' in line]
        assert json.loads(answered)["event"]["by"] == "abe"
        team.clients["dora"].post(f"/api/runs/{run}/cancel", {"why": "seen enough"})
        assert "abe said yes: go on" in team.told_in_a_terminal(run)


@pytest.mark.exhaustive
@pytest.mark.parametrize("name", ["dora", "abe", "ann"])
def test_who_may_drive_drives_and_each_action_is_theirs(tmp_path: Path, name: str):
    with office(tmp_path) as team:
        who = team.clients[name]
        run = who.post("/api/runs", {"request": FIX, "driver": "repair"})["run"]
        actions = [(name, "started it")]
        for word, body, said in (
            ("instruct", {"text": "Look at the cart first."}, "said yes"),
            ("resume", {}, "let it go on"),
        ):
            who.post(f"/api/runs/{run}/pause", {})
            who.until(run, lambda told: told["status"] == "paused")
            who.post(f"/api/runs/{run}/{word}", body)
            actions += [(name, "asked for a pause"), (name, said)]
        who.post(f"/api/runs/{run}/cancel", {"why": "enough"})
        who.until(run, lambda told: told["status"] == "cancelled")
        assert team.decided(run) == [*actions, (name, "cancelled it")]


@pytest.mark.exhaustive
@pytest.mark.parametrize(("name", "kept_in"), [("ann", "file"), ("abe", "database")])
def test_who_may_approve_decides_and_each_decision_is_theirs(
    tmp_path: Path, name: str, kept_in: str, request: pytest.FixtureRequest
):
    url = request.getfixturevalue("database") if kept_in == "database" else ""
    with office(tmp_path, url) as team:
        who = team.clients[name]
        for word, body, said, asked in (
            ("deny", {"why": "not so"}, "said no", {"approve": True}),
            ("answer", {"text": "mind the pens"}, "said no", {"approve": True}),
            ("extend", {"calls": 9, "why": "nearly"}, "added 9 calls", {"budget": 1}),
        ):
            run = team.begin_scripted(**asked)
            who.post(f"/api/runs/{run}/{word}", body)
            assert team.decided(run) == [("ann", "started it"), (name, said)]
        run = team.begin_scripted(approve=True)
        who.post(f"/api/runs/{run}/approve", {})
        who.until(run, lambda told: told["status"] == "success")
        (card,) = who.get(f"/api/runs/{run}")["cards"]
        for word in ("revert", "apply"):
            who.post(f"/api/runs/{run}/cards/{card['id']}/{word}", {})
        assert who.post(f"/api/runs/{run}/merge", {})["commits"]
        assert team.decided(run) == [
            ("ann", "started it"),
            (name, "said yes"),
            (name, f"took back {card['id']}"),
            (name, f"put again {card['id']}"),
            (name, "merged it"),
        ]
        assert who.post("/api/patch/diff", {"diff": DIFF, "preview": True})["ok"] is True
        assert not list(tmp_path.glob("state/**/decisions.jsonl")) or not url
        assert not list(tmp_path.glob("state/**/people.json")) or not url


@pytest.mark.exhaustive
def test_every_board_of_a_database_knows_the_same_people(tmp_path: Path, database: str):
    """Two machines, two clones of one project, and one that is only on the second."""
    origin, other = "https://git.example.org/shop.git", "https://git.example.org/other.git"
    with office(tmp_path / "a", database, origin) as here:
        run = here.begin_scripted(approve=True)
        abe = here.clients["abe"]
        with office(tmp_path / "b", database, origin) as there:
            again = abe._replace(port=there.served.port)
            assert [row["run"] for row in again.get("/api/runs")] == [run]
            again.post(f"/api/runs/{run}/cancel", {"why": "not so"})
            assert here.decided(run) == [("ann", "started it"), ("abe", "cancelled it")]
            grant(there.people, "abe", origin, "look")
            assert abe.ask("POST", f"/api/runs/{run}/approve", {}).status == 403
            revoke(here.people, "abe")
            assert again.ask("GET", "/api/runs").status == 401
        with office(tmp_path / "c", database, other) as elsewhere:
            dora = here.clients["dora"]._replace(port=elsewhere.served.port)
            assert dora.get("/api/projects") == []
            assert dora.ask("GET", f"/api/runs/{run}").status == 404
            grant(here.people, "dora", EVERY, "look")
            assert len(dora.get("/api/projects")) == 1
