"""Flyball looks for the gates itself: real files, real commands, in a real workspace."""

from __future__ import annotations

import http.server
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace
from tests.repos import put
from tests.unit.engine.shop import MENDED, SECRET, SHOWN, Shop, open_shop
from tests.unit.journal.runs import story

from flyball.engine.look.gate_looks import LOOKS, Gathered, covered
from flyball.errors import ToolUnavailable
from flyball.plan.gate import GATES, judge
from flyball.plan.template import GateUse
from flyball.plan.verdict import Failed, Missing, Passed
from flyball.run.policy import Policy, Project
from flyball.terms.evidence import GateReport
from flyball.workspace.process.process import CommandLimits, Finished


@pytest.fixture
def shop(tmp_path: Path) -> Iterator[Shop]:
    with open_shop(tmp_path) as opened:
        yield opened


def test_every_gate_that_looks_is_looked_for():
    assert set(LOOKS) == {name for name, gate in GATES.items() if gate.looks}


def names(seen: Gathered) -> list[str]:
    return [type(item).__name__ for item in seen.evidence]


@story
async def test_a_change_is_answered_with_a_verdict_that_its_gates_ask(shop: Shop):
    shop.change({"cart.py": MENDED, "test_cart.py": SHOWN})
    seen = await shop.looks()
    assert names(seen) == ["VerdictReport", "DiffReport"]
    for name in ("tests_pass", "new_test_fails_before", "tests_not_weakened"):
        told = judge(GateUse(name), shop.case(seen.evidence))
        assert isinstance(told, Passed), told


@story
async def test_without_a_change_the_suite_is_run_where_a_gate_asks_for_it(shop: Shop):
    seen = await shop.looks(GateUse("tests_pass"), GateUse("new_test_fails_before"))
    assert names(seen) == ["SuiteReport", "WeakeningReport", "DiffReport"]
    assert isinstance(judge(GateUse("tests_pass"), shop.case(seen.evidence)), Passed)


@pytest.mark.slow
@story
async def test_a_test_that_the_change_leaves_red_fails_its_gates(shop: Shop):
    shop.change({"test_cart.py": SHOWN})
    seen = await shop.looks()
    case = shop.case(seen.evidence)
    verdicts = [judge(GateUse(name), case) for name in ("tests_pass", "new_test_fails_before")]
    assert [type(told) for told in verdicts] == [Failed, Failed]
    assert "test_two fails" in verdicts[0].sentence


@pytest.mark.parametrize(
    ("command", "kind", "sentence"),
    [
        ("python -m unittest -q", Passed, "succeeded"),
        ("grep -q nothing README.md", Failed, "exit code 1"),
        ("true", Failed, "proves nothing"),
        ("python -m unittest -k nowhere -q", Failed, "proves nothing"),
        ("git push", Failed, "is not run"),
        ("echo 'unclosed", Failed, "is not run"),
    ],
)
@story
async def test_a_command_is_judged_and_run(shop: Shop, command: str, kind: type, sentence: str):
    verdict = await shop.verdict("command_succeeds", command=command)
    assert isinstance(verdict, kind), verdict
    assert sentence in verdict.sentence


@story
async def test_a_command_without_end_is_trouble_with_a_tool(shop: Shop):
    context = shop.context
    context.settings = replace(context.settings, suite_limits=CommandLimits(seconds=0.5))
    shop.change({"wait.py": "while True:\n    pass\n"})
    verdict = await shop.verdict("command_succeeds", command="python wait.py")
    assert verdict == Failed(
        "`python wait.py` was ended because it took too long.", is_trouble=True
    )


@story
async def test_what_a_gate_changes_is_undone_and_named(shop: Shop):
    use = GateUse("command_succeeds", {"command": "sh -c 'echo x >> README.md; echo y > new.txt'"})
    seen = await shop.looks(use)
    assert sorted(seen.undone) == ["README.md", "new.txt"]
    assert (shop.root / "README.md").read_text() == "A cart.\n"
    assert not (shop.root / "new.txt").exists()
    assert shop.context.workspace.tree_hash() == shop.card.tree


@story
async def test_after_a_crash_the_gates_begin_from_the_tree_they_found(shop: Shop):
    shop.context.workspace.snapshot(shop.key)
    put(shop.root, {"README.md": "half a gate\n"})
    verdict = await shop.verdict("file_contains", path="README.md", text="A cart")
    assert isinstance(verdict, Passed)
    assert shop.context.workspace.tree_hash() == shop.card.tree


@story
async def test_without_a_sandbox_a_command_is_run_only_where_that_is_settled(shop: Shop):
    shop.run = replace(shop.run, project=Project(sandbox="none"))
    use = GateUse("command_succeeds", {"command": "grep -q cart README.md"})
    case = shop.case((await shop.looks(use)).evidence)
    assert judge(use, case) == Missing(
        "No sandbox is available on this machine, so a gate's command is not run.", is_trouble=True
    )
    shop.run = replace(shop.run, policy=Policy(bash_without_sandbox=True))
    assert isinstance(await shop.verdict(use.type, **use.parameters), Passed)


@pytest.mark.slow
@story
async def test_checks_are_the_projects_own_or_the_named_one(shop: Shop):
    assert isinstance(await shop.verdict("build_passes"), Missing)
    missing = await shop.verdict("types_clean")
    assert isinstance(missing, Missing)
    assert "has no check 'types'" in missing.sentence
    assert isinstance(await shop.verdict("build_passes", command="compileall"), Missing)
    good = await shop.verdict("lint_clean", command="grep -q cart README.md")
    assert good == Passed("`grep -q cart README.md` is clean.")
    shop.key = "r1/2"
    bad = await shop.verdict("build_passes", command="cat nowhere.txt")
    assert isinstance(bad, Failed)
    assert "reports 1 problems, first cat: nowhere.txt" in bad.sentence
    shop.change({"pyproject.toml": "[tool.mypy]\n", "Makefile": "build:\n\t@true\n"})
    shop.key = "r1/3"
    assert isinstance(await shop.verdict("build_passes"), Passed)


@pytest.mark.parametrize(
    ("type", "parameters", "kind"),
    [
        ("file_exists", {"path": "README.md"}, Passed),
        ("file_exists", {"path": "nowhere.md"}, Failed),
        ("file_exists", {"path": "../outside"}, Failed),
        ("file_contains", {"path": "README.md", "text": "A cart"}, Passed),
        ("file_contains", {"path": "README.md", "text": "A horse"}, Failed),
        ("file_contains", {"path": "nowhere.md", "text": "A horse"}, Failed),
        ("file_contains", {"path": ".", "text": "A horse"}, Failed),
        ("console_clean", {}, Missing),
        ("visual_ok", {"url": "/"}, Missing),
    ],
)
@story
async def test_files_and_pages(shop: Shop, type: str, parameters: dict[str, Any], kind: type):
    verdict = await shop.verdict(type, **parameters)
    assert isinstance(verdict, kind), verdict


@pytest.fixture
def served(tmp_path: Path) -> Iterator[str]:
    class Quiet(http.server.SimpleHTTPRequestHandler):
        def __init__(self, *args: Any) -> None:
            super().__init__(*args, directory=str(tmp_path))

        def log_message(self, format: str, *args: object) -> None:
            """Nothing is printed."""

    (tmp_path / "health").write_text("ok")
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Quiet)
    thread = threading.Thread(target=server.serve_forever, args=(0.05,))
    thread.start()
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()
    thread.join()
    server.server_close()


@story
async def test_only_what_the_project_serves_is_asked(shop: Shop, served: str):
    stranger = await shop.verdict("http_ok", url=f"{served}/health")
    assert isinstance(stranger, Missing), "somebody else's server shows nothing"
    nobody = await shop.verdict("http_ok", url="/health")
    assert isinstance(nobody, Missing)
    assert "says how it is served" in nobody.sentence
    far = await shop.verdict("http_ok", url="http://example.org/")
    assert isinstance(far, Failed)
    assert "only this machine may be asked" in far.sentence


@story
async def test_reason_without_a_look_is_redacted(shop: Shop):
    use = GateUse("file_exists", {"path": f"../{SECRET}"})
    report = (await shop.looks(use)).evidence[0]
    assert isinstance(report, GateReport)
    assert report.refused
    assert SECRET not in report.why


def table(text: str) -> Finished:
    return Finished(
        exit_code=0, signal=None, timed_out=False, output=text, cut_bytes=0, bytes=0, elapsed=0.1,
        log=None, over_limit="",
    )  # fmt: skip


@pytest.mark.parametrize(
    ("row", "percent"),
    [
        ("TOTAL     8      1    88%", 87.5),
        ("TOTAL     8      1    4    1    83%", 83.0),
        ("TOTAL     8      1    87.51%", 87.51),
        ("TOTAL     0      0    100%", 100.0),
    ],
)
def test_a_table_of_coverage_is_read(row: str, percent: float):
    assert covered(table(f"x.py 1 2 3%\n{row}\n")) == percent


def test_without_a_table_no_coverage_was_measured():
    with pytest.raises(ToolUnavailable, match="pytest-cov"):
        covered(table("no such option"))


@story
async def test_coverage_is_measured_on_both_trees(shop: Shop):
    pytest.importorskip("pytest_cov")
    shop.change({"cart.py": MENDED + "\n\ndef unused():\n    return 1\n"})
    verdict = await shop.verdict("coverage_not_dropped")
    assert isinstance(verdict, Failed | Missing), verdict
