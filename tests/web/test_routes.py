"""The routes: the same use cases as the command line, over HTTP, with a real run behind them."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.web.served import Served, environment, make_shop, serving

DIFF = """\
--- a/cart.py
+++ b/cart.py
@@ -1 +1,2 @@
 \"\"\"A shopping cart.\"\"\"
+# A note.
"""
KEPT = """\
# VIBE-KEEP START rates
RATE = 2
# VIBE-KEEP END rates
"""
TOUCHING = """\
--- a/rates.py
+++ b/rates.py
@@ -1,3 +1,3 @@
 # VIBE-KEEP START rates
-RATE = 2
+RATE = 3
 # VIBE-KEEP END rates
"""
EVIL = '<img src=x onerror=alert(1)>"><script>alert(2)</script>'


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("board")


@pytest.fixture(scope="module")
def served(place: Path) -> Iterator[Served]:
    shop, _ = make_shop(place / "one")
    make_shop(place / "two")
    with serving(environment(place), shop) as found:
        yield found


def test_health_and_machine_and_templates_and_ledger_answer(served: Served):
    health = served.get("/api/health")
    assert health["ok"] is True
    assert health["here"] == served.get("/api/projects")[0]["name"]
    assert served.get("/api/machine")["machine"] == "card"
    assert "states" in served.get("/api/machine?format=xstate")
    assert served.ask("GET", "/api/machine?format=mermaid").body.startswith(b"stateDiagram")
    assert {"small_fix", "diagnose"} & {
        e["step_id"] for e in served.get("/api/templates")["built_in"]
    }
    assert served.get("/api/ledger") == []


def test_files_can_be_listed_read_in_part_and_searched(served: Served):
    assert served.get("/api/tree")["files"] == ["cart.py", "test_cart.py"]
    whole = served.get("/api/file?path=cart.py")
    assert whole["total"] == len(whole["lines"]) == 18
    assert served.get("/api/file?path=cart.py&head=2")["lines"] == whole["lines"][:2]
    tail = served.get("/api/file?path=cart.py&tail=3")
    assert (tail["lines"], tail["first"]) == (whole["lines"][-3:], 16)
    part = served.get("/api/file?path=cart.py&first=4&last=6")
    assert (part["lines"], part["first"]) == (whole["lines"][3:6], 4)
    assert served.ask("GET", "/api/file?path=cart.py&head=1&tail=1").status == 400
    found = served.get("/api/search?q=def+total")
    assert [(each["path"], each["line"]) for each in found["matches"]] == [("cart.py", 13)]
    assert served.ask("GET", "/api/search?q=(&regex=true").json["code"] == "tool"


def tag_of(served: Served, path: str) -> str:
    """The tag of an answer, which is not sent again to who has it."""
    first = served.ask("GET", path)
    tag = first.headers["etag"]
    again = served.ask("GET", path, headers={"If-None-Match": f'"other", W/{tag}'})
    assert (again.status, again.body, again.headers["etag"]) == (304, b"", tag), path
    return tag


def test_who_has_an_answer_is_not_sent_it_again_until_it_is_another(served: Served):
    paths = ("/api/runs", "/api/tree", "/api/file?path=cart.py", "/api/schema/openapi.json")
    assert len({tag_of(served, path) for path in paths}) == len(paths)
    note = served.board.projects.find("").repo / "note.txt"
    note.write_text("one")
    before = tag_of(served, "/api/file?path=note.txt")
    note.write_text("two")
    assert tag_of(served, "/api/file?path=note.txt") != before
    note.unlink()
    assert served.ask("GET", "/api/file?path=note.txt").headers.get("etag") is None


def test_the_schema_describes_every_route(served: Served):
    schema = served.get("/api/schema/openapi.json")
    wanted = """/api/patch/diff /api/runs /api/runs/{run} /api/runs/{run}/events /api/templates
        /api/runs/{run}/approve /api/runs/{run}/deny /api/runs/{run}/extend /api/runs/{run}/answer
        /api/runs/{run}/cancel /api/runs/{run}/resume /api/runs/{run}/merge /api/ledger /api/file
        /api/runs/{run}/cards/{card} /api/runs/{run}/cards/{card}/revert /api/machine /api/tree
        /api/runs/{run}/cards/{card}/apply /api/runs/{run}/cards/{card}/diff /api/search
        /api/health /api/events"""
    assert set(wanted.split()) <= set(schema["paths"])


def test_the_route_of_the_seed_previews_applies_and_refuses(served: Served):
    shop = served.board.projects.find("").repo
    before = (shop / "cart.py").read_bytes()
    preview = served.post("/api/patch/diff", {"diff": DIFF, "preview": True})
    assert preview["ok"] is True
    assert "snapshotId" not in preview
    assert (shop / "cart.py").read_bytes() == before
    done = served.post("/api/patch/diff", {"diff": DIFF})
    assert {"ok", "snapshotId", "changes", "diff", "warnings"} <= set(done)
    (change,) = done["changes"]
    assert {"path", "type", "diff", "appliedHunks", "skippedHunks"} <= set(change)
    assert b"# A note." in (shop / "cart.py").read_bytes()
    again = served.ask("POST", "/api/patch/diff", {"diff": DIFF.replace("shopping", "other")})
    assert (again.status, again.json["ok"]) == (422, False)
    (shop / "cart.py").write_bytes(before)


def test_keep_regions_hold_unless_they_are_let_go_of(served: Served):
    rates = served.board.projects.find("").repo / "rates.py"
    rates.write_text(KEPT)
    strict = served.ask("POST", "/api/patch/diff", {"diff": TOUCHING})
    assert strict.status == 422
    assert "rates" in str(strict.json)
    assert rates.read_text() == KEPT
    assert served.post("/api/patch/diff", {"diff": TOUCHING, "keepRegions": False})["ok"] is True
    rates.unlink()


@pytest.fixture(scope="module")
def finished(served: Served, place: Path) -> dict[str, Any]:
    """A run from its start over HTTP: checkpoint approved, early "done" rejected, proof taken."""
    body = {
        "request": f"The total is wrong {EVIL}",
        "intent": "small_fix",
        "driver": f"scripted:{place / 'one' / 'script.jsonl'}",
        "approve": True,
        "budget": 6,
    }
    run = served.post("/api/runs", body)["run"]
    asking = served.until(run, lambda told: bool(told["questions"]))
    assert asking["questions"][0]["kind"] == "checkpoint"
    assert asking["status"] == "paused"
    assert asking["stopped"].startswith("Accept the checkpoint?")
    served.post(f"/api/runs/{run}/approve", {"note": "go on"})
    told = served.until(run, lambda told: told["status"] == "success")
    assert served.ask("POST", f"/api/runs/{run}/approve", {}).status == 409
    assert served.ask("POST", f"/api/runs/{run}/resume", {}).status == 409
    assert served.ask("POST", f"/api/runs/{run}/extend", {"calls": 1, "why": "x"}).status == 409
    assert served.ask("POST", f"/api/runs/{run}/instruct", {"text": "more"}).status == 409
    return told


def test_a_run_begun_over_http_is_governed_and_proven(finished: dict[str, Any]):
    (card,) = finished["cards"]
    assert finished["budget"]["used"] <= 6
    assert [d["answer"] for d in card["decisions"]].count("deny") == 1
    assert card["verdict"]["mended"] == ["test_cart.py::CartTest::test_three_pens"]
    assert card["verdict_words"][0].startswith("red → green")
    assert (card["added"], card["removed"]) == (1, 1)
    assert finished["costs"]["calls"] == finished["budget"]["used"]


def test_its_diff_is_parsed_and_highlighted(served: Served, finished: dict[str, Any]):
    for each in ("", "/diff", "/cards/step-1/diff"):
        tag_of(served, f"/api/runs/{finished['run']}{each}")
    run = finished["run"]
    for path in (f"/api/runs/{run}/diff", f"/api/runs/{run}/cards/step-1/diff"):
        (file,) = served.get(path)["files"]
        rows = [row for hunk in file["hunks"] for row in hunk["rows"]]
        added = ["".join(text for _, text in row[3]) for row in rows if row[0] == "+"]
        assert (file["path"], added) == ("cart.py", ["            result += price * quantity"])
        assert any(kind == "k" for row in rows for kind, _ in row[3])


def test_the_board_can_be_seen_as_it_was(served: Served, finished: dict[str, Any]):
    run, last = finished["run"], finished["events"]
    early = served.get(f"/api/runs/{run}/at/3")
    assert early["cards"][0]["phase"] == "recon"
    assert early["files"] == []
    late = served.get(f"/api/runs/{run}/at/{last}")
    assert late["cards"][0]["status"] == "done"
    assert [file["path"] for file in late["files"]] == ["cart.py"]
    assert served.get(f"/api/runs/{run}/at/3/diff")["files"] == []
    assert served.ask("GET", f"/api/runs/{run}/at/{last + 1}").status == 400


def test_a_card_is_taken_back_and_put_again_and_merged(served: Served, finished: dict[str, Any]):
    run = finished["run"]
    path = f"/api/runs/{run}/cards/step-1"
    assert served.post(f"{path}/revert", {"preview": True})["losses"] == []
    assert served.post(f"{path}/revert", {})["step"] == "revert"
    assert served.get(path)["status"] == "reverted"
    summary = served.get(f"/api/runs/{run}")["summary"]
    assert (summary["tone"], summary["why"], summary["turned"]) == ("plain", "Reverted.", [])
    assert served.post(f"{path}/apply", {})["step"] == "apply"
    assert served.get(path)["status"] == "done"
    assert served.ask("POST", f"/api/runs/{run}/cards/nothing/revert", {}).status == 404
    assert len(served.post(f"/api/runs/{run}/merge", {})["commits"]) >= 1
    shop = served.board.projects.find("").repo
    assert "price * quantity" in (shop / "cart.py").read_text()
    # Once is enough: the run offers it no longer, and who asks all the same is answered clearly.
    told = served.get(f"/api/runs/{run}")
    assert told["is_merged"]
    assert not [step for step in told["next"] if "merge" in step["command"]]
    again = served.ask("POST", f"/api/runs/{run}/merge", {})
    assert (again.status, again.json["code"]) == (409, "already-merged")


def test_an_export_reads_back(served: Served, finished: dict[str, Any]):
    data = served.ask("GET", f"/api/runs/{finished['run']}/export.jsonl").body
    lines = data.splitlines()
    assert len(lines) == finished["events"] + 1
    assert json.loads(lines[0])["run"] == finished["run"]


def test_a_budget_is_extended_and_a_run_is_ended(served: Served, place: Path):
    body = {
        "request": "The total is wrong",
        "intent": "small_fix",
        "driver": f"scripted:{place / 'one' / 'script.jsonl'}",
        "budget": 1,
        "plan": False,
    }
    run = served.post("/api/runs", body)["run"]
    asking = served.until(run, lambda told: bool(told["questions"]))
    assert asking["questions"][0]["kind"] == "extension"
    assert served.ask("POST", f"/api/runs/{run}/extend", {"calls": 0, "why": "x"}).status == 400
    assert served.ask("POST", f"/api/runs/{run}/extend", {"calls": 2, "why": ""}).status == 400
    served.post(f"/api/runs/{run}/extend", {"calls": 1, "why": "it was close"})
    told = served.until(run, lambda told: bool(told["extensions"]))
    assert told["extensions"][0]["why"] == "it was close"
    assert told["budget"]["limit"] == 2
    run = served.post("/api/runs", {**body, "budget": 9, "approve": True})["run"]
    served.until(run, lambda told: bool(told["questions"]))
    served.post(f"/api/runs/{run}/cancel", {"why": "enough"})
    assert served.until(run, lambda told: told["status"] == "cancelled")["stopped"]


@pytest.mark.exhaustive
def test_words_reach_the_driver_of_a_run_that_is_under_way(served: Served):
    run = served.post("/api/runs", {"request": "The tests fail, fix it", "driver": "repair"})["run"]
    served.until(run, lambda told: bool(told["cards"]))
    served.post(f"/api/runs/{run}/instruct", {"text": "Look at the cart first."})
    events = [each["event"] for each in served.get(f"/api/runs/{run}/log")["events"]]
    assert "pause-asked" in events
    assert "answered" in events
    served.until(run, lambda told: told["status"] not in ("running", "paused"))
