"""Pictures of a page before and after, and those drawn from the table of moves."""

from __future__ import annotations

import json

from msgspec.structs import replace

from flyball.plan.library import LIBRARY
from flyball.record.diagram import as_json, as_mermaid, as_xstate, run_as_mermaid, state_value
from flyball.record.pictures import PagePictures, page_of, pictures_of
from flyball.run.event import name_of
from flyball.run.state import CardState
from flyball.run.table import ROWS, RUN_ROWS, STAY, row_for
from flyball.terms.evidence import ConsoleReport, HttpReport, PictureChange, VisualReport
from flyball.terms.phase import ENDINGS, Phase

PAGE = "http://127.0.0.1:8000/shop"


def console(n: int, tree: str, **more: object) -> ConsoleReport:
    found = {"url": PAGE, "picture": f"{n}.png", **more}
    return ConsoleReport(id=str(n), tree=tree, **found)  # type: ignore[arg-type]


def visual(n: int, tree: str, **more: object) -> VisualReport:
    found = {"url": PAGE, "picture": f"{n}.png", "expectation": "a hat", "ok": True, **more}
    return VisualReport(id=str(n), tree=tree, own=True, **found)  # type: ignore[arg-type]


def shown(*evidence: object, tree: str = "b") -> tuple[PagePictures, ...]:
    card = CardState(id="k", template=LIBRARY["fix"], title="t", base="a", tree=tree)
    return pictures_of(replace(card, evidence=evidence))


def test_one_tree_has_one_picture_and_what_has_none_is_left_out():
    probe = HttpReport(id="0", tree="a", url=PAGE, status=200)
    (page,) = shown(probe, console(1, "a", picture=""), console(2, "a"), tree="a")
    assert page.files == {"after": "2.png"} and not page.is_stale and not page.said


def test_before_after_and_what_differs():
    change = PictureChange("1.png", 0.25, "2-difference.png")
    (page,) = shown(console(1, "a"), console(2, "b", url=f"{PAGE}#top", change=change))
    assert page.files == {"before": "1.png", "after": "2.png", "difference": "2-difference.png"}
    assert page.share == 0.25 and not page.is_stale


def test_an_edit_after_the_picture_makes_it_stale():
    (page,) = shown(console(1, "a"), console(2, "b"), tree="c")
    assert page.is_stale and page.before == "1.png" and not page.difference


def test_a_page_that_nobody_saw_after_the_change_has_only_a_picture_from_before():
    (page,) = shown(console(1, "a"), visual(2, "a"), tree="c")
    assert page.files == {"before": "2.png"} and page.is_stale and not page.said


def test_a_later_picture_in_another_size_does_not_hide_the_comparison():
    change = PictureChange("1.png", 0.25, "d.png")
    (page,) = shown(console(1, "a"), console(2, "b", change=change), visual(3, "b"))
    assert page.after == "2.png" and page.difference == "d.png"


def test_every_page_has_its_own():
    other = console(3, "b", url="http://127.0.0.1:8001/other")
    assert [page.url for page in shown(console(1, "a"), other)] == [PAGE, other.url]


def test_what_was_said_of_the_last_picture():
    (page,) = shown(visual(1, "b"))
    assert page.said == "a hat: nothing is plainly wrong (not judged by a model)"
    (page,) = shown(visual(1, "b", judged_by="m"))
    assert page.said == "a hat: as expected (judged by m)"
    (page,) = shown(visual(1, "b", judged_by="m", ok=False, note="a shoe"))
    assert page.said == "a hat: a shoe (judged by m)"


def test_a_page_without_its_host():
    assert page_of(PAGE) == page_of("http://localhost:1/shop#top") == "/shop"
    assert page_of("http://localhost:1") == "/"


def test_json_has_every_phase_and_row():
    drawn = json.loads(json.dumps(as_json()))
    assert [each["phase"] for each in drawn["phases"]] == [phase.value for phase in Phase]
    assert len(drawn["rows"]) == len(ROWS)
    assert {each["phase"] for each in drawn["phases"] if each["final"]} == set(ENDINGS)


def test_the_run_is_drawn_from_its_rows_too():
    drawn = as_json()["run"]
    assert [each["event"] for each in drawn["rows"]] == [name_of(row.event) for row in RUN_ROWS]
    assert {each["event"] for each in drawn["rows"] if each["cards"]} == {
        "answered", "extended", "pause-asked", "resumed", "cancelled",
    }  # fmt: skip
    picture = run_as_mermaid()
    assert "    opening --> working: workspace-ready\n" in picture
    assert "    working --> ended: messaged, cancelled\n" in picture
    assert picture.endswith("    ended --> [*]\n")


def test_mermaid_names_every_move_that_leads_elsewhere():
    drawn = as_mermaid()
    assert drawn.startswith("stateDiagram-v2\n")
    for row in ROWS:
        for target in row.targets:
            if target not in (STAY, "history"):
                source, name = row.region.rpartition(".")[2], target.rpartition(".")[2]
                line = next(
                    x for x in drawn.split("\n") if x.strip().startswith(f"{source} --> {name}:")
                )
                assert name_of(row.event) in line


def test_xstate_has_a_node_for_every_phase_and_ends_are_final():
    config = as_xstate()
    for phase in Phase:
        node, value = config, state_value(phase)
        while value:
            name = value if isinstance(value, str) else next(iter(value))
            node = node["states"][name]
            value = "" if isinstance(value, str) else value[name]
        assert (node.get("type") == "final") == (phase in ENDINGS)
    assert config["states"]["live"]["states"]["history"] == {"type": "history", "history": "deep"}


def test_inner_rows_win_over_outer_ones():
    for phase in Phase:
        for row in ROWS:
            ruling = row_for(phase, row.event)
            if ruling is not None:
                assert phase.is_in(ruling.region)
    assert row_for(Phase.SUCCEEDED, ROWS[0].event) is None
